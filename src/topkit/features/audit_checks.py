"""The checks of an audit that need no ranking: duplicates, constants, leaks, queries in two parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from topkit.data import Dataset

NEAR = 0.8
PERFECT = 0.98


class Finding(NamedTuple):
    """One thing found, in a sentence."""

    verdict: Literal["problem", "warning", "fine"]
    """``problem`` makes results misleading, ``warning`` wants a look, ``fine`` is for the record."""
    text: str


def empty_queries(data: Dataset) -> list[Finding]:
    """Queries without relevant documents, or with nothing else."""
    relevant = np.add.reduceat((data.y > 0).astype(np.int64), data.ptr[:-1])
    none, only = int((relevant == 0).sum()), int((relevant == data.lengths).sum())
    findings = []
    if none:
        text = f"{none:,} of {data.n_queries:,} queries have no relevant document: they teach nothing"
        findings.append(Finding("warning", text))
    if only:
        text = f"{only:,} of {data.n_queries:,} queries have relevant documents only: every order is right"
        findings.append(Finding("warning", text))
    return findings


def contradictions(data: Dataset) -> list[Finding]:
    """Documents that come twice in a query, and documents with equal features but other labels."""
    findings = []
    if data.doc_ids is not None:
        pairs = Counter(zip(data.query_index.tolist(), data.doc_ids.tolist(), strict=True))
        twice = sum(count - 1 for count in pairs.values())
        if twice:
            findings.append(
                Finding("problem", f"{twice:,} documents come more than once in their query (by id)")
            )
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
            f"{same:,} documents ({same / len(data):.1%}) have the same features as another of their query; "
            f"{differing:,} of them differ in label, which no method can learn"
        )
        findings.append(Finding("warning" if differing else "fine", text))
    return findings


def constants(data: Dataset) -> list[Finding]:
    """Features with one value, in all of the data or within every query."""
    if not data.n_features:
        return []
    names = data.names_of_features()
    spread = np.fmax.reduceat(data.X, data.ptr[:-1]) - np.fmin.reduceat(data.X, data.ptr[:-1])
    within = ~(spread > 0).any(axis=0)
    overall = np.fmax.reduce(data.X, axis=0) == np.fmin.reduce(data.X, axis=0)
    findings = []
    for mask, where in ((overall, "throughout"), (within & ~overall, "within every query")):
        chosen = [names[i] for i in np.flatnonzero(mask)]
        if chosen:
            shown = ", ".join(chosen[:8]) + (", …" if len(chosen) > 8 else "")
            findings.append(Finding("warning", f"{len(chosen)} features are constant {where}: {shown}"))
    return findings


def leaks(values: Sequence[tuple[str, float]], metric: str, random: float) -> list[Finding]:
    """Single features (or the order of the file) that rank almost perfectly: they know the label."""
    if random > 0.9:  # where chance is nearly perfect, perfection proves nothing
        return []
    return [
        Finding("problem", f"{name!r} alone reaches {metric} {value:.3f}: it seems to contain the label")
        for name, value in values
        if value >= PERFECT
    ]


def shared_queries(parts: Mapping[str, Dataset]) -> list[Finding]:
    """Queries of one part that are, or nearly are, queries of another: the test is then not of new queries.

    Nearly: at least 80 % of all documents of both are documents of both (by id, else by their features).
    """
    findings = []
    homes: dict[str, str] = {}
    again: list[str] = []
    for part, data in parts.items():
        twice = [qid for qid in data.qids if homes.setdefault(qid, part) != part]
        again += [f"{qid} in {homes[qid]} and {part}" for qid in twice]
    if again:
        text = f"{len(again):,} queries are in more than one part: {'; '.join(again[:3])}"
        findings.append(Finding("problem", text))
    near = _near_queries(parts)
    if near:
        shown = "; ".join(f"{a} in {p} and {b} in {q}" for (p, a), (q, b) in near[:3])
        text = f"{len(near):,} pairs of queries of different parts share most of their documents: {shown}"
        findings.append(Finding("problem", text))
    if not findings:
        findings.append(Finding("fine", "no query of one part is in another, exactly or nearly"))
    return findings


Place = tuple[str, str]


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
        if 1 < len(places) <= 50:  # a document of very many queries tells none of them apart
            for i, a in enumerate(places):
                common.update((a, b) for b in places[i + 1 :] if a[0] != b[0] and a[1] != b[1])
    return [
        (a, b) for (a, b), both in common.items() if both >= 3 and both / (sizes[a] + sizes[b] - both) >= NEAR
    ]
