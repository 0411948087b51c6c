"""All figures of assessor agreement in one long table, for CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from topkit.data.judgments import Judgments
from topkit.labelling.agreement.kappa import beyond_chance
from topkit.labelling.agreement.pairs import JudgedPairs, implied_preferences, pairs_by_grades, pairs_judged
from topkit.labelling.agreement.quality import assessor_quality, intransitive
from topkit.labelling.agreement.tables import NAMES, agreement, chi_square
from topkit.labelling.agreement.timing import timing

Figure = tuple[str, str, float]
"""What it is about, the name of the figure, and its value."""


def agreement_figures(
    preferences: Judgments, graded: Judgments | None, *, implied: bool = False, assessors: bool = False
) -> list[dict[str, Any]]:
    """The figures that ``topkit label agreement`` prints, not rounded: part, figure, value."""
    figures = _figures(preferences, graded, implied, assessors)
    return [{"part": part, "figure": name, "value": value} for part, name, value in figures]


def _figures(
    preferences: Judgments, graded: Judgments | None, implied: bool, assessors: bool
) -> Iterator[Figure]:
    answers = preferences.preferences
    judged = pairs_judged(implied_preferences(answers) if implied else answers)
    yield from (("preferences", name, float(v)) for name, v in timing(answers)._asdict().items())
    yield from _agreement("preferences", judged)
    if graded is not None:
        by_grade = pairs_by_grades(graded.grades)
        yield from (("grades", name, float(v)) for name, v in timing(graded.grades)._asdict().items())
        yield from _agreement("grades", by_grade)
        for name, ties in (("chi_square", True), ("chi_square_without_ties", False)):
            test = chi_square(agreement(judged), agreement(by_grade), ties=ties)
            yield "preferences and grades", name, float(test.statistic)
            yield "preferences and grades", f"{name}_p", float(test.p)
    for name, count in intransitive(answers)._asdict().items():
        yield "triads", name, float(count)
    if assessors:
        for assessor, quality in assessor_quality(answers).items():
            figures = quality._asdict()
            figures |= figures.pop("triads")._asdict()
            yield from ((f"assessor {assessor}", name, float(value)) for name, value in figures.items())


def _agreement(part: str, pairs: JudgedPairs) -> Iterator[Figure]:
    table = agreement(pairs)
    yield part, "agreement", table.overall
    yield part, "agreement_without_ties", table.without_ties
    for answer, row in zip(NAMES, table.rows, strict=True):
        for other, share in zip(NAMES, row, strict=True):
            yield part, f"P({other} | {answer})", float(share)
    chance = beyond_chance(pairs)
    yield part, "fleiss_kappa", chance.fleiss
    yield part, "krippendorff_alpha_nominal", chance.alpha
    yield part, "krippendorff_alpha_ordinal", chance.ordinal_alpha
