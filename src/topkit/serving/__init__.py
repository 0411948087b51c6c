"""Serving: candidate lists in, scores out, over HTTP."""

from __future__ import annotations

from topkit.serving.app import ServiceSettings, create_app
from topkit.serving.refusal import Limits

__all__ = ["Limits", "ServiceSettings", "create_app"]
