"""Data larger than memory: training in parts (out of core or on Dask), and maps over queries."""

from __future__ import annotations

from topkit.scale.maps import build_dataset_on, evaluate_on, fuse_on
from topkit.scale.score import score_file
from topkit.scale.tasks import tune_on
from topkit.scale.train import parse_memory, train_in_parts

__all__ = [
    "build_dataset_on",
    "evaluate_on",
    "fuse_on",
    "parse_memory",
    "score_file",
    "train_in_parts",
    "tune_on",
]
