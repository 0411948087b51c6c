"""JSON as every exporter writes it."""

from __future__ import annotations

import json
from typing import Any


def json_bytes(value: Any) -> bytes:
    """JSON with the shortest digits that read back exactly; NaN and infinities are errors."""
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
