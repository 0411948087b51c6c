"""SortNet: a comparator network trained on its own sorting errors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np

from topkit.compute import Floats, Ints, Trace, one_blas_thread
from topkit.data import Dataset
from topkit.data.settings import Setting, check_fields
from topkit.rankers.sortnet.comparator import Comparator, Pairs
from topkit.rankers.sortnet.sorting import canonical_order, merge_sort
from topkit.scorers import Job
from topkit.scorers.model import filled


@dataclass
class _Side:
    """Training or validation documents with the pairs that were compared wrongly so far."""

    data: Dataset
    weights: Floats
    """One per query."""
    X: Floats
    known: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """better·n + worse of every wrong pair so far, rising."""

    @classmethod
    def of(cls, data: Dataset, weights: Floats) -> _Side:
        """The queries of weight above 0, sorted by name, with their documents sorted by features.

        Rounding errors grow from round to round, so a fixed order is needed to get the same network from a
        shuffled file.
        """
        kept = [q for q in sorted(range(data.n_queries), key=lambda q: data.qids[q]) if weights[q] > 0]
        chosen = data.select(kept)
        rows = canonical_order(filled(chosen.X), chosen.ptr, chosen.y)
        ordered = Dataset(
            np.ascontiguousarray(chosen.X[rows]), chosen.y[rows], chosen.ptr, chosen.qids, truth=chosen.truth
        )
        return cls(ordered, weights[kept], filled(ordered.X))

    def sort(self, comparator: Comparator) -> tuple[Floats, Ints]:
        """Scores that fall with the rank, and the keys of the pairs that sorting compared wrongly."""
        data, n = self.data, len(self.data)
        order, winners, losers = merge_sort(comparator.compare(self.X), data.ptr, np.arange(n))
        places = np.empty(n)
        places[order] = -np.arange(n)
        wrong = data.y[winners] < data.y[losers]
        return places, losers[wrong] * n + winners[wrong]

    def add(self, keys: Ints) -> bool:
        """Add pairs; True if any of them is new."""
        before = len(self.known)
        self.known = np.union1d(self.known, keys)
        return len(self.known) > before

    def pairs(self) -> Pairs:
        """The wrong pairs so far, query by query."""
        n = max(len(self.data), 1)
        better, worse = self.known // n, self.known % n
        weight = self.weights[self.data.query_index[better]]
        return Pairs(better, worse, weight, np.searchsorted(better, self.data.ptr).astype(np.int64))


@dataclass(frozen=True)
class SortNet:
    """A comparator network trained on its own sorting errors; it gives an order, no scores.

    In each round the network of :class:`~topkit.rankers.sortnet.comparator.Comparator` sorts the training and
    validation documents (merge sort). Pairs with different labels that it compares wrongly are added to the
    pairs of earlier rounds. The network is trained on them by squared error plus ½·l2·‖weights‖² per pair
    (L-BFGS), and the epoch with the smallest error on the validation pairs goes to the next round. With
    ``restart``, each round trains a new random network instead, as published. Training ends when sorting
    makes no new error, or after ``rounds``. The round with the best metric on validation
    data (on training data without) is kept. Rigutini, Papini, Maggini & Scarselli, LR4IR 2008.

    Use it if the order of two documents depends on both in a way that no score can express. Not if you need
    scores, export or fast ranking: it compares pairs.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("sortnet").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "sortnet"
    summary: ClassVar[str] = "SortNet: a symmetric comparator network that sorts"
    learns_from: ClassVar[tuple[str, ...]] = ("labels",)

    hidden: Annotated[int, Setting("Hidden neurons, each with its dual.", low=1, search=(10, 20, 30))] = 10
    rounds: Annotated[int, Setting("Largest number of rounds of sorting and training.", low=1)] = 20
    epochs: Annotated[int, Setting("L-BFGS steps per round.", low=1)] = 50
    l2: Annotated[float, Setting("Weight penalty per pair.", low=0, search=(1e-3, 1e-2, 1e-1))] = 0.01
    restart: Annotated[
        bool, Setting("Whether each round trains a new random network, as published, or the last one.")
    ] = False

    def __post_init__(self) -> None:
        check_fields(self)

    @one_blas_thread()
    def train(self, job: Job) -> tuple[Comparator, list[Trace]]:
        """The best comparator, and the trace of the metric, round by round."""
        train = _Side.of(job.train, job.query_weights)
        valid = None if job.valid is None else _Side.of(job.valid, np.ones(job.valid.n_queries))
        judged = train if valid is None else valid
        comparator = best = Comparator.random(job.train.n_features, self.hidden, job.seed)
        trace = Trace(self.rounds, larger_is_better=True)
        going = True
        while going:
            places, wrong = train.sort(comparator)
            has_new_errors = train.add(wrong)
            if valid is not None:
                places, wrong = valid.sort(comparator)
                has_new_errors |= valid.add(wrong)
            going = trace.go_on(job.measure(judged.data, places))
            job.report("measure", trace.steps, self.rounds, trace.values[-1])
            if trace.best_step == trace.steps:
                best = comparator
            if not has_new_errors:
                trace.reason = trace.reason or "settled"
                going = False
            if going and len(train.known):
                if self.restart:
                    seed = job.seed + trace.steps + 1
                    comparator = Comparator.random(job.train.n_features, self.hidden, seed)
                comparator = self._trained(comparator, train, valid)
        return replace(best, cyclic=best.intransitivity(judged.data, seed=job.seed)), [trace]

    def _trained(self, start: Comparator, train: _Side, valid: _Side | None) -> Comparator:
        """The comparator trained on the pairs so far, at its best epoch on the validation pairs."""
        from scipy.optimize import fmin_l_bfgs_b

        pairs = train.pairs()
        total = float(pairs.weight.sum())
        checks = valid.pairs() if valid is not None and len(valid.known) else None

        def objective(vector: Floats) -> tuple[float, Floats]:
            value, gradient = start.with_vector(vector).error(train.X, train.data.ptr, pairs)
            return value / total + 0.5 * self.l2 * float(vector @ vector), gradient / total + self.l2 * vector

        best, smallest_error = start.vector(), np.inf

        def after_epoch(vector: Floats) -> None:
            nonlocal best, smallest_error
            if checks is None or valid is None:
                best = vector.copy()
                return
            error = start.with_vector(vector).error(valid.X, valid.data.ptr, checks)[0]
            if error < smallest_error:
                best, smallest_error = vector.copy(), error

        fmin_l_bfgs_b(objective, start.vector(), callback=after_epoch, maxiter=self.epochs)
        return start.with_vector(best)
