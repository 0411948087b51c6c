"""Click models by name: each is one function from a log to a fitted model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from topkit.clicks.log import ClickLog
from topkit.clicks.models.base import ClickModel
from topkit.clicks.models.cascade import cascade
from topkit.clicks.models.dbn import dbn, sdbn
from topkit.clicks.models.dcm import dcm
from topkit.clicks.models.pbm import pbm
from topkit.clicks.models.trust import trust
from topkit.clicks.models.ubm import ubm
from topkit.compute import Report, silent
from topkit.data.settings import check_settings, lookup, settings_of

CLICK_MODELS: dict[str, Callable[..., ClickModel]] = {
    "pbm": pbm,
    "trust": trust,
    "cascade": cascade,
    "dcm": dcm,
    "dbn": dbn,
    "sdbn": sdbn,
    "ubm": ubm,
}
"""Name → function that fits the model to a log."""

__all__ = ["CLICK_MODELS", "ClickModel", "fit_click_model"]


def fit_click_model(
    log: ClickLog, name: str = "pbm", *, report: Report = silent, **settings: Any
) -> ClickModel:
    """Fit the click model of this name to a log.

    >>> from topkit.data import Page
    >>> log = ClickLog.of_pages([Page("q", ("a", "b"), (True, False)), Page("q", ("b", "a"), (False, True))])
    >>> model = fit_click_model(log, "pbm", smoothing=0)
    >>> model.attraction.round(2).tolist()
    [1.0, 0.0]
    """
    fit = lookup(CLICK_MODELS, name, "click model")
    return fit(log, **check_settings(settings_of(fit), settings, f"click model {name!r}"), report=report)
