"""Reads gold questions from a CSV file."""

from __future__ import annotations

from topkit.data.csv_rows import csv_rows
from topkit.data.errors import InputError
from topkit.data.files import FilePath
from topkit.data.text_lines import text_lines
from topkit.web.store.quality import GoldRow

COLUMNS = ("topic", "a", "b", "answer")
REMEDY = "give the columns topic, a, b, answer and, optionally, note; leave b empty for a grade"


def read_gold(path: FilePath) -> list[GoldRow]:
    """The gold questions in a CSV, TSV or semicolon-separated file with a header."""
    rows = csv_rows(text_lines(path), path)
    line, header = next(rows, (1, []))
    names = [name.strip().lower().lstrip("\ufeff") for name in header]
    missing = [name for name in COLUMNS if name not in names and name != "b"]
    if missing:
        raise InputError(f"the column {missing[0]!r} is missing", REMEDY, file=path, line=line)
    questions = []
    for line, row in rows:
        values = {name: text.strip() for name, text in zip(names, row, strict=False)}
        if not all(values.get(name) for name in ("topic", "a", "answer")):
            raise InputError("topic, a or answer is empty", REMEDY, file=path, line=line)
        questions.append(
            GoldRow(
                values["topic"],
                values["a"],
                values.get("b") or None,
                values["answer"],
                values.get("note", ""),
            )
        )
    if not questions:
        raise InputError("the file contains no gold questions", REMEDY, file=path)
    return questions
