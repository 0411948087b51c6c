"""SortNet: a comparator network that learns from the mistakes it makes while sorting."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Trace, one_blas_thread
from topkit.data import Dataset
from topkit.rankers.contract import Job
from topkit.rankers.labels import labels_only
from topkit.rankers.sortnet.comparator import Comparator, Pairs
from topkit.rankers.sortnet.sorting import canonical_order, merge_sort
from topkit.scorers import Floats, Space, check
from topkit.scorers.network import filled

Ints = NDArray[np.int64]


@dataclass
class _Side:
    """Training or validation documents with the pairs that were compared wrongly so far."""

    data: Dataset
    weights: Floats
    """One a query."""
    X: Floats
    known: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """better·n + worse of every pair so far, rising."""

    @classmethod
    def of(cls, data: Dataset, weights: Floats) -> _Side:
        """Queries that count, by name, and their documents by features.

        Rounding grows from round to round; with one order for all, a shuffled file gives the same network.
        """
        kept = [q for q in sorted(range(data.n_queries), key=lambda q: data.qids[q]) if weights[q] > 0]
        chosen = data.select(kept)
        rows = canonical_order(filled(chosen.X), chosen.ptr, chosen.y)
        ordered = Dataset(
            np.ascontiguousarray(chosen.X[rows]), chosen.y[rows], chosen.ptr, chosen.qids, truth=chosen.truth
        )
        return cls(ordered, weights[kept], filled(ordered.X))

    def sort(self, comparator: Comparator) -> tuple[Floats, Ints]:
        """Scores that fall down the order, and the keys of the pairs that sorting compared wrongly."""
        data, n = self.data, len(self.data)
        order, winners, losers = merge_sort(comparator.compare(self.X), data.ptr, np.arange(n))
        places = np.empty(n)
        places[order] = -np.arange(n)
        wrong = data.y[winners] < data.y[losers]
        return places, losers[wrong] * n + winners[wrong]

    def learn_of(self, keys: Ints) -> bool:
        """Add pairs; whether any of them is new."""
        before = len(self.known)
        self.known = np.union1d(self.known, keys)
        return len(self.known) > before

    def pairs(self) -> Pairs:
        """The pairs so far, query by query."""
        n = max(len(self.data), 1)
        better, worse = self.known // n, self.known % n
        weight = self.weights[self.data.query_index[better]]
        return Pairs(better, worse, weight, np.searchsorted(better, self.data.ptr).astype(np.int64))


@dataclass(frozen=True)
class SortNet:
    """A comparator network trained on mistakes made while sorting; it has an order and no score.

    The network of :class:`~topkit.rankers.sortnet.comparator.Comparator` sorts the training and validation
    documents (merge sort); the pairs of differing labels it compares wrongly join the pairs of earlier
    rounds; it is trained on them by squared error plus ½·l2·‖weights‖² a pair (L-BFGS, ``epochs`` steps at
    most), and the epoch with the least error on the validation pairs goes to the next round. It ends when
    sorting makes no mistake that is not known, or after ``rounds``. The round whose order has the best
    measure on validation data (training data if there is none) is kept. Rigutini, Papini, Maggini &
    Scarselli, LR4IR 2008.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("sortnet").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "sortnet"
    summary: ClassVar[str] = "SortNet: a symmetric comparator network that sorts"
    space: ClassVar[Space] = {"hidden": (10, 20, 30), "l2": (1e-3, 1e-2, 1e-1)}

    hidden: int = 10
    """Neurons, each with its dual."""
    rounds: int = 20
    epochs: int = 50
    l2: float = 0.01

    def __post_init__(self) -> None:
        check(self.hidden >= 1, "hidden", self.hidden, "at least 1")
        check(self.rounds >= 1, "rounds", self.rounds, "at least 1")
        check(self.epochs >= 1, "epochs", self.epochs, "at least 1")
        check(self.l2 >= 0, "l2", self.l2, "0 or more")

    @one_blas_thread()
    def train(self, job: Job) -> tuple[Comparator, list[Trace]]:
        """The best comparator, and the trace of the measure, round by round."""
        labels_only(job, "sortnet")
        train = _Side.of(job.train, job.query_weights)
        valid = None if job.valid is None else _Side.of(job.valid, np.ones(job.valid.n_queries))
        judged = train if valid is None else valid
        comparator = best = Comparator.random(job.train.n_features, self.hidden, job.seed)
        trace = Trace(self.rounds, larger_is_better=True)
        going = True
        while going:
            places, wrong = train.sort(comparator)
            news = train.learn_of(wrong)
            if valid is not None:
                places, wrong = valid.sort(comparator)
                news |= valid.learn_of(wrong)
            going = trace.go_on(job.measure(judged.data, places))
            job.report("measure", trace.steps, self.rounds, trace.values[-1])
            if trace.best_step == trace.steps:
                best = comparator
            if not news:
                trace.reason = trace.reason or "settled"
                going = False
            if going:
                comparator = self._trained(comparator, train, valid)
        return replace(best, cyclic=best.intransitivity(judged.data, seed=job.seed)), [trace]

    def _trained(self, start: Comparator, train: _Side, valid: _Side | None) -> Comparator:
        """The comparator after training on the pairs so far, at its best epoch on the validation pairs."""
        from scipy.optimize import fmin_l_bfgs_b

        pairs = train.pairs()
        total = float(pairs.weight.sum())
        if total == 0:
            return start
        checks = valid.pairs() if valid is not None and len(valid.known) else None

        def objective(vector: Floats) -> tuple[float, Floats]:
            value, gradient = start.with_vector(vector).error(train.X, train.data.ptr, pairs)
            return value / total + 0.5 * self.l2 * float(vector @ vector), gradient / total + self.l2 * vector

        best, least = start.vector(), np.inf

        def after_epoch(vector: Floats) -> None:
            nonlocal best, least
            if checks is None or valid is None:
                best = vector.copy()
                return
            error = start.with_vector(vector).error(valid.X, valid.data.ptr, checks)[0]
            if error < least:
                best, least = vector.copy(), error

        fmin_l_bfgs_b(objective, start.vector(), callback=after_epoch, maxiter=self.epochs)
        return start.with_vector(best)
