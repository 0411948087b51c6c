"""The objects of JSON Lines; whatever is wrong is an InputError with its line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from topkit.data.blocks import FilePath
from topkit.data.errors import InputError


def json_rows(
    lines: Iterable[tuple[int, str]], path: FilePath, remedy: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The object of each numbered line that is not blank, with its number."""
    for line, text in lines:
        if text.strip():
            yield line, json_object(text, path, line, remedy)


def json_object(text: str, path: FilePath, line: int, remedy: str) -> dict[str, Any]:
    """The JSON object in a text.

    Text that is not JSON, numbers of thousands of digits, nesting of thousands of levels, and characters that
    are half of a pair (``\\ud800``), which no file can hold, are errors.
    """
    try:
        record = json.loads(text)
        if "\\u" in text:
            json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        problem = "the JSON has half of a surrogate pair (\\ud800 to \\udfff)"
        raise InputError(problem, "write whole characters", file=path, line=line) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply", remedy, file=path, line=line) from None
    except json.JSONDecodeError as error:
        raise InputError(f"invalid JSON ({error})", remedy, file=path, line=line) from None
    except ValueError:
        raise InputError("the JSON has a number with too many digits", remedy, file=path, line=line) from None
    if not isinstance(record, dict):
        problem = f"expected a JSON object, got {type(record).__name__}"
        raise InputError(problem, remedy, file=path, line=line)
    return record
