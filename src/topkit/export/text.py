"""JSON with the same options for every exporter."""

from __future__ import annotations

import json
from typing import Any


def json_bytes(value: Any) -> bytes:
    """JSON with the shortest digits that round-trip exactly; NaN and infinities are errors."""
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
