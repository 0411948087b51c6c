"""Finds the figures of a method in the tables of the guides, so that its reference page shows them too.

A figure is written once, in a guide, next to the command that prints it. A table belongs to a method if a row
or a column is headed by the method's name: ``SVM-MAP`` and ``svmmap, k = 10`` both mean ``svmmap``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

COMMAND = re.compile(r"`((?:[A-Z_]+=\d+ )*(?:python -m (?:bench|tools)\S*|topkit study run \S+)[^`]*)`")
BOLD = re.compile(r"\*\*(.+?)\*\*")
"""The words in bold at the start of a paragraph say what the table below it shows."""
NOTE = re.compile(r"([A-Z][\w ]+)[,:] .*(?:folds|convention|mean of)")
"""The note below a table of a study begins with the data set."""


@dataclass(frozen=True)
class Figures:
    """The part of a guide's table that concerns one method."""

    page: str
    section: str
    command: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    @property
    def anchor(self) -> str:
        """The anchor of the section in its page."""
        return re.sub(r"[^\w\- ]", "", self.section.lower()).replace(" ", "-")


def key_of(cell: str) -> str:
    """The method that a cell names: letters and digits before the first comma, bracket or plus sign.

    >>> key_of("**SVM-MAP**, C chosen"), key_of("`topk-listmle` (depth 10)")
    ('svmmap', 'topklistmle')
    """
    return re.sub(r"[^a-z0-9]", "", re.split(r"[,(+]|\. ", cell.lower())[0])


class Guides:
    """All measured tables of the guides."""

    def __init__(self, folder: Path) -> None:
        self._tables = [table for page in sorted(folder.glob("*.md")) for table in _tables(page)]

    def of(self, name: str) -> list[Figures]:
        """The figures of a method, in the order of pages."""
        key = key_of(name)
        found = []
        for table in self._tables:
            rows = tuple(row for row in table.rows if key_of(row[0]) == key)
            column = next((i for i, head in enumerate(table.heads) if i and key_of(head) == key), None)
            if rows:
                found.append(replace(table, rows=rows))
            elif column is not None:
                heads = (table.heads[0], table.heads[column])
                pairs = tuple((row[0], row[column]) for row in table.rows)
                found.append(replace(table, heads=heads, rows=pairs))
        return found


def _tables(path: Path) -> Iterator[Figures]:
    """The tables of a page that have a command in the text between their heading and them."""
    section, command, caption = "", "", ""
    block: list[str] = []
    lines = [*path.read_text(encoding="utf-8").splitlines(), "", ""]
    for number, line in enumerate(lines):
        if line.startswith("|"):
            block.append(line)
            continue
        if block:
            heads, *rows = [_cells(row) for row in block if not re.fullmatch(r"[|\s:-]+", row)]
            measured = any(re.search(r"\d\.?\d", cell) for row in rows for cell in row[1:])
            if command and measured and rows:
                below = NOTE.match(lines[number + 1])
                about = below[1] if below else caption
                yield Figures(path.name, section, command, heads, tuple(rows), about)
            block = []
        if line.startswith("#"):
            section, command, caption = line.lstrip("# "), "", ""
        if match := COMMAND.search(line):
            command = match[1]
        if bold := BOLD.match(line):
            caption = bold[1].rstrip(".")


def _cells(row: str) -> tuple[str, ...]:
    """The cells of a table row; a bar inside a cell is written ``\\|``."""
    return tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|")))


def as_markdown(figures: Sequence[Figures]) -> str:
    """The figures as tables, each with its source and its command."""
    parts = []
    for part in figures:
        rows = [part.heads, ("---",) * len(part.heads), *part.rows]
        table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
        about = f"{part.caption}, from" if part.caption else "From"
        source = f"{about} [{part.section or part.page}](../../{part.page}#{part.anchor}), `{part.command}`:"
        parts.append(f"{source}\n\n{table}")
    return "\n\n".join(parts)
