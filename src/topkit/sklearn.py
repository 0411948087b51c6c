"""Rankers as scikit-learn estimators, for Pipeline, GridSearchCV and cross_validate. Needs ``sklearn``.

>>> import numpy as np
>>> X, y, qid = np.array([[0.9], [0.1], [0.4], [0.8]]), [1, 0, 0, 1], [1, 1, 2, 2]
>>> RankingEstimator("listnet", l2=0.1).fit(X, y, qid=qid).score(X, y, qid=qid)
1.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from topkit.compute import require
from topkit.data import Dataset, InputError
from topkit.metrics import convention as convention_named
from topkit.metrics import evaluate, metric
from topkit.rankers import ranker as make_ranker

_base = require("sklearn.base", "sklearn")
_routing = require("sklearn.utils._metadata_requests", "sklearn")
_validation = require("sklearn.utils.validation", "sklearn")

QID = "qid"
"""The column of X that holds the query ids if they are not passed on their own, as in XGBoost."""

CHECK_EXCEPTIONS = {
    "check_no_attributes_set_in_init": "settings are those of the chosen ranker, so __init__ has **settings",
    "check_methods_subset_invariance": "features are normalised within each query, here all rows of X",
}
"""Checks of scikit-learn's ``check_estimator`` that do not apply, with the reason."""


class RankingEstimator(_base.BaseEstimator):  # type: ignore[misc, name-defined]
    """A ranker by name and settings: ``RankingEstimator("listnet", l2=0.1).fit(X, y, qid=qid)``.

    ``qid`` has one query id per row, in any order; or X is a frame with a column ``qid``. Without either, all
    rows are one query. ``metric`` and ``convention`` are those of ``score`` and of the ranker.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {QID: True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {QID: True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {QID: True}

    def __init__(self, ranker: str = "listnet", **settings: Any) -> None:
        self.ranker = ranker
        self.settings = settings

    # -- parameters ----------------------------------------------------------------------------------------
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The name of the ranker and the settings that were given."""
        return {"ranker": self.ranker, **self.settings}

    def set_params(self, **params: Any) -> Self:
        """Change the ranker or settings; the names are checked when the estimator is fitted."""
        self.ranker = params.pop("ranker", self.ranker)
        self.settings = {**self.settings, **params}
        return self

    # -- learning ------------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, qid: Any = None) -> Self:
        """Learn from the rows of X with the labels y, grouped by query id."""
        features, ids = self._checked(X, qid, reset=True)
        labels = _labels(y, len(features))
        data = Dataset.from_arrays(features, labels, ids, feature_names=self._names())
        self.ranker_ = make_ranker(self.ranker, **self.settings).fit(data)
        return self

    def predict(self, X: Any, qid: Any = None) -> NDArray[np.float64]:
        """One score per row, in the order of the rows; larger is better within a query."""
        _validation.check_is_fitted(self, "ranker_")
        features, ids = self._checked(X, qid, reset=False)
        groups = _groups(ids)
        data = Dataset.from_arrays(features, np.zeros(len(features)), ids, feature_names=self._names())
        scores: NDArray[np.float64] = np.empty(len(features))
        scores[slice(None) if groups.order is None else groups.order] = self.ranker_.ordering_scores(data)
        return scores

    def score(self, X: Any, y: Any, qid: Any = None) -> float:
        """The mean of the metric over queries (NDCG@10 by default), negated if smaller is better."""
        ids = _query_ids(X, qid)
        name = self.settings.get("metric", "ndcg@10")
        rules = self.settings.get("convention", "yahoo")
        return ranking_value(y, self.predict(X, qid), ids, name, rules)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names)

    def _checked(self, X: Any, qid: Any, *, reset: bool) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """Features and query ids, after scikit-learn has checked and recorded the number and the names."""
        ids = _query_ids(X, qid)
        if _has_qid(X):
            X = _without_qid(X)
        checked = _validation.validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=np.float32,
            order="C",
            ensure_all_finite="allow-nan",
        )
        dense = checked.toarray() if hasattr(checked, "toarray") else checked
        if ids is None:
            ids = np.zeros(len(dense), np.int64)
        if len(ids) != len(dense):
            raise InputError(f"expected {len(dense)} query ids, got {len(ids)}", "give one per row of X")
        return dense, ids


