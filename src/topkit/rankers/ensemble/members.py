"""Calibrating what was trained in every way, measuring each result, and weighing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from topkit.metrics.compiled import Measured
from topkit.rankers.ensemble.calibration import calibrate, truth_of
from topkit.rankers.ensemble.mixture import Member, Mixture
from topkit.rankers.ensemble.weights import VARIANTS, best_strength, exponential_weights
from topkit.rankers.ensemble.workshop import Trained, Workshop
from topkit.scorers import Floats


@dataclass(frozen=True)
class Measurement:
    """Members that are calibrated and measured: their mixture, still without weights, and their scores."""

    mixture: Mixture
    scores: Floats
    """Of every member on the measuring data: members × documents."""
    measured: Measured

    def weighed(self, variant: str) -> Mixture:
        """The mixture of a variant; its strength c is chosen by the measure of the mixture itself."""
        chosen = VARIANTS[variant]
        takes_part = np.array([chosen.takes(member.head) for member in self.mixture.members], bool)
        if not takes_part.any():
            takes_part[:] = True  # rankers alone have no class probabilities, for instance
        measures = np.array([member.measure for member in self.mixture.members])

        def judge(strength: float) -> float:
            return self.measured.mean(exponential_weights(measures, takes_part, strength) @ self.scores)

        strength = 0.0 if chosen.only_best else best_strength(judge)
        weights = exponential_weights(measures, takes_part, strength, chosen.only_best)
        members = [
            replace(member, weight=float(weight))
            for member, weight in zip(self.mixture.members, weights, strict=True)
        ]
        return replace(self.mixture, members=tuple(members), strength=strength)


def measure_members(shop: Workshop, trained: Sequence[Trained], calibrations: Sequence[str]) -> Measurement:
    """Calibrate every stage of every source on the calibration part; measure on the measuring part."""
    job = shop.job
    measured = Measured.of(shop.view("measure"), job.metric, job.convention)
    weights = job.query_weights[shop.holders]
    grades = shop.grades_in(shop.holders)
    members: list[Member] = []
    scores: list[Floats] = []
    for number, one in enumerate(trained):
        source = one.source
        held = shop.view("calibrate", source.normalisation)
        truth = truth_of(held, one.classes.index(grades), one.classes.gains, weights)
        on_held = source.outputs(held)
        on_measured = source.outputs(shop.view("measure", source.normalisation))
        for stage, outputs in enumerate(on_held):
            for head in calibrate(outputs, truth, calibrations, source.reach(stage)):
                given = head.gain(on_measured[stage], source.gains)
                members.append(Member(number, stage, head, measured.mean(given)))
                scores.append(given)
        job.report("members", number + 1, len(trained), float(len(members)))
    sources = tuple(one.source for one in trained)
    return Measurement(Mixture(sources, tuple(members), job.metric), np.stack(scores), measured)
