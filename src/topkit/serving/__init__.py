"""Scores candidate lists over HTTP with a trained ranker. Needs the extra ``serve``."""

from __future__ import annotations

from topkit.compute.extras import check_extra

check_extra("serve", ("fastapi", "uvicorn", "httptools", "prometheus_client"))

from topkit.serving.app import ServiceSettings, create_app  # noqa: E402 - after the check, which names the extra
from topkit.serving.refusal import Limits  # noqa: E402

__all__ = ["Limits", "ServiceSettings", "create_app"]
