"""Aggregation by Luce's choice axiom: every document has a worth, and choices follow it."""

from topkit.aggregate.luce.fusion import bradley_terry, plackett_luce
from topkit.aggregate.luce.likelihood import bradley_terry_loss, fit_worths, plackett_luce_loss
from topkit.aggregate.luce.preferences import aggregate_preferences

__all__ = [
    "aggregate_preferences",
    "bradley_terry",
    "bradley_terry_loss",
    "fit_worths",
    "plackett_luce",
    "plackett_luce_loss",
]
