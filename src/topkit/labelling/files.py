"""Judgments in CSV files, with topkit's column names or any others."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from math import isinf, isnan, nan

from topkit.data.csv_cells import plain_cell, safe_cell
from topkit.data.csv_rows import csv_rows
from topkit.data.errors import InputError
from topkit.data.files import FilePath, numbered_lines, text_writer
from topkit.data.judgments import ANSWERS, Grade, Judgments, Preference

PREFERENCE_COLUMNS = ("query", "a", "b", "answer", "assessor", "seconds")
GRADE_COLUMNS = ("query", "doc", "grade", "assessor", "seconds")
OPTIONAL = ("assessor", "seconds")


def read_preferences_csv(
    path: FilePath, columns: Mapping[str, str] | None = None, answers: Mapping[str, str] | None = None
) -> tuple[Judgments, int]:
    """The preferences of a CSV file with a header, and the number of rows skipped for lack of an answer.

    ``columns`` maps query, a, b, answer, assessor and seconds (the last two are optional) to the column names
    of the file where they differ; ``answers`` maps the words of the file to a, b, tie, bad-a and bad-b.
    """
    words = {word: word for word in ANSWERS} | dict(answers or {})
    preferences: list[Preference] = []
    skipped = 0
    for line, row in _rows(path, PREFERENCE_COLUMNS, columns or {}):
        if not row["answer"]:
            skipped += 1
            continue
        answer = words.get(row["answer"])
        if answer not in ANSWERS:
            raise InputError(
                f"invalid answer {row['answer']!r}", f"choose from {', '.join(words)}", file=path, line=line
            )
        if row["a"] == row["b"]:
            problem = f"document {row['a']!r} is compared with itself"
            raise InputError(problem, "give two documents", file=path, line=line)
        seconds = _number(row["seconds"], "seconds", path, line)
        preferences.append(Preference(row["query"], row["a"], row["b"], answer, row["assessor"], seconds))
    if not preferences:
        raise InputError("the file has no preferences", "fill the column of answers", file=path)
    return Judgments(preferences=tuple(preferences)), skipped


def read_grades_csv(path: FilePath, columns: Mapping[str, str] | None = None) -> Judgments:
    """The grades of a CSV file with the columns query, doc, grade, assessor and seconds (or other names)."""
    grades = []
    for line, row in _rows(path, GRADE_COLUMNS, columns or {}):
        grade = _number(row["grade"], "grade", path, line)
        if isnan(grade):
            raise InputError("the grade is missing", "write a number", file=path, line=line)
        seconds = _number(row["seconds"], "seconds", path, line)
        grades.append(Grade(row["query"], row["doc"], grade, row["assessor"], seconds))
    if not grades:
        raise InputError("the file has no grades", "fill the column of grades", file=path)
    return Judgments(grades=tuple(grades))


def write_judgments_csv(judgments: Judgments, path: FilePath) -> None:
    """Write the preferences or the grades, in the columns that the readers expect.

    A text that a spreadsheet would take for a formula gets an apostrophe before it, which the readers remove.
    """
    if judgments.grades and judgments.preferences:
        raise InputError("a file can hold grades or preferences, not both", "write two files")
    records = judgments.preferences or judgments.grades
    names = PREFERENCE_COLUMNS if judgments.preferences else GRADE_COLUMNS
    with text_writer(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        for record in records:
            values = (getattr(record, name) for name in names)
            writer.writerow(
                [
                    safe_cell(value) if isinstance(value, str) else "" if value != value else value
                    for value in values
                ]
            )


def _rows(
    path: FilePath, names: tuple[str, ...], columns: Mapping[str, str]
) -> list[tuple[int, dict[str, str]]]:
    """The line number and the columns of every row, by topkit's names; missing optional columns are empty."""
    # Ids keep their bytes, as in all files of judgments.
    lines = ((line, text.decode("utf-8", "surrogateescape")) for line, text in numbered_lines(path))
    records = csv_rows(lines, path)
    _, header = next(records, (1, []))
    header = [column.strip() for column in header]
    column_of = {name: columns.get(name, name) for name in names}
    for name, column in column_of.items():
        if column not in header and (name not in OPTIONAL or name in columns):
            remedy = f"say which column is {name}: {', '.join(map(repr, header))}"
            raise InputError(f"the column {column!r} is missing", remedy, file=path, line=1)
    rows = []
    for line, record in records:
        if len(record) > len(header):
            problem = f"expected {len(header)} columns, got {len(record)}"
            raise InputError(problem, "quote texts that contain separators", file=path, line=line)
        fields = dict(zip(header, record, strict=False))
        cells = {name: plain_cell(fields.get(column, "").strip()) for name, column in column_of.items()}
        rows.append((line, cells))
    return rows


def _number(text: str, what: str, path: FilePath, line: int) -> float:
    try:
        value = float(text) if text else nan
    except ValueError:
        raise InputError(f"{what} must be a number, got {text[:40]!r}", file=path, line=line) from None
    if isinf(value) or (text and isnan(value)):
        raise InputError(f"{what} must be a finite number, got {text[:40]!r}", file=path, line=line)
    return value
