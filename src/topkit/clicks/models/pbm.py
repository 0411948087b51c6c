"""The position-based model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.models.base import IndependentClicks
from topkit.clicks.models.em import EM
from topkit.clicks.models.product import fit_product
from topkit.compute import Floats, fields_as_parameters


@dataclass(frozen=True, eq=False, repr=False)
class PositionBased(IndependentClicks):
    """P(click) = attraction of the document × examination of the position."""

    name: ClassVar[str] = "pbm"
    by_position: Floats = field(default_factory=lambda: np.ones(1))
    """Examination of positions 1, 2, …; 1 at the first position."""

    def examination(self, positions: int) -> Floats:
        """P(examined) of each position; a position without data has that of the last one with data."""
        known = np.flatnonzero(np.isfinite(self.by_position))
        place = np.searchsorted(known, np.arange(positions), side="right") - 1
        values: Floats = self.by_position[known[np.maximum(place, 0)]]
        return values

    def conditional(self, log: ClickLog) -> Floats:
        seen = self.examination(max(log.n_positions, len(self.by_position)))
        return np.minimum(self.attractions(log) * seen[log.position.astype(np.int64) - 1], 1.0)


@fields_as_parameters(EM)
def pbm(log: ClickLog, em: EM) -> PositionBased:
    """Position-based: P(click) = attraction(query, document)·examination(position).

    Fitted by expectation–maximisation on counts, so the time of a step does not grow with the number of
    pages. Richardson, Dominowska & Ragno, WWW 2007; Craswell et al., WSDM 2008.

    Use it first: for propensities, and for pages on which users click several documents. Not if users stop at
    the first good result; see `dbn`.
    """
    cells, positions = log.cells(), log.n_positions
    a, g, average, trace = fit_product(cells, len(log.pairs), positions, em)
    return PositionBased(log.pairs, a, average, trace, g)
