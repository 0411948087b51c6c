"""Groups of queries: in which kinds of queries did the measure change?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import Dataset
from topkit.metrics.significance import paired_t
from topkit.reporting.tables import Table, Value

MOST_GROUPS = 4
"""Groups of one kind: more would have too few queries each."""

Group = tuple[str, str, NDArray[np.bool_]]
"""What the queries are grouped by, the group, and the queries in it."""


def groups(data: Dataset, queries: Mapping[str, str] | None) -> Iterator[Group]:
    """Queries by the length of their text (if known), the length of their list, and their grades."""
    if queries is not None:
        words = np.array([len(queries.get(qid, "").split()) for qid in data.qids])
        yield from _ranges("words in the query", words)
    yield from _ranges("documents in the list", data.lengths)
    yield from _ranges("relevant documents", np.add.reduceat((data.y > 0).astype(np.int64), data.ptr[:-1]))
    best = np.maximum.reduceat(data.y, data.ptr[:-1])
    grades = np.unique(best)
    if 1 < len(grades) <= 2 * MOST_GROUPS:
        for grade in grades:
            yield "best grade", f"{grade:g}", best == grade


def _ranges(by: str, counts: NDArray[np.int64]) -> Iterator[Group]:
    """One group per count if there are few, else ranges of counts with about equally many queries."""
    values = np.unique(counts)
    if len(values) == 1:
        return
    if len(values) <= MOST_GROUPS:
        starts = values
    else:
        shares = np.linspace(0, 1, MOST_GROUPS + 1)[:-1]
        starts = np.unique(np.quantile(counts, shares, method="nearest"))
    for start, after in zip(starts, [*starts[1:], values[-1] + 1], strict=True):
        inside = (counts >= start) & (counts < after)
        last = counts[inside].max()
        yield by, f"{start}" if start == last else f"{start}–{last}", inside


def group_table(data: Dataset, old: Floats, new: Floats, queries: Mapping[str, str] | None) -> Table:
    """One row per group: means before and after, and how many queries rose and fell."""
    rows: list[list[Value]] = []
    for by, name, inside in groups(data, queries):
        change = new[inside] - old[inside]
        rows.append(
            [
                by,
                name,
                int(inside.sum()),
                float(old[inside].mean()),
                float(new[inside].mean()),
                float(change.mean()),
                int((change > 0).sum()),
                int((change < 0).sum()),
                paired_t(change),
            ]
        )
    columns = ("group", "value", "queries", "old", "new", "change", "higher", "lower", "p")
    note = "p: Student's paired t-test within the group, not corrected for the number of groups"
    return Table(columns, rows, [note], align="llrrrrrrr")
