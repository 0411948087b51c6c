"""Judgments in CSV files: the room's own columns, or any others by name."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from math import isnan, nan

from topkit.data.errors import InputError
from topkit.data.files import FilePath, line_chunks, text_writer
from topkit.data.judgments import ANSWERS, Grade, Judgments, Preference

PREFERENCE_COLUMNS = ("query", "a", "b", "answer", "assessor", "seconds")
GRADE_COLUMNS = ("query", "doc", "grade", "assessor", "seconds")
OPTIONAL = ("assessor", "seconds")


def read_preferences_csv(
    path: FilePath, columns: Mapping[str, str] | None = None, answers: Mapping[str, str] | None = None
) -> tuple[Judgments, int]:
    """Preferences of a CSV file with a header, and how many rows were left out because they hold no answer.

    ``columns`` gives the file's own name of a column where it differs from query, a, b, answer, assessor and
    seconds (the last two may be missing); ``answers`` its own words for a, b, tie, bad-a and bad-b.
    """
    words = {word: word for word in ANSWERS} | dict(answers or {})
    found: list[Preference] = []
    empty = 0
    for line, row in _rows(path, PREFERENCE_COLUMNS, columns or {}):
        if not row["answer"]:
            empty += 1
            continue
        answer = words.get(row["answer"])
        if answer not in ANSWERS:
            known = ", ".join(words)
            raise InputError(f"{row['answer']!r} is no answer", f"known are {known}", file=path, line=line)
        if row["a"] == row["b"]:
            problem = f"document {row['a']!r} is compared with itself"
            raise InputError(problem, "name two documents", file=path, line=line)
        seconds = _number(row["seconds"], "seconds", path, line)
        found.append(Preference(row["query"], row["a"], row["b"], answer, row["assessor"], seconds))
    if not found:
        raise InputError("the file holds no preferences", "give a row an answer", file=path)
    return Judgments(preferences=tuple(found)), empty


def read_grades_csv(path: FilePath, columns: Mapping[str, str] | None = None) -> Judgments:
    """Grades of a CSV file with the columns query, doc, grade, assessor and seconds (or other names)."""
    found = []
    for line, row in _rows(path, GRADE_COLUMNS, columns or {}):
        grade = _number(row["grade"], "grade", path, line)
        if isnan(grade):
            raise InputError("the grade is missing", "give a number", file=path, line=line)
        seconds = _number(row["seconds"], "seconds", path, line)
        found.append(Grade(row["query"], row["doc"], grade, row["assessor"], seconds))
    if not found:
        raise InputError("the file holds no grades", "give a row a grade", file=path)
    return Judgments(grades=tuple(found))


def write_judgments_csv(judgments: Judgments, path: FilePath) -> None:
    """Write preferences or grades, whichever there are, in the columns that the readers expect."""
    if judgments.grades and judgments.preferences:
        raise InputError("a file holds grades or preferences, not both", "write two files")
    records = judgments.preferences or judgments.grades
    names = PREFERENCE_COLUMNS if judgments.preferences else GRADE_COLUMNS
    with text_writer(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        for record in records:
            values = (getattr(record, name) for name in names)
            writer.writerow(["" if value != value else value for value in values])


def _rows(
    path: FilePath, names: tuple[str, ...], columns: Mapping[str, str]
) -> list[tuple[int, dict[str, str]]]:
    """The wanted columns of every row under our names, with line numbers; missing optional ones are empty."""
    text = b"".join(chunk for chunk, _ in line_chunks(path)).decode("utf-8-sig", "surrogateescape")
    reader = csv.DictReader(io.StringIO(text, newline=""), restval="", strict=True)
    header = reader.fieldnames or []
    wanted = {name: columns.get(name, name) for name in names}
    for name, column in wanted.items():
        if column not in header and (name not in OPTIONAL or name in columns):
            there = ", ".join(map(repr, header))
            remedy = f"name the column of {name}; there are {there}"
            raise InputError(f"there is no column {column!r}", remedy, file=path, line=1)
    found = []
    try:
        for row in reader:
            values = {name: (row.get(column) or "").strip() for name, column in wanted.items()}
            found.append((reader.line_num, values))
    except csv.Error as error:
        raise InputError(
            f"not CSV: {error}", "quote fields properly", file=path, line=reader.line_num
        ) from None
    return found


def _number(text: str, what: str, path: FilePath, line: int) -> float:
    try:
        return float(text) if text else nan
    except ValueError:
        raise InputError(f"{text!r} is not a number of {what}", file=path, line=line) from None
