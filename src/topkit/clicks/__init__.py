"""Clicks: logs, click models, propensities, off-policy evaluation and interleaving."""

from __future__ import annotations

from topkit.clicks.likelihood import click_fit
from topkit.clicks.log import ClickLog
from topkit.clicks.models import CLICK_MODELS, ClickModel, fit_click_model
from topkit.clicks.reading import read_clicks

__all__ = ["CLICK_MODELS", "ClickLog", "ClickModel", "click_fit", "fit_click_model", "read_clicks"]
