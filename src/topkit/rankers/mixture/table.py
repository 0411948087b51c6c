"""The members of a mixture as a table: classifier, calibration, measure and weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from topkit.reporting.tables import Table

if TYPE_CHECKING:
    from topkit.rankers.mixture.mixture import Mixture


class MemberRow(NamedTuple):
    """One member."""

    classifier: str
    calibration: str
    measure: float
    weight: float


def member_rows(mixture: Mixture) -> list[MemberRow]:
    """Every member, by falling weight, then by falling measure."""
    rows = []
    for member in mixture.members:
        source = mixture.sources[member.source]
        title = " ".join(part for part in (source.title, source.labels[member.stage]) if part)
        rows.append(MemberRow(title, member.head.name, member.measure, member.weight))
    return sorted(rows, key=lambda row: (-row.weight, -row.measure))


def member_table(mixture: Mixture, most: int = 20) -> str:
    """The first rows of the table as text, and the number of further members.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> fitted = tk.ranker("mcsvm", C=1.0).fit(data)
    >>> print(member_table(fitted.model))
    classifier     calibration  ndcg@10  weight
    svm C=1.0e+00  log-sigmoid   1.0000  1.0000
    1 of 1 members has a weight; c = 0
    """
    rows = member_rows(mixture)
    notes = [f"… {len(rows) - most} more"] if len(rows) > most else []
    used = sum(row.weight > 0 for row in rows)
    has = "has" if used == 1 else "have"
    notes.append(f"{used} of {len(rows)} members {has} a weight; c = {mixture.strength:g}")
    columns = ("classifier", "calibration", mixture.metric, "weight")
    return Table(columns, rows[:most], notes, align="llrr").text()
