"""RankSVM with a radial kernel, on Nyström features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from topkit.compute import Floats, Trace, one_blas_thread
from topkit.data import Dataset
from topkit.data.settings import Setting, Span, check_fields
from topkit.rankers.pairs import PairSet, PairTop
from topkit.rankers.radial.model import Gamma, RadialKernel, Scale, gammas_to_try, kernel_matrix
from topkit.rankers.svm.pairs import LOSSES
from topkit.rankers.svm.path import COST, MaxSteps
from topkit.rankers.svm.ranksvm import RankSVM
from topkit.scorers import Job

SMALLEST_SHARE = 1e-7
"""Eigenvalues of the kernel below this share of the largest are dropped: features are 32-bit numbers."""


@dataclass(frozen=True)
class RankSVMRBF:
    """RankSVM with the kernel exp(−γ‖x − z‖²): ½‖f‖² + C Σ φ(f(x_u) − f(x_v)), φ the hinge or its square.

    f is a sum of kernels around ``points`` training documents, drawn at random (the Nyström approximation).
    With at least as many points as distinct documents this is the exact kernel machine, whose minimiser is a
    sum of kernels around training documents. γ and C are selected on validation data. Joachims, KDD 2002;
    Williams & Seeger, NIPS 2000; for sentence selection Metzler & Kanungo, LR4IR 2008.

    Use it if features interact and there are too few queries for boosted trees. Not if `ranksvm` is as good
    on validation data: it is faster and can be explained.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.5]], [0, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("ranksvm-rbf", C=10.0, gamma=1.0).fit(data).rank(data)["q"][0][0]
    'q:3'
    """

    normalisation: ClassVar[str] = "z-score"
    learns_from: ClassVar[tuple[str, ...]] = ("labels", "preferences")
    summary: ClassVar[str] = "RankSVM with a radial kernel"

    gamma: Gamma = None
    C: Annotated[float | None, Setting(COST, above=0, search=Span(1e-7, 10.0, log=True))] = None
    points: Annotated[int, Setting("Training documents that the kernel is computed with.", low=1)] = 300
    loss: Annotated[str, Setting("Loss of a pair.", choices=LOSSES)] = "squared-hinge"
    pairs: PairSet = "all"
    k: PairTop = 10
    max_steps: MaxSteps = 1000

    def __post_init__(self) -> None:
        check_fields(self)

    @one_blas_thread()
    def train(self, job: Job) -> tuple[RadialKernel, list[Trace]]:
        """The model with the best γ and C on validation data, and the traces of all fits."""
        scale = Scale.of(job.train.X)
        X = scale(job.train.X)
        points = draw_points(X[np.repeat(job.query_weights, job.train.lengths) > 0], self.points, job.seed)
        linear = RankSVM(self.loss, self.pairs, self.k, self.C, self.max_steps)
        best: tuple[float, RadialKernel] | None = None
        traces: list[Trace] = []
        for gamma in gammas_to_try(self.gamma, job):
            to_features = nystroem(points, gamma)

            def mapped(data: Dataset, gamma: float = gamma, matrix: Floats = to_features) -> Dataset:
                values = kernel_matrix(scale(data.X), points, gamma) @ matrix
                return data.with_features(np.ascontiguousarray(values, np.float32))

            valid = None if job.valid is None else mapped(job.valid)
            radial_job = replace(job, train=mapped(job.train), valid=valid)
            model, fits = linear.train_on(linear.whole(radial_job), radial_job)
            traces += fits
            radial = RadialKernel(scale, points, to_features @ model.weights, gamma)
            value = 0.0 if job.valid is None else job.judge(radial.score(job.valid))
            if best is None or value > best[0]:
                best = value, radial
        if best is None:
            raise AssertionError("there is at least one gamma")
        return best[1], traces


def draw_points(X: Floats, count: int, seed: int) -> Floats:
    """At most ``count`` distinct rows, drawn at random; the draw does not depend on the order of the rows."""
    rows = np.unique(X, axis=0)
    if len(rows) > count:
        rows = rows[np.sort(np.random.default_rng(seed).permutation(len(rows))[:count])]
    return np.ascontiguousarray(rows)


def nystroem(points: Floats, gamma: float) -> Floats:
    """The matrix M with (k(x, z)·M)·(k(x', z)·M) ≈ exp(−γ‖x − x'‖²); exact if x and x' are points."""
    values, vectors = np.linalg.eigh(kernel_matrix(points, points, gamma))
    kept = values > SMALLEST_SHARE * values[-1]
    matrix: Floats = vectors[:, kept] / np.sqrt(values[kept])
    return matrix
