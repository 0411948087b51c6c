"""A commented TOML file for each kind of study, written from the kind itself so that it cannot lag."""

from __future__ import annotations

import json
from typing import Any

from topkit.data import InputError
from topkit.studies.kind import Kind

DATA = """
# A data set. {data} is the folder named by TOPKIT_DATA, else ../shared/data; other paths start at this file.
[[data]]
name = "demo"
files = "demo"                # the embedded data; or "data.parquet"; or "{data}/MQ2008/Fold{fold}/{part}.txt"
folds = [1, 2, 3, 4, 5]
labels = "graded"             # what the labels in the files mean: graded, order or top-10
truth = "labels"              # what is learnt from: labels, top-10, teacher (a full order) or teacher-10
convention = "yahoo"          # of the measures: yahoo, ranklib, trec, letor3, letor4, mslr
"""

RANKERS = """
# A ranker is a name, or a table: { ranker = "ranksvm", name = "as shown", set = { pairs = "topk" } }.
# try = { beta = [0.1, 0.5] } fits every value and keeps the best on validation data;
# trials = 20 draws 20 settings from the ranker's own search space.
"""


def template(name: str) -> str:
    """The file for a kind; it can be run as it is."""
    from topkit.studies.kinds import KINDS

    if name not in KINDS:
        raise InputError(f"unknown kind of study {name!r}", f"choose from {', '.join(KINDS)}")
    kind = KINDS[name]
    lines = [
        f"# {name}: {kind.summary}.",
        "# Run it with: topkit study run THIS-FILE",
        f"kind = {toml(name)}",
    ]
    lines += [f"title = {toml(kind.summary[0].upper() + kind.summary[1:])}"]
    if kind.rankers:
        lines += [RANKERS.rstrip(), f"rankers = {toml(list(kind.rankers))}"]
    if kind.metrics:
        lines += [
            "",
            "# The first measure is the headline, and settings are chosen by it unless choose names another.",
        ]
        lines += [f"metrics = {toml(list(kind.metrics))}"]
    lines += ["seeds = [0]"]
    if kind.learns:
        lines.append(DATA.rstrip().replace('truth = "labels"  ', f"truth = {toml(kind.truth):<10}"))
    if kind.settings:
        lines += ["", "[settings]", *_settings(kind)]
    return "\n".join(lines) + "\n"


def _settings(kind: Kind) -> list[str]:
    found = []
    for name, setting in kind.settings.items():
        line = f"{name} = {toml(setting.default)}"
        found.append(f"{line:<29} # {setting.comment}")
    return found


def toml(value: Any) -> str:
    """A value as TOML: words, numbers, truth values and lists of them look as in JSON."""
    return json.dumps(value, ensure_ascii=False)