def ranking_scorer(name: str = "ndcg@10", convention: str = "yahoo") -> Callable[..., float]:
    """A scorer for anybody's estimator: ``cross_validate(..., scoring=ranking_scorer("ndcg@10"))``.

    It needs the query ids: a column ``qid`` in X, or the argument ``qid`` by metadata routing.
    """
    return _RankingScorer(str(metric(name)), convention)


class _RankingScorer(_routing._MetadataRequester):  # type: ignore[misc, name-defined]
    """Calls ``predict`` and evaluates the scores; it can be pickled, so searches may run in processes."""

    def __init__(self, name: str, convention: str) -> None:
        self.name, self.convention = name, convention
        self._metadata_request = _routing.MetadataRequest(owner=self)
        self._metadata_request.score.add_request(param=QID, alias=True)

    def __call__(self, estimator: Any, X: Any, y: Any, qid: Any = None) -> float:
        ids = _query_ids(X, qid)
        if ids is None:
            raise InputError(
                "the scorer needs query ids",
                "call sklearn.set_config(enable_metadata_routing=True) and pass qid=… to fit of a search "
                "(params={'qid': …} to cross_validate), or put a column 'qid' into X",
            )
        passed = {QID: qid} if qid is not None and _predicts_with_qid(estimator) else {}
        scores = estimator.predict(X, **passed)
        return ranking_value(y, scores, ids, self.name, self.convention)

    def __repr__(self) -> str:
        return f"ranking_scorer({self.name!r}, {self.convention!r})"


def _predicts_with_qid(estimator: Any) -> bool:
    """Whether ``predict`` takes query ids: ours does, and a pipeline that ends in ours if routing is on."""
    if isinstance(estimator, RankingEstimator):
        return True
    if not _routing._routing_enabled():
        return False
    return QID in _routing.get_routing_for_object(estimator).consumes("predict", [QID])


def ranking_value(y: Any, scores: Any, qid: Any, name: str, convention: str = "yahoo") -> float:
    """The mean of a metric over queries, negated if smaller is better; without ids, one query."""
    values = np.asarray(scores, np.float64)
    ids = np.zeros(len(values), np.int64) if qid is None else qid
    data = Dataset.from_arrays(np.zeros((len(values), 0), np.float32), _labels(y, len(values)), ids)
    order = _groups(ids).order
    ordered = values if order is None else values[order]
    chosen = metric(name)
    mean = evaluate(data, ordered, [chosen], convention_named(convention)).mean[str(chosen)]
    return float(mean) if chosen.measure.greater_is_better else -float(mean)


def _labels(y: Any, rows: int) -> NDArray[np.float64]:
    labels = _validation.column_or_1d(y, warn=True).astype(np.float64)
    _validation.assert_all_finite(labels, input_name="y")
    if len(labels) != rows:
        raise InputError(f"expected {rows} labels, got {len(labels)}", "give one label per row of X")
    return np.asarray(labels, np.float64)


def _groups(ids: Any) -> Any:
    from topkit.data.groups import Groups

    return Groups.of(ids)


def _has_qid(X: Any) -> bool:
    return hasattr(X, "columns") and QID in list(X.columns)


def _without_qid(X: Any) -> Any:
    kept = [name for name in X.columns if name != QID]
    return X[kept]


def _query_ids(X: Any, qid: Any) -> NDArray[Any] | None:
    """The ids that were passed, else the column ``qid`` of X, else None."""
    if qid is None and _has_qid(X):
        qid = X[QID]
    return None if qid is None else np.asarray(qid)
