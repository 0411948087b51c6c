"""Lines with their numbers, as the readers of texts take them."""

from __future__ import annotations

from collections.abc import Iterator

Lines = Iterator[tuple[int, str]]
"""Lines with their numbers."""
