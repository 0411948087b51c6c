"""Members of a mixture: each trained source calibrated in several ways, measured and weighted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from topkit.compute import Bools, Floats, Trace
from topkit.metrics.compiled import Measured
from topkit.rankers.classes import Classes
from topkit.rankers.mixture.calibration import calibrate, truth_of
from topkit.rankers.mixture.mixture import Member, Mixture, Source
from topkit.rankers.mixture.split import CalibrationSplit
from topkit.rankers.mixture.weights import VARIANTS, best_strength, exponential_weights
from topkit.scorers import Linear, Model


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

    def weighed(self, variant: str, one_stage: bool = False) -> Mixture:
        """The mixture of a variant; its strength c is the one with the best measure of the mixture itself.

        With ``one_stage``, the number of rounds of all boosted members is chosen in the same way.
        """
        chosen = VARIANTS[variant]
        included = np.array([chosen.includes(member.head) for member in self.mixture.members], bool)
        if not included.any():
            included[:] = True  # a mixture of rankers only has no class probabilities, for instance
        measures = np.array([member.measure for member in self.mixture.members])
        if chosen.only_best:
            weights, strength = exponential_weights(measures, included, 0.0, only_best=True), 0.0
        else:
            parts = [included & part for part in self._stages()] if one_stage else [included]
            weights, strength = self._best_weights(measures, [part for part in parts if part.any()])
        members = [
            replace(member, weight=float(weight))
            for member, weight in zip(self.mixture.members, weights, strict=True)
        ]
        return replace(self.mixture, members=tuple(members), strength=strength)

    def _best_weights(self, measures: Floats, parts: Sequence[Bools]) -> tuple[Floats, float]:
        """Weights and c of the part of the members that mixes best; the first of equals."""
        best, best_value = (np.zeros(len(measures)), 0.0), -np.inf
        for part in parts:

            def judge(strength: float, part: Bools = part) -> float:
                return self.measured.mean(exponential_weights(measures, part, strength) @ self.scores)

            strength, value = best_strength(judge)
            if value > best_value:
                best, best_value = (exponential_weights(measures, part, strength), strength), value
        return best

    def _stages(self) -> list[Bools]:
        """For each number of rounds: the boosted members after that many rounds, and all other members.

        A classifier that stopped earlier takes part with its last stage.
        """
        members = [(self.mixture.sources[member.source], member.stage) for member in self.mixture.members]
        boosted = np.array([source.model.boosted for source, _ in members], bool)
        reached = np.array([source.stages[stage] for source, stage in members])
        last = np.array([source.stages[-1] for source, _ in members])
        every = np.unique(reached[boosted]).tolist() or [0]
        return [~boosted | (reached == np.minimum(last, rounds)) for rounds in every]


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
    """The model for data with only one grade, from which nothing can be learned: all scores are 0."""
    return Linear(np.zeros(split.job.train.n_features))
