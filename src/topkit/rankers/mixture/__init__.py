"""Mixtures: classifiers and rankers, calibrated in many ways and added up with weights."""

from __future__ import annotations

from topkit.rankers.mixture.calibration import CALIBRATIONS, calibrate
from topkit.rankers.mixture.mixture import Mixture
from topkit.rankers.mixture.table import MemberRow, member_rows, member_table
from topkit.rankers.mixture.targets import TARGETS
from topkit.rankers.mixture.weights import VARIANTS

__all__ = [
    "CALIBRATIONS",
    "TARGETS",
    "VARIANTS",
    "MemberRow",
    "Mixture",
    "calibrate",
    "member_rows",
    "member_table",
]
