"""The Mallows model of rankings: the model, EM for rankers of different skill, and fusion."""

from topkit.fusion.mallows.dispersion import ListLaw
from topkit.fusion.mallows.em import MallowsFit, Problem, Sampler, Sampling, fit_mallows
from topkit.fusion.mallows.fusion import mallows, scale_reduction
from topkit.fusion.mallows.model import (
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
    "Sampling",
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
