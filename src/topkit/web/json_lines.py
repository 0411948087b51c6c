"""JSON Lines files: one object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from topkit.data.errors import InputError
from topkit.data.files import FilePath
from topkit.features.corpus import lines


def read_records(path: FilePath, remedy: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The line number and the object of each line that is not empty."""
    for line, text in lines(path):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except ValueError as error:
            raise InputError(f"the line is not JSON ({error})", remedy, file=path, line=line) from None
        if not isinstance(record, dict):
            raise InputError("the line is not a JSON object", remedy, file=path, line=line)
        yield line, record
