"""Preference files: one ``topic A B winner`` per line, where the winner is A, B or ``tie``."""

from __future__ import annotations

from topkit.data.columns import field_count
from topkit.data.errors import InputError
from topkit.data.files import FilePath, numbered_lines, text_writer
from topkit.data.judgments import Answer, Judgments, Preference

FORM = "lines look like '31_1 DOC_A DOC_B DOC_B'; write 'tie' for about the same"


def read_preferences(path: FilePath) -> Judgments:
    """Read preferences (``.gz`` too); an optional fifth and sixth field are assessor and seconds.

    Blank lines and lines that start with ``#`` are skipped. A pair may be judged more than once.
    """
    preferences: list[Preference] = []
    for line, text in numbered_lines(path):
        fields = [field.decode("utf-8", "surrogateescape") for field in text.split()]
        if not fields or fields[0].startswith("#"):
            continue
        if not 4 <= len(fields) <= 6:
            raise InputError(field_count("4 to 6", len(fields)), FORM, file=path, line=line)
        preferences.append(_preference(fields, path, line))
    if not preferences:
        raise InputError("the file has no preferences", FORM, file=path)
    return Judgments(preferences=tuple(preferences))


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
