"""JSON Lines files: one object per line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from topkit.data.files import MAX_LINE_BYTES, FilePath
from topkit.data.json_rows import json_rows
from topkit.data.text_lines import text_lines


def read_records(
    path: FilePath, remedy: str, longest: int = MAX_LINE_BYTES
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The line number and the object of each line that is not empty; lines have at most ``longest`` bytes."""
    return json_rows(text_lines(path, longest), path, remedy)
