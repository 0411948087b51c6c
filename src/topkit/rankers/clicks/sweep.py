"""The benefit of clicks: the measure S_clicks, and a sweep over λ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import log2
from typing import Any

import numpy as np

from topkit.data import Dataset, InputError, Page, Run
from topkit.metrics import evaluate
from topkit.rankers.clicks.events import examined
from topkit.rankers.clicks.model import ClickLabel
from topkit.rankers.learner import Learner

MIXES = tuple(round(0.1 * i, 1) for i in range(11))
"""Values of λ to try."""
Counts = dict[str, dict[str, tuple[int, int]]]
"""Query → document → (clicks, examinations)."""


def click_counts(pages: Iterable[Page]) -> Counts:
    """How often each document was examined and clicked."""
    counts: Counts = {}
    for page in pages:
        of_query = counts.setdefault(page.query, {})
        for doc, clicked in zip(page.docs[: examined(page)], page.clicks, strict=False):
            clicks, looks = of_query.get(doc, (0, 0))
            of_query[doc] = (clicks + clicked, looks + 1)
    return counts


def s_clicks(run: Run, counts: Counts) -> dict[str, float]:
    """S_clicks of each query with examined documents: Σ_p d(p)·clicks(p) / Σ_p examinations(p).

    d(p) = 1/log2(1 + p). Documents that were never examined are ignored. The value is high if documents with
    a high click rate come first; compare it only between rankings of the same documents.

    >>> run = Run.of({"q": [("b", 2.0), ("a", 1.0)]})
    >>> s_clicks(run, {"q": {"a": (0, 1), "b": (1, 1)}})
    {'q': 0.5}
    """
    values = {}
    for qid in run:
        known = [(place, counts.get(qid, {}).get(doc, (0, 0))) for place, (doc, _) in enumerate(run[qid], 1)]
        looks = sum(examinations for _, (_, examinations) in known)
        if looks:
            values[qid] = sum(clicks / log2(1 + place) for place, (clicks, _) in known) / looks
    return values


def mix_sweep(
    ranker: Learner,
    data: Dataset,
    pages: Sequence[Page],
    mixes: Iterable[float] = MIXES,
    metric: str = "ndcg@10",
    convention: str = "trec",
) -> list[dict[str, Any]]:
    """The metric and S_clicks on a data set for each λ, without retraining: λ is part of the utility only.

    Values are per query, so that folds can be pooled and differences tested.
    """
    if not isinstance(ranker.model, ClickLabel):
        raise InputError(f"the ranker {ranker.name!r} is not a fitted click-label ranker", "fit one first")
    counts = click_counts(pages)
    rows = []
    for mix in mixes:
        tried = replace(ranker, model=replace(ranker.model, mix=mix))
        values = evaluate(data, tried.score(data), metric, convention)
        clicks = s_clicks(tried.rank(data), counts)
        rows.append({"mix": mix, "measure": values.per_query[metric], "s_clicks": clicks})
    return rows


def topic_folds(queries: Sequence[str], pages: Iterable[Page], count: int, seed: int = 0) -> list[int]:
    """The fold of each query, from 0; queries that share a session are about one topic and share a fold.

    >>> shown = (("a", "s1"), ("b", "s1"), ("c", "s2"))
    >>> pages = [Page(query, ("d",), (True,), session) for query, session in shown]
    >>> folds = topic_folds(["a", "b", "c"], pages, 2)
    >>> folds[0] == folds[1] != folds[2]
    True
    """
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]  # shorten long chains
            name = parent[name]
        return name

    for page in pages:
        parent[root(f"query {page.query}")] = root(f"session {page.session}")
    topics = [root(f"query {query}") for query in queries]
    names = sorted(set(topics))
    folds = np.random.default_rng(seed).permutation(len(names)) % count
    fold_of = dict(zip(names, folds.tolist(), strict=True))
    return [fold_of[topic] for topic in topics]
