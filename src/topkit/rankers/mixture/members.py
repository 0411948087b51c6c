"""Members of a mixture: each trained source calibrated in several ways, measured and weighted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from topkit.compute import Trace
from topkit.metrics.compiled import Measured
from topkit.rankers.classes import Classes
from topkit.rankers.mixture.calibration import calibrate, truth_of
from topkit.rankers.mixture.mixture import Member, Mixture, Source
from topkit.rankers.mixture.split import CalibrationSplit
from topkit.rankers.mixture.weights import VARIANTS, best_strength, exponential_weights
from topkit.scorers import Floats, Linear, Model


@dataclass(frozen=True)
class Trained:
    """A trained source, the classes that it separates or is calibrated to, and its training traces."""

    source: Source
    classes: Classes
    traces: list[Trace]


@dataclass(frozen=True)
class Measurement:
    """Calibrated and measured members: their mixture, still without weights, and their scores."""

    mixture: Mixture
    scores: Floats
    """Of every member on the measuring data: members × documents."""
    measured: Measured

    def weighed(self, variant: str) -> Mixture:
        """The mixture of a variant; its strength c is the one with the best measure of the mixture itself."""
        chosen = VARIANTS[variant]
        included = np.array([chosen.includes(member.head) for member in self.mixture.members], bool)
        if not included.any():
            included[:] = True  # a mixture of rankers only has no class probabilities, for instance
        measures = np.array([member.measure for member in self.mixture.members])

        def judge(strength: float) -> float:
            return self.measured.mean(exponential_weights(measures, included, strength) @ self.scores)

        strength = 0.0 if chosen.only_best else best_strength(judge)
        weights = exponential_weights(measures, included, strength, chosen.only_best)
        members = [
            replace(member, weight=float(weight))
            for member, weight in zip(self.mixture.members, weights, strict=True)
        ]
        return replace(self.mixture, members=tuple(members), strength=strength)


def measure_members(
    split: CalibrationSplit, trained: Sequence[Trained], calibrations: Sequence[str]
) -> Measurement:
    """Calibrate every stage of every source on the calibration part; measure on the measuring part."""
    job = split.job
    measured = Measured.of(split.view("measure"), job.metric, job.convention)
    weights = job.query_weights[split.calibration_queries]
    grades = split.grades_in(split.calibration_queries)
    members: list[Member] = []
    scores: list[Floats] = []
    for number, item in enumerate(trained):
        source = item.source
        calibration_data = split.view("calibrate", source.normalisation)
        truth = truth_of(calibration_data, item.classes.index(grades), item.classes.gains, weights)
        fitted_outputs = source.outputs(calibration_data)
        measured_outputs = source.outputs(split.view("measure", source.normalisation))
        for stage, outputs in enumerate(fitted_outputs):
            for head in calibrate(outputs, truth, calibrations, source.reach(stage)):
                gains = head.gain(measured_outputs[stage], source.gains)
                members.append(Member(number, stage, head, measured.mean(gains)))
                scores.append(gains)
        job.report("members", number + 1, len(trained), float(len(members)))
    sources = tuple(item.source for item in trained)
    return Measurement(Mixture(sources, tuple(members), job.metric), np.stack(scores), measured)


def best_member(
    split: CalibrationSplit, fit: Callable[[CalibrationSplit, Classes], Trained], calibration: str
) -> tuple[Model, list[Trace]]:
    """One classifier with one calibration, at the stage with the best measure."""
    if len(split.classes) < 2:
        return no_classes(split), []
    trained = fit(split, split.classes)
    mixture = measure_members(split, [trained], [calibration]).weighed("one-best")
    return mixture.only_used(), trained.traces


def no_classes(split: CalibrationSplit) -> Linear:
    """The model for data with one grade, where there is nothing to learn: all scores are 0."""
    return Linear(np.zeros(split.job.train.n_features))
