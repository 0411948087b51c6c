"""topkit: label the top k with few human judgments, learn a ranker from them, and know how good it is.

Every public name is loaded when it is first used, so that ``import topkit`` and the command line start fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topkit.version import __version__ as __version__

if TYPE_CHECKING:
    from topkit.aggregate import AGGREGATORS as AGGREGATORS
    from topkit.aggregate import aggregate as aggregate
    from topkit.aggregate import fuse as fuse
    from topkit.data import Dataset as Dataset
    from topkit.data import Grade as Grade
    from topkit.data import InputError as InputError
    from topkit.data import Judgments as Judgments
    from topkit.data import Page as Page
    from topkit.data import Preference as Preference
    from topkit.data import Run as Run
    from topkit.data import Truth as Truth
    from topkit.data import concatenate as concatenate
    from topkit.data import folds as folds
    from topkit.data import normalise as normalise
    from topkit.data import read_letor as read_letor
    from topkit.data import read_pages as read_pages
    from topkit.data import read_parquet as read_parquet
    from topkit.data import read_preferences as read_preferences
    from topkit.data import read_qrels as read_qrels
    from topkit.data import read_run as read_run
    from topkit.data import read_scores as read_scores
    from topkit.data import split as split
    from topkit.data import write_letor as write_letor
    from topkit.data import write_pages as write_pages
    from topkit.data import write_parquet as write_parquet
    from topkit.data import write_preferences as write_preferences
    from topkit.data import write_qrels as write_qrels
    from topkit.data import write_run as write_run
    from topkit.data import write_scores as write_scores
    from topkit.export import EXPORTERS as EXPORTERS
    from topkit.export import export_ranker as export_ranker
    from topkit.features import audit as audit
    from topkit.features import best_sentences as best_sentences
    from topkit.features import build_dataset as build_dataset
    from topkit.features import build_index as build_index
    from topkit.features import open_index as open_index
    from topkit.features import read_documents as read_documents
    from topkit.features import read_links as read_links
    from topkit.features import read_queries as read_queries
    from topkit.labelling import STRATEGIES as STRATEGIES
    from topkit.labelling import Labelling as Labelling
    from topkit.labelling import SimulatedAssessor as SimulatedAssessor
    from topkit.labelling import TopK as TopK
    from topkit.labelling import consensus as consensus
    from topkit.labelling import label_dataset as label_dataset
    from topkit.labelling import merged as merged
    from topkit.losses import LOSSES as LOSSES
    from topkit.losses import loss as loss
    from topkit.metrics import CONVENTIONS as CONVENTIONS
    from topkit.metrics import METRICS as METRICS
    from topkit.metrics import compare as compare
    from topkit.metrics import evaluate as evaluate
    from topkit.metrics import evaluate_run as evaluate_run
    from topkit.metrics import metric as metric
    from topkit.rankers import RANKERS as RANKERS
    from topkit.rankers import Clicks as Clicks
    from topkit.rankers import continue_training as continue_training
    from topkit.rankers import load_ranker as load_ranker
    from topkit.rankers import ranker as ranker
    from topkit.rankers.linear import pair_margins as pair_margins
    from topkit.rankers.linear import refine as refine
    from topkit.scale import train_in_parts as train_in_parts

_ROOM_OF = {
    "AGGREGATORS": "topkit.aggregate",
    "aggregate": "topkit.aggregate",
    "fuse": "topkit.aggregate",
    "audit": "topkit.features",
    "best_sentences": "topkit.features",
    "build_dataset": "topkit.features",
    "build_index": "topkit.features",
    "open_index": "topkit.features",
    "read_documents": "topkit.features",
    "read_links": "topkit.features",
    "read_queries": "topkit.features",
    "CONVENTIONS": "topkit.metrics",
    "Labelling": "topkit.labelling",
    "STRATEGIES": "topkit.labelling",
    "SimulatedAssessor": "topkit.labelling",
    "TopK": "topkit.labelling",
    "consensus": "topkit.labelling",
    "label_dataset": "topkit.labelling",
    "merged": "topkit.labelling",
    "Dataset": "topkit.data",
    "EXPORTERS": "topkit.export",
    "Grade": "topkit.data",
    "InputError": "topkit.data",
    "Judgments": "topkit.data",
    "LOSSES": "topkit.losses",
    "METRICS": "topkit.metrics",
    "Page": "topkit.data",
    "Preference": "topkit.data",
    "RANKERS": "topkit.rankers",
    "Clicks": "topkit.rankers",
    "continue_training": "topkit.rankers",
    "Run": "topkit.data",
    "Truth": "topkit.data",
    "concatenate": "topkit.data",
    "compare": "topkit.metrics",
    "evaluate": "topkit.metrics",
    "export_ranker": "topkit.export",
    "evaluate_run": "topkit.metrics",
    "folds": "topkit.data",
    "load_ranker": "topkit.rankers",
    "loss": "topkit.losses",
    "metric": "topkit.metrics",
    "normalise": "topkit.data",
    "pair_margins": "topkit.rankers.linear",
    "ranker": "topkit.rankers",
    "read_letor": "topkit.data",
    "read_pages": "topkit.data",
    "read_parquet": "topkit.data",
    "read_preferences": "topkit.data",
    "read_qrels": "topkit.data",
    "read_run": "topkit.data",
    "refine": "topkit.rankers.linear",
    "read_scores": "topkit.data",
    "split": "topkit.data",
    "train_in_parts": "topkit.scale",
    "write_scores": "topkit.data",
    "write_letor": "topkit.data",
    "write_pages": "topkit.data",
    "write_parquet": "topkit.data",
    "write_preferences": "topkit.data",
    "write_qrels": "topkit.data",
    "write_run": "topkit.data",
}

__all__ = sorted([*_ROOM_OF, "__version__"])  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'topkit' has no attribute {name!r}")
    room = import_module(_ROOM_OF[name])
    # `aggregate` is a room and a function: the room can be called, so both are one object.
    value = room if room.__name__ == f"topkit.{name}" else getattr(room, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
