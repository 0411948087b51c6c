"""The dictionaries of methods and models by name.

They are empty here and filled in :mod:`topkit.rankers.registry`, so that a method that refers to others by
name (a mixture of rankers, for instance) can import them without importing every method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from topkit.rankers.contract import Method

RANKERS: dict[str, Callable[..., Method]] = {}
MODELS: dict[str, Any] = {}
