"""The Mallows model of rankings: the model, EM for rankers of unequal skill, and fusion by it."""

from topkit.aggregate.mallows.dispersion import ListLaw
from topkit.aggregate.mallows.em import MallowsFit, Problem, Sampler, fit_mallows
from topkit.aggregate.mallows.fusion import mallows, scale_reduction
from topkit.aggregate.mallows.model import (
    expected_distance,
    expected_top_k_distance,
    log_likelihood,
    log_normaliser,
    probabilities,
    sample,
)

__all__ = [
    "ListLaw",
    "MallowsFit",
    "Problem",
    "Sampler",
    "expected_distance",
    "expected_top_k_distance",
    "fit_mallows",
    "log_likelihood",
    "log_normaliser",
    "mallows",
    "probabilities",
    "sample",
    "scale_reduction",
]
