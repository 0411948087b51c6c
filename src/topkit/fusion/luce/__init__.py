"""Fusion by Luce's choice axiom: every document has a strength, and choices follow it."""

from topkit.fusion.luce.fusion import bradley_terry, plackett_luce
from topkit.fusion.luce.likelihood import bradley_terry_loss, fit_strengths, plackett_luce_loss
from topkit.fusion.luce.preferences import aggregate_preferences

__all__ = [
    "aggregate_preferences",
    "bradley_terry",
    "bradley_terry_loss",
    "fit_strengths",
    "plackett_luce",
    "plackett_luce_loss",
]
