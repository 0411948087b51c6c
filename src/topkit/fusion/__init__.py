"""Combining rankings without labels: Mallows, ULARA, agreement weights, Borda and the rest."""

from topkit.fusion.ballots import Ballots
from topkit.fusion.distances import kendall_distance, spearman_distance, top_k_distance
from topkit.fusion.formats import read_rankings, runs_of_lists, write_ranking_table
from topkit.fusion.fuse import AGGREGATORS, DEFAULT, aggregate, fuse, learns_across_queries, settings_of
from topkit.fusion.luce import aggregate_preferences
from topkit.fusion.result import Fusion, Outcome

__all__ = [
    "AGGREGATORS",
    "DEFAULT",
    "Ballots",
    "Fusion",
    "Outcome",
    "aggregate",
    "aggregate_preferences",
    "fuse",
    "kendall_distance",
    "learns_across_queries",
    "read_rankings",
    "runs_of_lists",
    "settings_of",
    "spearman_distance",
    "top_k_distance",
    "write_ranking_table",
]
