"""Rankers in PyTerrier pipelines: ``bm25 >> features >> transformer("lambdamart")``. Needs ``pyterrier``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topkit.compute import require
from topkit.data import Dataset, InputError
from topkit.data.groups import Groups
from topkit.rankers import ranker as make_ranker

FEATURES = "features"
"""PyTerrier's column of feature vectors, made by ``**`` and by feature retrievers."""


def transformer(ranker: Any, features: Sequence[str] | None = None, **settings: Any) -> Any:
    """A PyTerrier transformer that re-ranks results with a ranker.

    ``ranker`` is a fitted ranker, which is used as it is, or the name of one with its ``settings``, which
    ``pipeline.fit(topics, qrels, …)`` trains. ``features`` names the columns of the features; by default it
    is the column ``features`` with one vector per row.

    The result has the rows of the input with new scores and ranks. In ``fit``, documents without a judgment
    count as not relevant; validation topics are used if they are passed.
    """
    return _transformer_class()(ranker, features, settings)


@cache
def _transformer_class() -> type:
    pt = require("pyterrier", "pyterrier")

    class RankerTransformer(pt.Estimator):  # type: ignore[misc, name-defined]
        """Scores the documents of a result frame by a ranker of topkit."""

        def __init__(self, ranker: Any, features: Sequence[str] | None, settings: dict[str, Any]) -> None:
            super().__init__()
            named = isinstance(ranker, str)
            if settings and not named:
                raise InputError("settings are for a ranker that is given by name", "leave them out")
            self.features = None if features is None else tuple(features)
            self.ranker = make_ranker(ranker, **settings) if named else ranker

        def fit(self, results: Any, qrels: Any, valid_results: Any = None, valid_qrels: Any = None) -> Self:
            """Train the ranker on results with features and on judgments (qid, docno, label)."""
            train, _ = dataset_of_results(results, self.features, qrels)
            valid = None
            if valid_results is not None and len(valid_results):
                valid, _ = dataset_of_results(valid_results, self.features, valid_qrels)
            self.ranker.fit(train, valid)
            return self

        def transform(self, results: Any) -> Any:
            """The results with new scores and ranks."""
            pt.validate.result_frame(results, extra_columns=self.features or [FEATURES], context=self)
            scores = np.zeros(len(results))
            if len(results):  # PyTerrier passes empty frames to learn the columns of the output
                data, groups = dataset_of_results(results, self.features)
                order = slice(None) if groups.order is None else groups.order
                scores[order] = self.ranker.ordering_scores(data)
            scored = results.copy()
            scored["score"] = scores
            return pt.model.add_ranks(scored)

        def __repr__(self) -> str:
            return f"topkit({self.ranker!r})"

    return RankerTransformer


def dataset_of_results(
    results: Any, features: Sequence[str] | None = None, qrels: Any = None
) -> tuple[Dataset, Groups]:
    """A PyTerrier result frame as a data set, and how its rows were grouped.

    Labels are those of ``qrels``; documents without one, and all documents without ``qrels``, get 0.
    """
    labels = np.zeros(len(results)) if qrels is None else _labels(results, qrels)
    matrix = _vectors(results) if features is None else _columns(results, features)
    qids = [str(qid) for qid in results["qid"]]
    groups = Groups.of(qids)
    docs = [str(doc) for doc in results["docno"]]
    data = Dataset.from_arrays(matrix, labels, qids, doc_ids=docs, feature_names=features)
    return data, groups


def _labels(results: Any, qrels: Any) -> NDArray[np.float64]:
    pairs = zip(qrels["qid"], qrels["docno"], qrels["label"], strict=True)
    judged = {(str(qid), str(doc)): float(label) for qid, doc, label in pairs}
    grades = [
        judged.get((str(qid), str(doc))) for qid, doc in zip(results["qid"], results["docno"], strict=True)
    ]
    if not any(grade is not None for grade in grades):
        raise InputError("the results and the judgments have no document in common", "compare qid and docno")
    return np.array([max(grade or 0.0, 0.0) for grade in grades])


def _vectors(results: Any) -> NDArray[np.float32]:
    if FEATURES not in results.columns:
        names = ", ".join(map(str, results.columns))
        raise InputError(
            f"expected a column {FEATURES!r}, got {names}",
            "make it with ** in the pipeline, or name the columns of the features",
        )
    try:
        return np.stack([np.asarray(vector, np.float32).ravel() for vector in results[FEATURES]])
    except (TypeError, ValueError) as error:
        raise InputError(f"the vectors of the column {FEATURES!r} differ in length ({error})") from None


def _columns(results: Any, features: Sequence[str]) -> NDArray[np.float32]:
    missing = [name for name in features if name not in results.columns]
    if missing:
        names = ", ".join(map(str, results.columns))
        raise InputError(f"expected a column {missing[0]!r}, got {names}", "name columns of numbers")
    return np.asarray(results[list(features)], np.float32)
