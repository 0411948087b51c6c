"""Five grades: one question per document."""

from __future__ import annotations

from topkit.labelling.contest import Ask, Contest, Finish, Play

GRADES = ("bad", "fair", "good", "excellent", "perfect")
"""The answers to a question about one document; their positions 0–4 are the grades."""


def graded(contest: Contest) -> Play:
    """Ask for the grade of every document; documents with the same grade share a place.

    "Bad" documents are removed. The order within a grade is the order of the questions, which is random.

    Use it if you need grades of all documents, or lists so short that comparing saves nothing. Not for the
    order within a grade.
    """
    by_grade: list[list[int]] = [[] for _ in GRADES]
    order = contest.shuffled()
    for asked, item in enumerate(order):
        left = contest.n - asked
        answer = yield Ask(item, None, left, left, left)
        by_grade[GRADES.index(answer)].append(item)
    return Finish([group for group in reversed(by_grade[1:]) if group])
