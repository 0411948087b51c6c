"""The result of a diagnosis: what changed, in tables, JSON, frames and an HTML report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from topkit.data.words import counted
from topkit.metrics import Evaluation
from topkit.metrics.comparison import Pair
from topkit.reporting.tables import Table, Value

SHOWN = 10
"""Queries and features that the text shows."""

Shares = tuple[tuple[str, float], ...]
"""Features with what they changed, largest first."""


@dataclass(frozen=True)
class Move:
    """A document that changed its rank."""

    document: str
    grade: float
    old_rank: int
    new_rank: int
    features: Shares
    """The features that moved it, in standard scores: positive lifts it. Empty if they are not known."""


@dataclass(frozen=True)
class QueryChange:
    """A query: its value before and after, the documents that moved, and the features behind it."""

    qid: str
    text: str
    """The text of the query; empty if it is not known."""
    old: float
    new: float
    moves: tuple[Move, ...]
    """The documents that moved, largest effect on the top first."""
    features: Shares
    """Feature → change of what it does for the order of the grades; negative hurts."""
    old_order: tuple[tuple[str, float, int], ...]
    """The first documents of the old ranking: document, grade, rank in the new ranking."""
    new_order: tuple[tuple[str, float, int], ...]
    """The first documents of the new ranking: document, grade, rank in the old ranking."""

    @property
    def change(self) -> float:
        """The new value minus the old one."""
        return self.new - self.old


@dataclass(frozen=True)
class Diagnosis:
    """Two systems on one data set; ``print`` shows text, a notebook HTML, :meth:`write_html` a report."""

    metric: str
    old: Evaluation
    new: Evaluation
    pair: Pair
    """The new system against the old one: means and p-value."""
    queries: tuple[QueryChange, ...]
    """Worst change first."""
    groups: Table
    features: Table
    """What each feature does in both systems; empty if it is not known."""
    explanation: str
    """How the features were explained, or why not."""
    names: tuple[str, str] = ("old", "new")
    """The names of the two systems in tables and reports."""
    greater_is_better: bool = True

    def named(self, old: str, new: str) -> Diagnosis:
        """The same diagnosis with names for the two systems, such as those of their files."""
        return replace(self, names=(old, new))

    def __getitem__(self, qid: str) -> QueryChange:
        """The change of one query."""
        for query in self.queries:
            if query.qid == qid:
                return query
        raise KeyError(f"the data has no query {qid!r}")

    @property
    def worse(self) -> tuple[QueryChange, ...]:
        """The queries that became worse, worst first."""
        return tuple(query for query in self.queries if self._gain(query) < 0)

    @property
    def better(self) -> tuple[QueryChange, ...]:
        """The queries that became better, best first."""
        return tuple(query for query in reversed(self.queries) if self._gain(query) > 0)

    def _gain(self, query: QueryChange) -> float:
        return query.change if self.greater_is_better else -query.change

    def summary(self) -> Table:
        """Means, difference, p-value and the number of queries that changed."""
        old, new = self.names
        equal = len(self.queries) - len(self.worse) - len(self.better)
        columns = ("", old, new, "change", "p", "better", "worse", "equal")
        row: list[Value] = [self.metric, self.pair.mean_b, self.pair.mean_a, self.pair.difference]
        row += [self.pair.p, len(self.better), len(self.worse), equal]
        note = f"{counted(len(self.queries), 'query')}; convention {self.old.convention}"
        return Table(columns, [row], [note, "p: Student's paired t-test"])

    def table(self, many: int | None = None) -> Table:
        """One row per query, worst change first; ``many`` limits their number."""
        rows: list[list[Value]] = []
        for query in self.queries[:many]:
            hurts = [name for name, share in query.features if (share < 0) == (self._gain(query) < 0)]
            moved = query.moves[0] if query.moves else None
            path = "" if moved is None else f"{moved.document} {moved.old_rank}→{moved.new_rank}"
            rows.append([query.qid, query.old, query.new, query.change, path, ", ".join(hurts[:3])])
        columns = ("query", "old", "new", "change", "largest move", "features behind it")
        return Table(columns, rows, align="lrrrll")

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with one row per query; see :meth:`topkit.metrics.Evaluation.to_frame`."""
        return self.table().to_frame(backend)

    def moves_table(self, qid: str) -> Table:
        """The documents of a query that moved, with the features that moved them."""
        rows = [
            (
                move.document,
                f"{move.grade:g}",
                move.old_rank,
                move.new_rank,
                ", ".join(f"{name} {share:+.2f}" for name, share in move.features),
            )
            for move in self[qid].moves
        ]
        return Table(("document", "grade", "old rank", "new rank", "moved by"), rows, align="lrrrl")

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        (row,) = self.summary().rows
        keys = ("metric", "old", "new", "change", "p", "better", "worse", "equal")
        return {
            "systems": {"old": self.names[0], "new": self.names[1]},
            "summary": dict(zip(keys, row, strict=True)),
            "convention": str(self.old.convention),
            "explanation": self.explanation,
            "groups": _records(self.groups),
            "features": _records(self.features),
            "queries": [
                {
                    "query": query.qid,
                    "text": query.text,
                    "old": query.old,
                    "new": query.new,
                    "change": query.change,
                    "features": dict(query.features),
                    "moves": [
                        {
                            "document": move.document,
                            "grade": move.grade,
                            "old_rank": move.old_rank,
                            "new_rank": move.new_rank,
                            "features": dict(move.features),
                        }
                        for move in query.moves
                    ],
                }
                for query in self.queries
            ],
        }

    def tables(self) -> dict[str, Table]:
        """Summary, groups, features and the worst queries, in the order in which they are shown."""
        shown = {"Summary": self.summary(), "By kind of query": self.groups}
        if self.features.rows:
            limited = Table(
                self.features.columns, self.features.rows[:SHOWN], self.features.notes, self.features.align
            )
            shown["Features"] = limited
        shown["Queries, worst first"] = self.table(SHOWN)
        return shown

    def __str__(self) -> str:
        parts = [f"{title}\n{table.text()}" for title, table in self.tables().items() if table.rows]
        return "\n\n".join([*parts, self.explanation])

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self.tables().values() if table.rows)

    def write_html(self, path: str | PathLike[str], *, many: int = 20) -> None:
        """Write a report with both rankings of ``many`` queries side by side, as one HTML file."""
        from topkit.studies.diagnosis.page import diagnosis_page

        diagnosis_page(self, many).write(path)


def _records(table: Table) -> list[Mapping[str, Value]]:
    return [dict(zip(table.named_columns, row, strict=True)) for row in table.rows]
