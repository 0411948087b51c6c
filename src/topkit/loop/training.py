"""From answers to a fitted ranker: the preferences that the answers of each labelling imply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.data import Dataset
from topkit.data.truth import GRADED
from topkit.labelling import Labelling
from topkit.losses import Preferences
from topkit.rankers import Learner, ranker
from topkit.rankers.by_name import settings_of


@dataclass(frozen=True)
class Labelled:
    """A finished labelling of some documents of a query; documents are rows of the whole data set."""

    query: int
    """The position of the query in the data set."""
    better: Ints
    worse: Ints
    """The preferences that the answers say or imply: better[i] above worse[i]."""
    asked: NDArray[np.bool_]
    """Which of these preferences are answers."""
    labels: Floats
    """Top-k labels of the query's documents; documents that were not compared have 0."""


def labelled(queries: Dataset, query: int, labelling: Labelling) -> Labelled:
    """What a finished labelling of this query says.

    >>> data = Dataset.build([[1.0], [2.0], [3.0]], [0, 0, 0], ["q"] * 3, doc_ids=["x", "y", "z"])
    >>> done = labelled(data, 0, Labelling(["z", "x"], k=1).answer("bad-a"))  # the question is "x or z?"
    >>> done.better, done.worse, done.labels
    (array([2]), array([0]), array([0., 0., 1.]))
    """
    first, stop = int(queries.ptr[query]), int(queries.ptr[query + 1])
    row = {name: first + i for i, name in enumerate(queries.names_of_documents()[first:stop].tolist())}
    rows = [row[item] for item in labelling.items]
    known = labelling.known()
    n = len(rows)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j and known.relation(i, j) == "a"]
    answered = {frozenset((row[answer.a], row[answer.b])) for answer in labelling.answers if answer.b}
    better = np.array([rows[i] for i, _ in pairs], np.int64)
    worse = np.array([rows[j] for _, j in pairs], np.int64)
    asked = np.array(
        [frozenset(pair) in answered for pair in zip(better.tolist(), worse.tolist(), strict=True)]
    )
    labels = np.zeros(stop - first)
    if labelling.result is not None:
        labels[np.array(rows) - first] = labelling.result.labels(labelling.items)
    return Labelled(query, better, worse, asked.astype(bool), labels)


def learns_from_preferences(template: Learner) -> bool:
    """Whether the ranker can be fitted to single pairs, so that documents that nobody saw do not count."""
    pairs = settings_of(template.name, **template.settings).get("pairs")
    return pairs is not None and "given" in pairs.choices


def fit(
    template: Learner, queries: Dataset, done: Sequence[Labelled], weights: Floats | None = None
) -> Learner | None:
    """A ranker with the settings of the template, fitted to these labellings; None without a preference.

    A ranker with the setting ``pairs="given"`` learns only from documents that were compared. Any other
    ranker learns from top-k labels, where documents that were not compared count as worse than the top k.
    ``weights`` has one weight per labelling.
    """
    of_query: dict[int, list[int]] = {}
    for number, part in enumerate(done):
        if len(part.better):
            of_query.setdefault(part.query, []).append(number)
    if not of_query:
        return None
    train = queries.select(np.array(list(of_query)))
    query_weights = (
        None if weights is None else np.array([weights[parts].mean() for parts in of_query.values()])
    )
    if not learns_from_preferences(template):
        labels = [np.max([done[part].labels for part in parts], axis=0) for parts in of_query.values()]
        learner = ranker(template.name, **template.settings)
        return learner.fit(train.with_labels(np.concatenate(labels), GRADED), weights=query_weights)
    better, worse = [], []
    for place, (query, parts) in enumerate(of_query.items()):
        shift = train.ptr[place] - queries.ptr[query]
        better += [done[part].better + shift for part in parts]
        worse += [done[part].worse + shift for part in parts]
    pairs = Preferences.of_rows(train.ptr, np.concatenate(better), np.concatenate(worse))
    learner = ranker(template.name, **{**template.settings, "pairs": "given"})
    return learner.fit(train, weights=query_weights, preferences=pairs)


def agreement(scores: Floats, better: Ints, worse: Ints) -> float:
    """The share of the pairs that the scores order correctly; equal scores count half.

    >>> agreement(np.array([3.0, 1.0, 1.0]), np.array([0, 1]), np.array([2, 2]))
    0.75
    """
    gaps = scores[better] - scores[worse]
    return float(np.mean((gaps > 0) + 0.5 * (gaps == 0)))
