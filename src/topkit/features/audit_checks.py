"""Checks of an audit without ranking: duplicates, constants, leaks, queries in several parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from topkit.data import Dataset

NEAR = 0.8
"""Share of common documents from which two queries count as nearly equal."""
PERFECT = 0.98
"""Metric from which a single feature is suspected to contain the label."""
MOST_HOLDERS = 50
"""A document of more queries does not identify any of them."""
FEWEST_COMMON = 3
"""Fewer common documents may be chance."""


class Finding(NamedTuple):
    """One finding, as a sentence."""

    verdict: Literal["problem", "warning", "fine"]
    """``problem`` makes results misleading, ``warning`` needs attention, ``fine`` is for information."""
    text: str


def empty_queries(data: Dataset) -> list[Finding]:
    """Queries without relevant documents, or with relevant documents only."""
    relevant = np.add.reduceat((data.y > 0).astype(np.int64), data.ptr[:-1])
    none, only = int((relevant == 0).sum()), int((relevant == data.lengths).sum())
    findings = []
    if none:
        has, they = ("has", "it") if none == 1 else ("have", "they")
        text = f"{none:,} of {data.n_queries:,} queries {has} no relevant document, "
        findings.append(Finding("warning", f"{text}so {they} cannot be learned from"))
    if only:
        has = "has" if only == 1 else "have"
        text = f"{only:,} of {data.n_queries:,} queries {has} relevant documents only: every order is correct"
        findings.append(Finding("warning", text))
    return findings


def contradictions(data: Dataset) -> list[Finding]:
    """Documents that occur twice in a query, and documents with equal features but different labels."""
    findings = []
    if data.doc_ids is not None:
        pairs = Counter(zip(data.query_index.tolist(), data.doc_ids.tolist(), strict=True))
        repeated = sum(count - 1 for count in pairs.values())
        if repeated:
            text = f"{counted(repeated, 'duplicate document id')} within a query"
            findings.append(Finding("problem", text))
    if not data.n_features:
        return findings
    rows = np.column_stack([data.query_index.astype(np.float32), data.X])
    _, group = np.unique(rows, axis=0, return_inverse=True)
    sizes = np.bincount(group)
    same = int(sizes[sizes > 1].sum())
    low, high = np.full(len(sizes), np.inf), np.full(len(sizes), -np.inf)
    np.minimum.at(low, group, data.y)
    np.maximum.at(high, group, data.y)
    differing = int(sizes[low < high].sum())
    if same:
        text = (
            f"{same:,} documents ({same / len(data):.1%}) have the same features as another document of "
            f"their query; {differing:,} of them differ in label, which no method can learn"
        )
        findings.append(Finding("warning" if differing else "fine", text))
    return findings


def constants(data: Dataset) -> list[Finding]:
    """Features with a single value, in all of the data or within every query."""
    if not data.n_features:
        return []
    names = data.names_of_features()
    spread = np.fmax.reduceat(data.X, data.ptr[:-1]) - np.fmin.reduceat(data.X, data.ptr[:-1])
    within = ~(spread > 0).any(axis=0)
    overall = np.fmax.reduce(data.X, axis=0) == np.fmin.reduce(data.X, axis=0)
    findings = []
    for mask, where in ((overall, "in all data"), (within & ~overall, "within every query")):
        constant = [names[i] for i in np.flatnonzero(mask)]
        if constant:
            shown = ", ".join(constant[:8]) + (", …" if len(constant) > 8 else "")
            text = f"{counted(len(constant), 'constant feature')} {where}: {shown}"
            findings.append(Finding("warning", text))
    return findings


def counted(count: int, noun: str) -> str:
    """``1 query``, ``2 features``; the plural is formed with s."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def leaks(values: Sequence[tuple[str, float]], metric: str, random: float) -> list[Finding]:
    """Single features (or the file order) that rank almost perfectly: they seem to contain the label."""
    if random > 0.9:  # if a random order is nearly perfect, a perfect one proves nothing
        return []
    return [
        Finding("problem", f"{name!r} alone reaches {metric} {value:.3f}: it seems to contain the label")
        for name, value in values
        if value >= PERFECT
    ]


def shared_queries(parts: Mapping[str, Dataset]) -> list[Finding]:
    """Queries that occur, exactly or nearly, in several parts: test queries are then not new.

    Nearly: the two queries share at least 80 % of their documents (by id, otherwise by features).
    """
    findings = []
    homes: dict[str, str] = {}
    repeated: list[str] = []
    for part, data in parts.items():
        common = [qid for qid in data.qids if homes.setdefault(qid, part) != part]
        repeated += [f"{qid} in {homes[qid]} and {part}" for qid in common]
    if repeated:
        queries = "1 query is" if len(repeated) == 1 else f"{len(repeated):,} queries are"
        findings.append(Finding("problem", f"{queries} in more than one part: {'; '.join(repeated[:3])}"))
    near = _near_queries(parts)
    if near:
        shown = "; ".join(f"{a} in {p} and {b} in {q}" for (p, a), (q, b) in near[:3])
        pairs = counted(len(near), "pair")
        text = f"{pairs} of queries from different parts share most of their documents: {shown}"
        findings.append(Finding("problem", text))
    if not findings:
        findings.append(Finding("fine", "no query occurs in several parts, exactly or nearly"))
    return findings


Place = tuple[str, str]
"""(part, query id)."""


def _near_queries(parts: Mapping[str, Dataset]) -> list[tuple[Place, Place]]:
    holders: dict[object, list[Place]] = {}
    sizes: dict[Place, int] = {}
    for part, data in parts.items():
        ids = None if data.doc_ids is None else data.doc_ids.tolist()
        for qid, rows in data:
            documents: set[object]
            if ids is not None:
                documents = set(ids[rows])
            else:
                documents = {row.tobytes() for row in data.X[rows] if row.any()}
            sizes[part, qid] = len(documents)
            for document in documents:
                holders.setdefault(document, []).append((part, qid))
    common: Counter[tuple[Place, Place]] = Counter()
    for places in holders.values():
        if 1 < len(places) <= MOST_HOLDERS:
            for i, a in enumerate(places):
                common.update((a, b) for b in places[i + 1 :] if a[0] != b[0] and a[1] != b[1])
    return [
        (a, b)
        for (a, b), both in common.items()
        if both >= FEWEST_COMMON and both / (sizes[a] + sizes[b] - both) >= NEAR
    ]
