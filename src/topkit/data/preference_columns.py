"""Preferences in tables: which columns hold the query, the two documents and the winner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isinf, nan
from typing import Any, NamedTuple

from topkit.data.blocks import FilePath
from topkit.data.csv_rows import separator_of
from topkit.data.errors import InputError
from topkit.data.judgments import ANSWERS, Answer, Preference

COLUMNS: dict[str, tuple[str, ...]] = {
    "query": ("query", "qid", "query_id", "query-id", "q_id", "topic", "topic_id", "prompt"),
    "a": ("a", "doc_a", "docno_a", "document_a", "item_a", "left", "doc1", "document1", "option_a"),
    "b": ("b", "doc_b", "docno_b", "document_b", "item_b", "right", "doc2", "document2", "option_b"),
    "winner": ("winner", "winner_id", "preferred", "better", "chosen"),
    "loser": ("loser", "loser_id", "worse", "rejected"),
    "answer": ("answer", "preference", "choice", "vote"),
    "assessor": ("assessor", "assessor_id", "worker", "worker_id", "annotator", "judge", "user"),
    "seconds": ("seconds", "duration"),
    "time": ("time", "timestamp"),
}
"""What a column holds → the names that are recognised, in any case; the first that occurs is used."""
WORDS: dict[str, Answer] = {
    "a": "a",
    "left": "a",
    "1": "a",
    "b": "b",
    "right": "b",
    "2": "b",
    **{answer: answer for answer in ANSWERS},
}
"""Answers by position."""
TIES = ("tie", "equal", "same", "both", "neither", "none", "draw", "0", "")
FORM = "name the columns query, a, b and winner (or query, winner and loser)"


class PreferenceColumns(NamedTuple):
    """The positions of the columns of a table of preferences; −1 for a column that it does not have.

    >>> PreferenceColumns.of(["topic", "left", "right", "winner"]).preference(["t", "x", "y", "y"])[:4]
    ('t', 'x', 'y', 'b')
    """

    query: int
    a: int
    b: int
    winner: int
    loser: int
    answer: int
    assessor: int
    seconds: int
    time: int

    @classmethod
    def of(cls, header: Sequence[str]) -> PreferenceColumns:
        """The columns of a header; InputError if it lacks one that is needed."""
        names = [name.lower() for name in header]
        places = {
            field: next((names.index(name) for name in known if name in names), -1)
            for field, known in COLUMNS.items()
        }
        columns = cls(**places)
        pair = columns.a >= 0 and columns.b >= 0 and max(columns.winner, columns.answer) >= 0
        if columns.query < 0 or not (pair or min(columns.winner, columns.loser) >= 0):
            raise InputError(f"expected columns of preferences, got {', '.join(header[:12])}", FORM)
        return columns

    def preference(
        self, row: Sequence[Any], *, file: FilePath | None = None, line: int | None = None
    ) -> Preference:
        """The preference of a row."""
        query = _text(row[self.query])
        if self.a >= 0 and self.b >= 0:
            a, b = _text(row[self.a]), _text(row[self.b])
            answer = self._answer(row, a, b)
        else:
            a, b, answer = _text(row[self.winner]), _text(row[self.loser]), "a"
        if not query or not a or not b:
            raise InputError("the query or a document is empty", FORM, file=file, line=line)
        if a == b:
            raise InputError(f"document {a!r} is compared with itself", FORM, file=file, line=line)
        if answer is None:
            winner = row[self.winner if self.winner >= 0 else self.answer]
            raise InputError(
                f"expected the winner {a!r}, {b!r} or 'tie', got {winner!r}", FORM, file=file, line=line
            )
        assessor = _text(row[self.assessor]) if self.assessor >= 0 else ""
        seconds = _number(row[self.seconds], "seconds", file, line) if self.seconds >= 0 else nan
        time = _time(row[self.time]) if self.time >= 0 else nan
        return Preference(query, a, b, answer, assessor, seconds, time)

    def _answer(self, row: Sequence[Any], a: str, b: str) -> Answer | None:
        """A column of winners holds ids first of all, a column of answers positions."""
        by_id: dict[str, Answer] = {a: "a", b: "b"}
        text = _text(row[self.winner if self.winner >= 0 else self.answer])
        first, second = (by_id, WORDS) if self.winner >= 0 else (WORDS, by_id)
        known = {key: value for words in (second, first) for key, value in words.items()}
        word = text if text in known else text.lower()
        return known.get(word) or ("tie" if word in TIES else None)


def is_preference_table(header: Sequence[str]) -> bool:
    """Whether a table with these columns holds preferences.

    >>> is_preference_table(["query", "winner", "loser"]), is_preference_table(["query", "doc", "grade"])
    (True, False)
    """
    try:
        PreferenceColumns.of(header)
    except InputError:
        return False
    return True


def is_preference_header(line: str) -> bool:
    """Whether a line of text is the header of such a table."""
    names = [name.strip().strip('"') for name in line.split(separator_of(line))]
    return len(names) > 1 and is_preference_table(names)


def preferences_of_rows(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[Preference]:
    """The preferences of the rows of a frame; an error names the row."""
    columns = PreferenceColumns.of(header)
    for number, row in enumerate(rows, 1):
        try:
            yield columns.preference(row)
        except InputError as error:
            raise InputError(f"row {number}: {error.problem}", error.remedy) from None


def _text(value: Any) -> str:
    """An id as text; a missing value is empty."""
    return "" if value is None or value != value else str(value).strip()


def _number(value: Any, what: str, file: FilePath | None, line: int | None) -> float:
    try:
        number = float(value) if value not in (None, "") else nan
    except (TypeError, ValueError):
        number = float("inf")
    if isinf(number):
        raise InputError(f"invalid number of {what} {value!r}", "write a number", file=file, line=line)
    return number


def _time(value: Any) -> float:
    """Seconds since 1970, from a number; other forms of a time are not kept."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return nan
    return nan if isinf(number) else number
