"""Labelling of a whole data set by a judge: top-k truth and the judgments behind it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topkit.data.dataset import Dataset
from topkit.data.judgments import Judgments, joined_judgments
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
    """The data set with the top-k truth that the judge's answers give, and all judgments.

    The labels of the data set are not used. The scores of ``prior`` order the documents of each query in
    advance. Query number q is labelled with seed + q; ``on_query`` is called with each query when it is done.

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
            known_items = set(items)
            ranked = sorted(prior[query], key=lambda pair: -pair[1])
            order = [doc for doc, _ in ranked if doc in known_items]
        done = label(Labelling(items, k, strategy, seed + number, order), judge, query)
        if done.result is not None:
            labels[rows] = done.result.labels(items)
        records.append(done.judgments(query))
        on_query(query)
    return dataset.with_labels(labels, Truth("top-k", k)), joined_judgments(records)
