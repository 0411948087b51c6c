"""The dependent click model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.models.chain import Chain, ChainPlan, fit_chain
from topkit.clicks.models.em import EM
from topkit.compute import Floats, fields_as_parameters


@dataclass(frozen=True, eq=False, repr=False)
class DependentClick(Chain):
    """After a click, a user continues with a probability that depends on the position."""

    name: ClassVar[str] = "dcm"
    by_position: Floats = field(default_factory=lambda: np.ones(1))
    """P(continue | click) of positions 1, 2, …."""

    def unsatisfied(self, log: ClickLog) -> Floats:
        position = np.minimum(log.position.astype(np.int64), len(self.by_position)) - 1
        values: Floats = self.by_position[position]
        return values


@fields_as_parameters(EM)
def dcm(log: ClickLog, em: EM) -> DependentClick:
    """Dependent click: a cascade whose users continue after a click, by a probability per position.

    Whether a user went on after the last click is not known, so the fit is by expectation–maximisation, not
    by the lower bound of the paper, which assumes that nobody did. Guo, Liu & Wang, WSDM 2009.

    Use it for pages with several clicks if what follows a click depends on the position. Not if it depends on
    the document; see `dbn`.
    """
    positions = log.n_positions
    plan = ChainPlan(log.position.astype(np.int32) - 1, positions, False, 1.0)
    fit = fit_chain(log, plan, em)
    return DependentClick(log.pairs, fit.attraction, fit.average, fit.trace, 1.0, fit.unsatisfied)
