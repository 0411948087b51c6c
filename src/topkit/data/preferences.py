"""Preference files: one ``query A B winner`` per line, or a table or JSON Lines with these columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from topkit.data.columns import field_count
from topkit.data.csv_rows import csv_rows
from topkit.data.errors import InputError
from topkit.data.files import FilePath, numbered_lines, text_writer
from topkit.data.json_rows import json_rows
from topkit.data.judgments import Answer, Judgments, Preference
from topkit.data.looks import naming_the_format
from topkit.data.preference_columns import PreferenceColumns, is_preference_header

FORM = "lines look like '31_1 DOC_A DOC_B DOC_B'; write 'tie' for about the same"
JSON_FORM = 'write one object per line, such as {"query": "q1", "a": "d1", "b": "d2", "winner": "d2"}'


def read_preferences(path: FilePath) -> Judgments:
    """Read preferences, compressed or not, in one of three formats, which are detected.

    Text has ``query A B winner`` per line, where the winner is A, B or ``tie``; an optional fifth and sixth
    field are assessor and seconds. CSV, TSV (with a header) and JSON Lines have columns for the query, the
    two documents and the winner, or for the better and the worse document, such as ``query,a,b,winner`` or
    ``query,winner,loser``; :data:`topkit.data.preference_columns.COLUMNS` lists the names that are
    recognised. The winner is the id of a document, ``a`` or ``b``, ``left`` or ``right``, or ``tie``.

    Blank lines and lines of text that start with ``#`` are skipped. A pair may be judged more than once.
    """
    with naming_the_format(path, "preferences", "preference-table"):
        lines = ((line, text.decode("utf-8", "surrogateescape")) for line, text in numbered_lines(path))
        preferences = tuple(_preferences(lines, path))
        if not preferences:
            raise InputError("the file has no preferences", FORM, file=path)
    return Judgments(preferences=preferences)


def _preferences(lines: Iterator[tuple[int, str]], path: FilePath) -> Iterator[Preference]:
    """The preferences in the format of the first line."""
    for number, text in lines:
        if not text.strip() or text.startswith("#"):
            continue
        rest = chain([(number, text)], lines)
        if text.lstrip().startswith("{"):
            return _of_objects(rest, path)
        if is_preference_header(text):
            return _of_table(rest, path)
        return _of_text(rest, path)
    return iter(())


def _of_text(lines: Iterator[tuple[int, str]], path: FilePath) -> Iterator[Preference]:
    for line, text in lines:
        fields = text.split()
        if not fields or fields[0].startswith("#"):
            continue
        if not 4 <= len(fields) <= 6:
            raise InputError(field_count("4 to 6", len(fields)), FORM, file=path, line=line)
        yield _preference(fields, path, line)


def _of_table(lines: Iterator[tuple[int, str]], path: FilePath) -> Iterator[Preference]:
    rows = csv_rows(lines, path)
    _, header = next(rows)
    columns = PreferenceColumns.of([name.strip() for name in header])
    for line, row in rows:
        if len(row) != len(header):
            problem = f"expected {len(header)} columns, got {len(row)}"
            raise InputError(problem, "quote texts that contain separators", file=path, line=line)
        yield columns.preference([value.strip() for value in row], file=path, line=line)


def _of_objects(lines: Iterator[tuple[int, str]], path: FilePath) -> Iterator[Preference]:
    columns: dict[tuple[str, ...], PreferenceColumns] = {}
    for line, record in json_rows(lines, path, JSON_FORM):
        names = tuple(record)
        if names not in columns:
            try:
                columns[names] = PreferenceColumns.of(names)
            except InputError as error:
                raise InputError(error.problem, JSON_FORM, file=path, line=line) from None
        yield columns[names].preference(list(record.values()), file=path, line=line)


def _preference(fields: list[str], path: FilePath, line: int) -> Preference:
    query, a, b, winner = fields[:4]
    if a == b:
        raise InputError(f"document {a!r} is compared with itself", FORM, file=path, line=line)
    answers: dict[str, Answer] = {a: "a", b: "b", "tie": "tie"}
    if winner not in answers:
        raise InputError(
            f"expected the winner {a!r}, {b!r} or 'tie', got {winner!r}", FORM, file=path, line=line
        )
    assessor = fields[4] if len(fields) > 4 else ""
    try:
        seconds = float(fields[5]) if len(fields) > 5 else float("nan")
        if seconds in (float("inf"), float("-inf")):
            raise ValueError
    except ValueError:
        raise InputError(f"invalid number of seconds {fields[5]!r}", FORM, file=path, line=line) from None
    return Preference(query, a, b, answers[winner], assessor, seconds)


def write_preferences(judgments: Judgments, path: FilePath) -> None:
    """Write preferences; a "bad" mark is written as a win of the other document."""
    with text_writer(path) as stream:
        for preference in judgments.preferences:
            fields = [preference.query, preference.a, preference.b, preference.winner or "tie"]
            timed = preference.seconds == preference.seconds
            if preference.assessor or timed:
                fields.append(preference.assessor or "-")
            if timed:
                fields.append(f"{preference.seconds:g}")
            if any(field.split() != [field] for field in fields):
                problem = f"one of {', '.join(map(repr, fields))} has spaces or is empty"
                raise InputError(problem, "fields of preference files are separated by spaces; rename it")
            stream.write(" ".join(fields) + "\n")
