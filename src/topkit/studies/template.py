"""A commented TOML file for each kind of study, written from the kind's declared settings."""

from __future__ import annotations

import json
from typing import Any

from topkit.data.settings import lookup, settings_of
from topkit.studies.kind import Kind
from topkit.studies.kinds import KINDS

DATA = """
# A data set. {data} is the folder TOPKIT_DATA, else ../shared/data; other paths are relative to this file.
[[data]]
name = "demo"
files = "demo"                # the embedded data; or "data.parquet"; or "{data}/MQ2008/Fold{fold}/{part}.txt"
folds = [1, 2, 3, 4, 5]
labels = "graded"             # what the labels in the files mean: graded, order or top-10
truth = "labels"              # what rankers learn from: labels; order, top-10 (random within a grade);
                              # teacher, teacher-10 (by a teacher within a grade)
convention = "yahoo"          # of the measures: yahoo, ranklib, trec, letor3, letor4, mslr
"""

RANKERS = """
# A ranker is a name, or a table: { ranker = "ranksvm", name = "as shown", set = { pairs = "topk" } }.
# try = { beta = [0.1, 0.5] } fits every value and keeps the best on validation data;
# trials = 20 draws 20 settings from the ranker's own search space.
"""

METRICS = """
# The first measure is the headline. Settings are chosen by it unless choose names another measure.
# "ndcg@1..10" means ten measures.
"""


def template(name: str) -> str:
    """The file of a kind; it can be run without changes."""
    kind = lookup(KINDS, name, "kind of study")
    lines = [
        f"# {name}: {kind.summary}.",
        "# Run it with: topkit study run THIS-FILE",
        f"kind = {toml(name)}",
        f"title = {toml(kind.summary[0].upper() + kind.summary[1:])}",
    ]
    if kind.rankers:
        lines += [RANKERS.rstrip(), f"rankers = {toml(kind.rankers)}"]
    if kind.metrics:
        lines += [METRICS.rstrip(), f"metrics = {toml(kind.metrics)}"]
    lines += ["seeds = [0]"]
    if kind.learns:
        lines.append(DATA.rstrip().replace('truth = "labels"  ', f"truth = {toml(kind.truth):<10}"))
    settings = _settings(kind)
    if settings:
        lines += ["", "[settings]", *settings]
    return "\n".join(lines) + "\n"


def _settings(kind: Kind[Any, Any]) -> list[str]:
    lines = []
    for name, setting in settings_of(kind.code.settings).items():
        assignment = f"{name} = {toml(setting.default)}"
        choices = f" Allowed: {', '.join(setting.choices)}." if setting.choices else ""
        lines.append(f"{assignment:<29} # {setting.meaning}{choices}")
    return lines


def toml(value: Any) -> str:
    """A value as TOML: strings, numbers, booleans and lists of them look as in JSON."""
    return json.dumps(value, ensure_ascii=False)
