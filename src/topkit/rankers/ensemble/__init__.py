"""Tune and mix: multi-class classifiers over relevance labels, calibrated in many ways and mixed."""

from __future__ import annotations

from topkit.rankers.ensemble.calibration import CALIBRATIONS, calibrate
from topkit.rankers.ensemble.methods import AdaBoostMH, McSVM, TuneAndMix
from topkit.rankers.ensemble.mixture import Mixture
from topkit.rankers.ensemble.table import MemberRow, member_rows, member_table
from topkit.rankers.ensemble.targets import TARGETS
from topkit.rankers.ensemble.weights import VARIANTS

__all__ = [
    "CALIBRATIONS",
    "TARGETS",
    "VARIANTS",
    "AdaBoostMH",
    "McSVM",
    "MemberRow",
    "Mixture",
    "TuneAndMix",
    "calibrate",
    "member_rows",
    "member_table",
]
