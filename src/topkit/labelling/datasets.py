"""Labelling of a whole data set by a judge: top-k truth and the judgments behind it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topkit.data.dataset import Dataset
from topkit.data.judgments import Judgments, joined_judgments
from topkit.data.run import Run
from topkit.data.truth import Truth
from topkit.labelling.judges.judge import Judge
from topkit.labelling.judges.together import label_all
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
    A judge that answers several questions at once labels queries side by side.

    >>> from topkit.labelling.judges.simulated import SimulatedAssessor
    >>> data = Dataset.build([[1.0], [2.0], [3.0]], [0, 0, 0], ["q"] * 3, doc_ids=["x", "y", "z"])
    >>> labelled, judgments = label_dataset(data, SimulatedAssessor.of_order("ann", "zxy"), k=2)
    >>> labelled.y, len(judgments.preferences)
    (array([1., 0., 2.], dtype=float32), 3)
    """
    names = dataset.names_of_documents()
    tasks: dict[str, Labelling] = {}
    for number, (query, rows) in enumerate(dataset):
        items = names[rows].tolist()
        order = None
        if prior is not None and query in prior:
            known_items = set(items)
            ranked = sorted(prior[query], key=lambda pair: -pair[1])
            order = [doc for doc, _ in ranked if doc in known_items]
        tasks[query] = Labelling(items, k, strategy, seed + number, order)
        if tasks[query].question is None:
            on_query(query)

    def on_answer(query: str, labelling: Labelling) -> None:
        if labelling.question is None:
            on_query(query)

    done = label_all(tasks, judge, on_answer=on_answer)
    labels = np.zeros(len(dataset), np.float32)
    for query, rows in dataset:
        result = done[query].result
        if result is not None:
            labels[rows] = result.labels(done[query].items)
    records = joined_judgments([done[query].judgments(query) for query in tasks])
    return dataset.with_labels(labels, Truth("top-k", k)), records
