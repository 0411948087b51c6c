"""The records of CSV text, each with the line where it starts; whatever is wrong is an InputError."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from topkit.data.blocks import FilePath
from topkit.data.errors import InputError

MAX_FIELD = 16 << 20
"""Characters of a field. Python's own limit of 128 KB is too small for documents."""
SEPARATORS = ",;\t"
"""The separators that are detected; spreadsheets write ``;`` where the comma is a decimal point."""


def csv_rows(
    lines: Iterable[tuple[int, str]], path: FilePath, separator: str | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The records of numbered lines, each with the number of its first line; blank lines are skipped.

    separator: by default the one of comma, semicolon and tab that occurs most often in the first line that is
    not blank.
    """
    csv.field_size_limit(max(MAX_FIELD, csv.field_size_limit()))
    source = _Source(lines)
    first = next(source, "")
    separator = separator or separator_of(first)
    reader = csv.reader(source.starting_with(first), delimiter=separator, strict=True)
    try:
        while (record := next(reader, None)) is not None:
            if record:
                yield source.record_start, record
            source.record_start = source.line + 1
    except csv.Error as error:
        raise _csv_error(str(error), source, path) from None


def separator_of(header: str) -> str:
    """The separator of a header line: the most frequent one, a comma if there is none.

    >>> separator_of("id;title;text"), separator_of("id")
    (';', ',')
    """
    return max(SEPARATORS, key=header.count)


class _Source:
    """Feeds lines to the CSV reader, and remembers where the record and the last open quote started."""

    def __init__(self, lines: Iterable[tuple[int, str]]) -> None:
        self.lines = iter(lines)
        self.line = 0
        self.record_start = 1
        self.quote_start: int | None = None

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.line, text = next(self.lines)
        quotes = text.replace('""', "").count('"')  # an escaped quote is written twice
        is_open = (quotes % 2 == 1) != (self.quote_start is not None)
        if quotes or not is_open:
            self.quote_start = self.line if is_open else None
        return text + "\n"

    def starting_with(self, first: str) -> Iterator[str]:
        """The lines, of which the first was already taken."""
        if first:
            self.record_start = self.line
            yield first
        yield from self


def _csv_error(reason: str, source: _Source, path: FilePath) -> InputError:
    if reason == "unexpected end of data":
        line = source.record_start if source.quote_start is None else source.quote_start
        return InputError("a quote is opened here and never closed", "close it", file=path, line=line)
    if "new-line" in reason:
        problem = "a line is ended by a carriage return alone, or contains one"
        return InputError(problem, "end lines with a newline", file=path, line=source.record_start)
    if "field larger" in reason:
        reason = f"a field is longer than {MAX_FIELD >> 20} million characters"
    return InputError(
        f"invalid CSV: {reason}", 'quote texts with separators: "a, b"', file=path, line=source.record_start
    )
