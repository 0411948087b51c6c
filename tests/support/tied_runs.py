"""Random judgments and runs with ties, and what differs between their evaluation and that of pytrec_eval.

pytrec_eval takes Python floats, but trec_eval keeps each score as a 32-bit ``float``: scores that differ only
beyond that precision are ties, which it sorts by document id, descending as bytes. 1 + 1e-12 and 1 are a tie,
and so are 1e39 and infinity. Our convention ``trec`` rounds the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import topkit as tk
from topkit.data import Grade, Judgments, Run

Table = dict[str, dict[str, float]]
"""Query → document → grade or score."""

MEASURES = {
    "map": "map",
    "ndcg": "ndcg",
    "ndcg_cut_1": "ndcg@1",
    "ndcg_cut_3": "ndcg@3",
    "ndcg_cut_10": "ndcg@10",
    "map_cut_5": "map_cut_5",
    "P_1": "p@1",
    "P_5": "p@5",
    "recall_5": "recall@5",
    "recip_rank": "rr",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "infAP": "infAP",
    "success_1": "success_1",
    "num_ret": "num_ret",
    "num_rel": "num_rel",
    "num_rel_ret": "num_rel_ret",
}
"""pytrec_eval's name → ours. Not 11pt_avg: pytrec_eval rounds levels of recall as trec_eval 9, ours as 10."""

TOLERANCE = 1e-9
"""Both compute in double precision."""

NAMES = [
    "a",
    "b",
    "B",
    "c",
    "d",
    "d1",
    "d10",
    "d2",
    "é",
    "文",
    "z",
    "-",
    "0",
    "~",
    "zz",
    "ß",
    "x",
    "y",
    "k",
    "n",
]
"""Document ids whose order as bytes is not their order as numbers or in a dictionary."""


def _few_values(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(-2, 3, n) / 4


def _near_values(rng: np.random.Generator, n: int) -> np.ndarray:
    """Equal as 32-bit numbers, or neighbours, or different only as 64-bit numbers."""
    base = float(rng.choice([1e-3, 1.0, 7.25, 1e6]))
    return base * (1 + rng.integers(-2, 3, n) * float(rng.choice([1e-12, 6e-8, 1e-7, 1e-3])))


def _wide_values(rng: np.random.Generator, n: int) -> np.ndarray:
    """From the smallest to the largest, with both zeros, values beyond 32 bits, and infinities."""
    pool = [0.0, -0.0, 1e-46, 1e-45, -1e-40, 1e-3, 2e-3, 1e6, 3e38, 1e39, -1e39, np.inf, -np.inf, 16777217.0]
    return rng.choice(pool, n)


def _plain_values(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=n)


KINDS: list[Callable[[np.random.Generator, int], np.ndarray]] = [
    _few_values,
    _near_values,
    _wide_values,
    _plain_values,
]


def random_case(seed: int) -> tuple[Table, Table]:
    """Judgments and a run: some queries only in one of them, some documents too, grades from −1 to 3."""
    rng = np.random.default_rng(seed)
    qrels: Table = {}
    run: Table = {}
    for q in range(int(rng.integers(1, 6))):
        n = int(rng.integers(1, len(NAMES) + 1))
        names = rng.permutation(NAMES)[:n].tolist()
        judged = [name for name in names if rng.random() < 0.7]
        returned = [name for name in rng.permutation(names).tolist() if rng.random() < 0.8]
        lowest = -1 if rng.random() < 0.3 else 0
        if judged and (q == 0 or rng.random() < 0.9):
            qrels[f"q{q}"] = {name: int(rng.integers(lowest, 4)) for name in judged}
            # pytrec_eval does not return if every grade of a query is negative
            qrels[f"q{q}"][judged[0]] = int(rng.integers(0, 4))
        if returned and (q == 0 or rng.random() < 0.9):
            scores = KINDS[int(rng.integers(len(KINDS)))](rng, len(returned))
            run[f"q{q}"] = dict(zip(returned, scores.tolist(), strict=True))
    return qrels, run


def differences(seed: int) -> Iterator[tuple[str, str, float, float] | None]:
    """For each value of a random case: None, or (query, measure, ours, pytrec_eval's) if they differ."""
    import pytrec_eval

    qrels, run = random_case(seed)
    if not set(qrels) & set(run):
        return
    theirs = pytrec_eval.RelevanceEvaluator(
        {query: {doc: int(grade) for doc, grade in docs.items()} for query, docs in qrels.items()},
        _families(),
    ).evaluate(run)
    grades = [Grade(query, doc, grade) for query, docs in qrels.items() for doc, grade in docs.items()]
    results = Run.of({query: list(docs.items()) for query, docs in run.items()})
    ours = tk.evaluate_run(Judgments(tuple(grades)), results, list(MEASURES.values()), "trec")
    assert set(ours.qids) == set(theirs), "the evaluated queries differ"
    for q, query in enumerate(ours.qids):
        for name, metric in MEASURES.items():
            value, expected = float(ours.per_query[metric][q]), theirs[query][name]
            same = abs(value - expected) <= TOLERANCE
            yield None if same else (query, name, value, expected)


def _families() -> set[str]:
    """The measures as pytrec_eval asks for them."""
    cuts: dict[str, list[str]] = {}
    for name in MEASURES:
        family, _, cut = name.rpartition("_")
        if cut.isdigit():
            cuts.setdefault(family, []).append(cut)
        else:
            cuts[name] = []
    return {f"{family}.{','.join(depths)}" if depths else family for family, depths in cuts.items()}
