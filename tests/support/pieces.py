"""Training data in several pieces in memory, to test methods that need only totals over pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from topkit.rankers.pieces import Pieces, R
from topkit.scorers.linear import Matrix


@dataclass
class Several(Pieces):
    """States and features of pieces; results are combined as on a cluster."""

    parts: list[tuple[Any, Matrix]]

    def reduce(self, combine: Callable[[R, R], R], function: Callable[..., R], *arguments: Any) -> R:
        return reduce(combine, [function(state, X, *arguments) for state, X in self.parts])
