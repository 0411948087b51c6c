"""One reference page per method, from its declaration: sentence, use, formula, settings, example, figures."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from examples import EXAMPLES
from measured import Guides, as_markdown

import topkit as tk
from topkit.cli.catalogue import ENTRIES, SETTING_COLUMNS, Entry, setting_rows
from topkit.reporting.tables import Table

DOCS = Path(__file__).parent


@dataclass(frozen=True)
class Kind:
    """A registry and where its pages go."""

    what: str
    """Its name in ``topkit.cli.catalogue.ENTRIES``."""
    folder: str
    title: str
    guide: str
    """The page that explains the methods together."""
    command: str


KINDS = (
    Kind("ranker", "rankers", "Rankers", "rankers.md", "topkit rankers"),
    Kind("loss", "losses", "Losses", "losses.md", "topkit losses"),
    Kind("measure", "measures", "Measures", "metrics.md", "topkit measures"),
    Kind("strategy", "strategies", "Labelling strategies", "labelling.md", "topkit strategies"),
    Kind("fusion method", "aggregators", "Fusion methods", "fusion.md", "topkit aggregators"),
    Kind("click model", "click-models", "Click models", "clicks.md", "topkit clicks models"),
)


@cache
def guides() -> Guides:
    """The measured tables of the guides."""
    return Guides(DOCS)


def method_pages(kind: Kind) -> dict[str, str]:
    """The overview of a registry, and the page of each of its methods."""
    entries = ENTRIES[kind.what]()
    pages = {f"{kind.folder}/{name}": method_page(kind, name, entry) for name, entry in entries.items()}
    rows = [(f"[`{name}`]({name}.md)", entry.sentence, entry.use) for name, entry in entries.items()]
    listing = Table((kind.what, "description", "when to use it"), rows, align="lll").markdown()
    names = "\n".join(entries)
    pages[f"{kind.folder}/index"] = (
        f"# {kind.title}\n\n`{kind.command}` prints this list, `{kind.command} NAME` one entry. "
        f"[The guide](../../{kind.guide}) explains them together.\n\n{listing}\n\n"
        f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )
    return pages


def method_page(kind: Kind, name: str, entry: Entry) -> str:
    """The page of one method."""
    parts = [f"# {name}", as_prose(capitalised(entry.sentence))]
    parts += [f"**When to use it.** {entry.use}"] if entry.use else []
    parts += ["\n".join(f"- {capitalised(remark)}" for remark in entry.remarks)] if entry.remarks else []
    parts += definition(kind, name, entry)
    parts += ["## Settings", settings_table(entry)]
    example = EXAMPLES[kind.what](name, dict(entry.settings))
    parts += ["## Example", f"```python\n{example}\n```"]
    if kind.what == "measure":
        parts += value_table(name)
    figures = [demo_figures(kind, name), as_markdown(guides().of(name))]
    if any(figures):
        parts += ["## Measured", *filter(None, figures)]
    parts.append(f"See also: [all {kind.title.lower()}](index.md), [the guide](../../{kind.guide}).")
    return "\n\n".join(parts) + "\n"


def capitalised(text: str) -> str:
    """A sentence with a capital at its start and a full stop at its end."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", ":", "!", "?")) else ".")


def definition(kind: Kind, name: str, entry: Entry) -> list[str]:
    """The formula and its conventions, from the docstring; a ranker on a loss refers to the loss."""
    loss = getattr(tk.RANKERS[name], "default_loss", None) if kind.what == "ranker" else None
    if loss is not None:
        scorer = tk.RANKERS[name].default_scorer  # type: ignore[attr-defined]
        return [
            "## Definition",
            f"Minimises the loss [`{loss}`](../losses/{loss}.md) over the scores of a scorer, by default "
            f'`scorer="{scorer}"`. Scorers are explained in [the guide](../../rankers.md#scorers).',
        ]
    paragraphs = entry.text.split("\n\n")
    repeated = " ".join(paragraphs[0].split()) == entry.sentence
    prose = as_prose("\n\n".join(paragraphs[1:] if repeated else paragraphs))
    return ["## Definition", prose] if prose else []


def as_prose(docstring: str) -> str:
    """A docstring as Markdown: its code marks become Markdown's, and formulas keep their characters.

    >>> as_prose("With ``k`` None, s_i * s_j; see :func:`topkit.losses.loss`.")
    'With `k` None, s\\\\_i \\\\* s\\\\_j; see `loss`.'
    """
    text = re.sub(r":\w+:`(?:[\w.~]*\.)?([\w-]+)`", r"`\1`", docstring).replace("``", "`")
    parts = re.split(r"(`[^`]*`)", text)  # odd parts are code
    escaped = [part if i % 2 else re.sub(r"([*_\[\]<>$|])", r"\\\1", part) for i, part in enumerate(parts)]
    return "".join(escaped)


def docstring_markdown(docstring: str) -> str:
    """A whole docstring as Markdown: paragraphs and lists as prose, examples as code.

    >>> docstring_markdown("Twice x.\\n\\n>>> double(2)\\n4")
    'Twice x.\\n\\n```pycon\\n>>> double(2)\\n4\\n```'
    """
    return "\n\n".join(
        f"```pycon\n{part}\n```" if part.startswith(">>>") else as_prose(part)
        for part in docstring.split("\n\n")
    )


def settings_table(entry: Entry) -> str:
    """The settings of a method: name, default, allowed values and meaning."""
    if not entry.settings:
        return "No settings."
    rows = [
        (f"`{name}`", f"`{default}`" if default else "required", *rest)
        for name, default, *rest in setting_rows(entry)
    ]
    return Table(SETTING_COLUMNS, rows, align="l" * len(SETTING_COLUMNS)).markdown()


def value_table(name: str) -> list[str]:
    """The value of a small list under each convention, computed when the page is written."""
    measure = tk.METRICS[name]
    if measure.needs in ("preferences", "clicks"):
        return []
    metric = f"{name}@3" if measure.depth == "optional" else name
    truth = "top-3" if measure.needs in ("top-k", "order") else "graded"
    labels = [0, 3, 1, 0, 2, 0]
    data = tk.Dataset.build(np.zeros((6, 1)), labels, ["q"] * 6, doc_ids=list("abcdef"), truth=truth)
    scores = [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    values = {
        convention: tk.evaluate(data, scores, metric, convention=convention).mean[metric]
        for convention in tk.CONVENTIONS
    }
    rows = [[f"`{convention}`" for convention in values], [f"{value:.4f}" for value in values.values()]]
    table = Table(rows[0], [rows[1]], align="r" * len(values)).markdown()
    return [
        "## A worked value",
        f"`{metric}` of the list whose documents have, from the first rank down, the labels "
        f"{', '.join(map(str, labels))}, under each [convention](../conventions.md):",
        table,
    ]


def demo_figures(kind: Kind, name: str) -> str:
    """The row of a method in ``docs/figures``: its quality on the data that comes with topkit."""
    row = _figure_rows(kind.folder).get(name)
    if row is None:
        return ""
    heads = [head for head in row if head != "name"]
    table = Table(heads, [[row[head] for head in heads]], align="r" * len(heads)).markdown()
    return (
        "On the data of `topkit demo`, five folds, 120 queries "
        f"(`python -m bench.methods {kind.folder}`):\n\n"
        f"{table}"
    )


@cache
def _figure_rows(folder: str) -> Mapping[str, Mapping[str, str]]:
    path = DOCS / "figures" / f"{folder}.csv"
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as stream:
        return {row["name"]: row for row in csv.DictReader(stream)}
