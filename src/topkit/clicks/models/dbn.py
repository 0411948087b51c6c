"""The dynamic Bayesian network model, and its simplified form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.models.chain import Chain, ChainPlan, fit_chain
from topkit.clicks.models.em import EM
from topkit.compute import Floats, fields_as_parameters


@dataclass(frozen=True, eq=False, repr=False)
class DynamicBayesian(Chain):
    """A click satisfies with a probability per document; unsatisfied users continue with a constant one."""

    name: ClassVar[str] = "dbn"
    satisfaction: Floats = field(default_factory=lambda: np.zeros(0))
    """P(satisfied | click) of each pair."""

    def unsatisfied(self, log: ClickLog) -> Floats:
        place = self.pairs.find(log.pairs)
        values: Floats = np.where(place >= 0, 1.0 - self.satisfaction[place], 0.5)[log.pair]
        return values

    @property
    def relevance(self) -> Floats:
        """Attraction × satisfaction of each pair: what the paper ranks by."""
        return self.attraction * self.satisfaction


class SimplifiedDynamicBayesian(DynamicBayesian):
    """The dynamic Bayesian model of users who always continue until they are satisfied."""

    name: ClassVar[str] = "sdbn"


@fields_as_parameters(EM)
def dbn(log: ClickLog, em: EM) -> DynamicBayesian:
    """Dynamic Bayesian: a click satisfies with a probability per document, else users continue with γ.

    Attraction, satisfaction and γ by expectation–maximisation. Chapelle & Zhang, WWW 2009.

    Use it if users leave once they found what they need: attraction × satisfaction is then the relevance. Not
    for logs of counts.
    """
    plan = ChainPlan(log.pair, len(log.pairs), True, em.smoothing)
    fit = fit_chain(log, plan, em)
    return DynamicBayesian(
        log.pairs, fit.attraction, fit.average, fit.trace, fit.onward, 1.0 - fit.unsatisfied
    )


@fields_as_parameters(EM)
def sdbn(log: ClickLog, em: EM) -> SimplifiedDynamicBayesian:
    """Simplified dynamic Bayesian: unsatisfied users always continue (γ = 1).

    Fitted by expectation–maximisation. The counting of the paper (section 5), which takes every last click
    for a satisfied one, is biased if satisfied users are rare. Chapelle & Zhang, WWW 2009.

    Use it instead of `dbn` for few pages: it has one parameter less to confuse with satisfaction. Not if many
    users leave without a click.
    """
    plan = ChainPlan(log.pair, len(log.pairs), False, em.smoothing)
    fit = fit_chain(log, plan, em)
    return SimplifiedDynamicBayesian(
        log.pairs, fit.attraction, fit.average, fit.trace, 1.0, 1.0 - fit.unsatisfied
    )
