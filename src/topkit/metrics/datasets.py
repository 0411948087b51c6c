"""evaluate: a data set with scores becomes an Evaluation."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from topkit.data import Dataset, InputError
from topkit.metrics.arrays import evaluate_lists
from topkit.metrics.block import Lists, small_integers
from topkit.metrics.conventions import Convention
from topkit.metrics.conventions import convention as convention_named
from topkit.metrics.evaluation import Evaluation
from topkit.metrics.order import as_scores
from topkit.metrics.parse import Metric, parse_metrics


def evaluate(
    dataset: Dataset,
    scores: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric],
    convention: str | Convention = "yahoo",
    *,
    name: str = "",
) -> Evaluation:
    """Evaluate scores of the documents of a data set (larger is better) by its labels.

    >>> data = Dataset.build([[0.0]] * 3, [0, 2, 1], ["a", "a", "b"])
    >>> print(evaluate(data, [0.3, 0.1, 0.2], ["ndcg@1", "map"], convention="trec"))  # doctest: +ELLIPSIS
    ndcg@1  0.5000
    map     0.7500
    2 queries; convention trec: gain y; discount 1/log2(1+r); no relevant document: 0; ...
    """
    values = as_scores(scores)
    if values.shape != (len(dataset),):
        raise InputError(
            f"{len(dataset)} documents and scores of shape {values.shape}", "give one score a document"
        )
    rules = convention_named(convention)
    lists = Lists(values, small_integers(dataset.y), dataset.ptr, dataset.doc_ids, truth=dataset.truth)
    chosen = parse_metrics(metrics)
    values_of = evaluate_lists(lists, chosen, rules, dataset.qids)
    per_query = dict(zip(map(str, chosen), values_of, strict=True))
    return Evaluation(dataset.qids, per_query, rules, name)
