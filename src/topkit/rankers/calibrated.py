"""Scores with a meaning: a probability of relevance or an expected grade, from any fitted ranker.

A rising function of the score is fitted to labelled data that the ranker was not trained on: a step function
(isotonic regression) or one sigmoid per grade (Platt). The order of documents stays that of the ranker.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from topkit.compute import Floats
from topkit.data import Dataset, InputError
from topkit.rankers.files import describe
from topkit.rankers.learner import Learner
from topkit.rankers.names import MODELS
from topkit.scorers import Parts, ScoreModel

METHODS = ("isotonic", "platt")
"""How scores can be calibrated."""

MOST_SIGMOIDS = 31
"""Grades above the lowest that Platt calibration accepts; full orders have more."""


@dataclass(frozen=True)
class Calibrated(ScoreModel):
    """A model whose scores are replaced by a rising function of them; it ranks by the original scores."""

    kind: ClassVar[str] = "calibrated"
    base: ScoreModel
    method: str
    first: Floats
    """isotonic: scores at the corners of the function, rising; platt: the slope of each sigmoid."""
    second: Floats
    """isotonic: values at the corners; platt: the offset of each sigmoid."""
    steps: Floats
    """platt: what each sigmoid adds to the value; isotonic: empty."""
    lowest: float
    """platt: the value without any sigmoid; isotonic: 0."""

    def score(self, data: Dataset) -> Floats:
        """The expected grade, or the probability of relevance, of each document."""
        return self.values(self.base.score(data))

    def values(self, scores: Floats) -> Floats:
        """The calibrated values of scores of the base model."""
        if self.method == "isotonic":
            return np.interp(scores, self.first, self.second).astype(np.float64)
        values = np.full(len(scores), self.lowest)
        for slope, offset, step in zip(self.first, self.second, self.steps, strict=True):
            values += step * _sigmoid(slope * scores + offset)
        return values

    def ordering_scores(self, data: Dataset) -> Floats:
        """The scores of the base model: calibrated scores of different documents may be equal."""
        return self.base.ordering_scores(data)

    @property
    def remark(self) -> str:
        return f"scores calibrated ({self.method})"

    def weights_of_features(self, features: int) -> tuple[str, Floats] | None:
        return self.base.weights_of_features(features)

    def parts(self) -> Parts:
        """The parts of the base model under ``base/``, and the function."""
        inner = self.base.parts()
        arrays = {f"base/{name}": array for name, array in inner.arrays.items()}
        return Parts(
            {
                "base": self.base.kind,
                "values": dict(inner.values),
                "method": self.method,
                "lowest": self.lowest,
            },
            {**arrays, "first": self.first, "second": self.second, "steps": self.steps},
            {f"base/{name}": text for name, text in inner.texts.items()},
        )

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        inner = Parts(
            parts.values["values"],
            {name.removeprefix("base/"): a for name, a in parts.arrays.items() if name.startswith("base/")},
            {name.removeprefix("base/"): t for name, t in parts.texts.items() if name.startswith("base/")},
        )
        kind, method = parts.values["base"], parts.values["method"]
        base = None if kind == cls.kind else MODELS[kind].of_parts(inner)
        if not isinstance(base, ScoreModel):
            raise ValueError(f"a model of kind {kind!r} cannot be calibrated")
        if method not in METHODS:
            raise ValueError(f"unknown calibration {method!r}")
        first, second, steps = (parts.floats(name) for name in ("first", "second", "steps"))
        if not len(first) == len(second) > 0 or len(steps) != (len(first) if method == "platt" else 0):
            raise ValueError("the arrays of the calibration have wrong lengths")
        if method == "isotonic" and not ((np.diff(first) > 0).all() and (np.diff(second) >= 0).all()):
            raise ValueError("the corners of the calibration must rise")
        return cls(base, method, first, second, steps, parts.number("lowest"))

    def check_features(self, features: int) -> None:
        self.base.check_features(features)


def calibrate_scores(
    ranker: Learner,
    data: Dataset,
    *,
    method: Literal["isotonic", "platt"] = "isotonic",
    relevant: float | None = None,
) -> Learner:
    """A copy of a fitted ranker whose scores are expected grades, or probabilities of relevance.

    ``data`` should be labelled data that the ranker was not trained on, such as validation data. By default
    a score becomes the expected label; with ``relevant=1`` the probability that the label is at least 1.
    ``isotonic`` fits a rising step function, ``platt`` one sigmoid per grade, with Platt's targets
    (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2): better with few documents, or if scores beyond those of ``data``
    occur. The copy ranks as before, and is saved and loaded like any ranker. Documents with negative labels
    (not judged) are left out.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[3.0], [2.0], [1.0], [0.0]], [2, 0, 1, 0], ["q"] * 4)
    >>> fitted = tk.ranker("linear-regression", normalise="none").fit(data)
    >>> calibrate_scores(fitted, data).score(data).round(3).tolist()
    [2.0, 0.5, 0.5, 0.0]
    """
    model, preparation = ranker.fitted()
    base = model.base if isinstance(model, Calibrated) else model
    if not isinstance(base, ScoreModel):
        raise InputError(
            f"the ranker {ranker.name!r} orders documents without scoring them", "calibrate another ranker"
        )
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    judged = data.y >= 0
    scores, labels = base.score(preparation(data))[judged], data.y[judged].astype(np.float64)
    if relevant is not None:
        labels = (labels >= relevant).astype(np.float64)
    if len(np.unique(labels)) < 2:
        raise InputError(
            "the calibration data needs at least two different labels",
            "use other data" if relevant is None else f"use other data, or another value than {relevant:g}",
        )
    calibrated = _isotonic(base, scores, labels) if method == "isotonic" else _platt(base, scores, labels)
    copy = replace(ranker, traces=[], provenance=dict(ranker.provenance))
    calibration = {"method": method, "relevant": relevant, "data": describe(data)}
    return copy.install(preparation, calibrated, [], {**ranker.provenance, "calibration": calibration})


def isotonic_corners(scores: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """The corners of the rising function of the score with the least squared error.

    Between corners it is linear, beyond them constant. Equal scores have one value.
    """
    from scipy.optimize import isotonic_regression

    distinct, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    means = np.bincount(place, targets) / counts
    fitted = np.asarray(isotonic_regression(means, weights=counts.astype(np.float64)).x, np.float64)
    inner = np.zeros(len(fitted), bool)  # corners inside a flat part say nothing
    inner[1:-1] = (fitted[1:-1] == fitted[:-2]) & (fitted[1:-1] == fitted[2:])
    return distinct[~inner], fitted[~inner]


def platt_sigmoid(scores: Floats, relevant: Floats) -> tuple[float, float]:
    """The slope a and offset b of the probability σ(a·s + b), by maximum likelihood with Platt's targets.

    Platt, 1999; the targets keep a and b finite for separable data.
    """
    from scipy.optimize import minimize

    positive, negative = relevant.sum(), len(relevant) - relevant.sum()
    targets = np.where(relevant > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))
    middle, scale = float(scores.mean()), float(scores.std()) or 1.0
    standard = (scores - middle) / scale

    def loss(ab: Floats) -> tuple[float, Floats]:
        z = ab[0] * standard + ab[1]
        slope = _sigmoid(z) - targets
        return float((np.logaddexp(0, z) - targets * z).sum()), np.array([slope @ standard, slope.sum()])

    start = np.array([0.0, np.log((positive + 1) / (negative + 1))])
    a, b = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-8 * len(scores)}).x
    return float(a / scale), float(b - a * middle / scale)


def _isotonic(base: ScoreModel, scores: Floats, labels: Floats) -> Calibrated:
    return Calibrated(base, "isotonic", *isotonic_corners(scores, labels), np.empty(0), 0.0)


def _platt(base: ScoreModel, scores: Floats, labels: Floats) -> Calibrated:
    grades = np.unique(labels)
    if len(grades) - 1 > MOST_SIGMOIDS:
        raise InputError(
            f"platt fits one sigmoid per grade, and the data has {len(grades)} grades",
            "use isotonic, or set relevant",
        )
    fits = [platt_sigmoid(scores, (labels >= grade).astype(np.float64)) for grade in grades[1:]]
    slopes, offsets = (np.array(column) for column in zip(*fits, strict=True))
    if (slopes <= 0).any():
        raise InputError(
            "the labels do not rise with the scores of this ranker, so they cannot be calibrated by sigmoids",
            "use isotonic, or train a better ranker",
        )
    return Calibrated(base, "platt", slopes, offsets, np.diff(grades), float(grades[0]))


def _sigmoid(z: Floats) -> Floats:
    power = np.exp(-np.abs(z))
    values: Floats = np.where(z >= 0, 1.0, power) / (1.0 + power)
    return values
