"""topkit: label the top k with few human judgments, learn a ranker from them, and know how good it is.

Every public name is loaded when it is first used, so that ``import topkit`` and the command line start fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from topkit.data import Dataset as Dataset
    from topkit.data import Grade as Grade
    from topkit.data import InputError as InputError
    from topkit.data import Judgments as Judgments
    from topkit.data import Page as Page
    from topkit.data import Preference as Preference
    from topkit.data import Run as Run
    from topkit.data import Truth as Truth
    from topkit.data import concatenate as concatenate
    from topkit.losses import LOSSES as LOSSES
    from topkit.losses import loss as loss

_ROOM_OF = {
    "Dataset": "topkit.data",
    "Grade": "topkit.data",
    "InputError": "topkit.data",
    "Judgments": "topkit.data",
    "Page": "topkit.data",
    "Preference": "topkit.data",
    "Run": "topkit.data",
    "Truth": "topkit.data",
    "concatenate": "topkit.data",
    "LOSSES": "topkit.losses",
    "loss": "topkit.losses",
}

__all__ = sorted([*_ROOM_OF, "__version__"])  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'topkit' has no attribute {name!r}")
    value = getattr(import_module(_ROOM_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
