"""Labelling loops with simulated judges, and their quality on fresh queries minute by minute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import Dataset
from topkit.data.truth import Truth
from topkit.labelling import Question, Verdict
from topkit.loop import LabellingLoop
from topkit.rankers import Learner, ranker
from topkit.studies.assessors import SECONDS, Noise, error_of, labels_of


@dataclass(frozen=True)
class RelevanceJudge:
    """Compares documents by their relevance, with noise; the same question always gets the same answer."""

    queries: Dataset
    relevance: Floats
    """The relevance of each document of the data set."""
    noise: float
    """Standard deviation of the noise on each relevance."""
    seed: int
    name: str = "simulated"

    @cached_property
    def _known(self) -> dict[str, dict[str, float]]:
        """Query → document → its relevance."""
        names = self.queries.names_of_documents()
        return {
            qid: dict(zip(names[rows].tolist(), self.relevance[rows].tolist(), strict=True))
            for qid, rows in self.queries
        }

    def judge(self, query: str, question: Question) -> Verdict:
        """The document with the larger relevance, or the other by mistake."""
        known = self._known[query]
        gap = known[question.a] - known[str(question.b)]
        chance = Random(f"{self.seed} {query} {question.a} {question.b}").random()
        wrong = chance < error_of(self.noise)(abs(gap))
        return Verdict("a" if (gap > 0) != wrong else "b", SECONDS["preferences"])


class Moment(NamedTuple):
    """A ranker as it was after these minutes."""

    minutes: float
    queries: int
    fitted: Learner | None
    loop: LabellingLoop | None = None


def loop_moments(loop: LabellingLoop, minutes: Sequence[float]) -> Iterator[Moment]:
    """The loop at these minutes, in ascending order, with the queries that were finished by then."""
    waiting = list(minutes)
    while waiting:
        after = loop.step() if loop.question is not None else None
        while waiting and (after is None or after.minutes > waiting[0]):
            queries = len(loop.labelled_queries)
            yield Moment(waiting.pop(0), queries, loop.fitted if queries else None, loop)
        if after is not None:
            loop = after


def published_moments(
    train: Dataset,
    relevance: Floats,
    noise: Noise,
    template: Learner,
    k: int,
    seed: int,
    minutes: Sequence[float],
) -> Iterator[Moment]:
    """The published strategy: queries in random order, the top k of all documents, by a heap."""
    names = train.names_of_documents()
    waiting, spent = list(minutes), 0.0
    chosen: list[int] = []
    labels: list[NDArray[np.float32]] = []
    for query in (*np.random.default_rng(seed).permutation(train.n_queries).tolist(), None):
        latest, cost = np.zeros(0, np.float32), float("inf")
        if query is not None:
            rows = slice(int(train.ptr[query]), int(train.ptr[query + 1]))
            judged = names[rows].tolist(), relevance[rows].tolist()
            latest, cost = labels_of(*judged, "heap", k, noise, seed * 100_000 + query)
        while waiting and spent + cost > waiting[0]:
            fitted = None
            if chosen:
                data = train.select(np.array(chosen)).with_labels(np.concatenate(labels), Truth("top-k", k))
                fitted = ranker(template.name, **template.settings).fit(data)
            yield Moment(waiting.pop(0), len(chosen), fitted)
        if not waiting or query is None:
            return
        spent += cost
        chosen.append(query)
        labels.append(latest)


def true_agreement(queries: Dataset, relevance: Floats, noise: float, scores: Floats) -> float:
    """P(a judge orders a random pair of a random query as the scores do), exactly.

    >>> data = Dataset.build([[0.0]] * 2, [0, 0], ["q"] * 2)
    >>> round(true_agreement(data, np.array([1.0, 0.0]), sqrt(0.5), np.array([2.0, 1.0])), 4)  # Φ(1)
    0.8413
    """
    from scipy.special import ndtr

    values = []
    for _, rows in queries:
        if rows.stop - rows.start < 2:
            continue
        first, second = np.triu_indices(rows.stop - rows.start, 1)
        gaps = relevance[rows][first] - relevance[rows][second]
        says_first = ndtr(gaps / (sqrt(2) * noise))
        ranked = np.sign(scores[rows][first] - scores[rows][second])
        values.append(np.mean(np.where(ranked == 0, 0.5, np.where(ranked > 0, says_first, 1 - says_first))))
    return float(np.mean(values))
