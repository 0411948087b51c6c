"""How much assessors agree, how consistent each assessor is, and how long judgments take."""

from topkit.labelling.agreement.kappa import (
    BeyondChance,
    beyond_chance,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from topkit.labelling.agreement.outliers import TimeOutlier, time_outliers
from topkit.labelling.agreement.pairs import JudgedPairs, implied_preferences, pairs_by_grades, pairs_judged
from topkit.labelling.agreement.quality import Quality, assessor_quality, intransitive
from topkit.labelling.agreement.tables import Agreement, ChiSquare, agreement, chi_square
from topkit.labelling.agreement.timing import Timing, timing

__all__ = [
    "Agreement",
    "BeyondChance",
    "ChiSquare",
    "JudgedPairs",
    "Quality",
    "TimeOutlier",
    "Timing",
    "agreement",
    "assessor_quality",
    "beyond_chance",
    "chi_square",
    "cohen_kappa",
    "fleiss_kappa",
    "implied_preferences",
    "intransitive",
    "krippendorff_alpha",
    "pairs_by_grades",
    "pairs_judged",
    "time_outliers",
    "timing",
]
