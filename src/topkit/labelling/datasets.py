"""Labelling a whole data set by a judge: top-k truth and the judgments behind it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topkit.data.dataset import Dataset
from topkit.data.judgments import Judgments
from topkit.data.run import Run
from topkit.data.truth import Truth
from topkit.labelling.judges.judge import Judge, label
from topkit.labelling.labelling import Labelling


def label_dataset(
    dataset: Dataset,
    judge: Judge,
    k: int,
    strategy: str = "adaptive",
    seed: int = 0,
    prior: Run | None = None,
    on_query: Callable[[str], object] = lambda query: None,
) -> tuple[Dataset, Judgments]:
    """The data set with top-k truth as the judge labels it, and every judgment that took.

    The labels the data set comes with are not looked at. ``prior`` orders each query's documents beforehand
    (by falling score). Query q is labelled with seed + q; ``on_query`` is told each query when it is done.

    >>> from topkit.labelling.judges.simulated import SimulatedAssessor
    >>> data = Dataset.build([[1.0], [2.0], [3.0]], [0, 0, 0], ["q"] * 3, doc_ids=["x", "y", "z"])
    >>> labelled, judgments = label_dataset(data, SimulatedAssessor.of_order("ann", "zxy"), k=2)
    >>> labelled.y, len(judgments.preferences)
    (array([1., 0., 2.], dtype=float32), 3)
    """
    names = dataset.names_of_documents()
    labels = np.zeros(len(dataset), np.float32)
    records: list[Judgments] = []
    for number, (query, rows) in enumerate(dataset):
        items = names[rows].tolist()
        order = None
        if prior is not None and query in prior:
            here = set(items)
            ranked = sorted(prior[query], key=lambda pair: -pair[1])
            order = [doc for doc, _ in ranked if doc in here]
        done = label(Labelling(items, k, strategy, seed + number, order), judge, query)
        if done.result is not None:
            labels[rows] = done.result.labels(items)
        records.append(done.judgments(query))
        on_query(query)
    judgments = Judgments(
        tuple(grade for record in records for grade in record.grades),
        tuple(preference for record in records for preference in record.preferences),
    )
    return dataset.with_labels(labels, Truth("top-k", k)), judgments
