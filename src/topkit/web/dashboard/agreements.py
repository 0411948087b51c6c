"""Agreement between assessors, and the pairs of documents on which they disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from topkit.data.errors import InputError
from topkit.data.judgments import Preference
from topkit.labelling.agreement.kappa import beyond_chance, cohen_kappa
from topkit.labelling.agreement.pairs import (
    SECOND,
    JudgedPairs,
    Pair,
    implied_preferences,
    pairs_by_grades,
    pairs_judged,
)
from topkit.labelling.agreement.quality import assessor_quality
from topkit.labelling.agreement.tables import Agreement, ChiSquare, agreement, chi_square
from topkit.web.dashboard.numbers import number_or_none
from topkit.web.records import Record, judgments_of


@dataclass(frozen=True)
class AgreementTable:
    """Counts and shares of the answers A≻B, A∼B and A≺B of one assessor, given the answer of another."""

    counts: list[list[int]]
    rows: list[list[float | None]]
    compared: int
    overall: float | None
    without_ties: float | None
    fleiss: float | None
    krippendorff: float | None


@dataclass(frozen=True)
class AssessorQuality:
    """Agreement of one assessor with the others, and habits: ties, the left side, preference cycles."""

    assessor: str
    judgments: int
    agreement: float | None
    agreement_without_ties: float | None
    ties: float | None
    left: float | None
    circles: int


@dataclass(frozen=True)
class AgreementReport:
    """Agreement on the pairs asked, on all implied preferences, and on preferences inferred from grades."""

    asked: AgreementTable
    implied: AgreementTable
    grades: AgreementTable
    chi_square: ChiSquare | None
    assessors: list[AssessorQuality]


@dataclass(frozen=True)
class GroupAgreement:
    """How far the assessors of a topic agree, or two assessors on all topics (implied preferences)."""

    name: str
    compared: int
    agreement: float | None
    without_ties: float | None
    kappa: float | None
    """Cohen's κ of two assessors, Krippendorff's ordinal α of a topic."""


def agreement_report(records: list[Record]) -> AgreementReport:
    """The tables of the paper for the pairs asked, for all implied preferences, and for grades."""
    judgments = judgments_of(records)
    implied_by_shared = implied_preferences(judgments_of(shared_topics(records)).preferences)
    asked, implied = pairs_judged(judgments.preferences), pairs_judged(implied_by_shared)
    graded = pairs_by_grades(judgments.grades)
    return AgreementReport(
        _table(agreement(asked), asked),
        _table(agreement(implied), implied),
        _table(agreement(graded), graded),
        _chi_square(agreement(implied), agreement(graded)),
        _quality(judgments.preferences, implied_by_shared),
    )


def _chi_square(preferences: Agreement, grades: Agreement) -> ChiSquare | None:
    try:
        return chi_square(preferences, grades)
    except InputError:  # one of the two has no comparisons yet
        return None


def _quality(
    preferences: Sequence[Preference], implied_preferences: Sequence[Preference]
) -> list[AssessorQuality]:
    """Agreement is measured on implied preferences (few pairs are asked twice), the rest on the answers."""
    asked, implied = assessor_quality(preferences), assessor_quality(implied_preferences)
    agreements = {name: (row.agreement, row.agreement_without_ties) for name, row in implied.items()}
    nothing = float("nan"), float("nan")
    return [
        AssessorQuality(
            assessor=name,
            judgments=quality.judgments,
            agreement=number_or_none(agreements.get(name, nothing)[0]),
            agreement_without_ties=number_or_none(agreements.get(name, nothing)[1]),
            ties=number_or_none(quality.tie_share),
            left=number_or_none(quality.left_share),
            circles=quality.triads.circles,
        )
        for name, quality in asked.items()
    ]


def _table(table: Agreement, pairs: JudgedPairs) -> AgreementTable:
    corrected = beyond_chance(pairs)
    compared = table.agreed + table.disagreed
    return AgreementTable(
        counts=table.counts.tolist(),
        rows=[[number_or_none(value) for value in row] for row in table.rows.tolist()],
        compared=compared,
        overall=number_or_none(table.overall),
        without_ties=number_or_none(table.without_ties),
        fleiss=number_or_none(corrected.fleiss),
        krippendorff=number_or_none(corrected.ordinal_alpha),
    )


def shared_topics(records: list[Record]) -> list[Record]:
    """The labellings of topics that at least two assessors have begun: only they can agree or disagree."""
    begun = Counter(record.topic_id for record in records if record.log)
    return [record for record in records if begun[record.topic_id] > 1]


def all_pairs(records: list[Record]) -> JudgedPairs:
    """What several assessors say or imply about pairs of documents, in preferences and in grades."""
    judgments = judgments_of(shared_topics(records))
    pairs: JudgedPairs = {}
    for part in (pairs_judged(implied_preferences(judgments.preferences)), pairs_by_grades(judgments.grades)):
        for pair, answers in part.items():
            swapped = Pair(pair.query, pair.b, pair.a)
            if swapped in pairs:
                answers = {name: SECOND - answer for name, answer in answers.items()}
                pair = swapped
            pairs.setdefault(pair, {}).update(answers)
    return pairs


def agreement_by_topic(records: list[Record]) -> list[GroupAgreement]:
    """Agreement on each topic, the lowest first; topics without two assessors are left out."""
    by_topic: dict[str, JudgedPairs] = {}
    for pair, answers in all_pairs(records).items():
        if len(answers) > 1:
            by_topic.setdefault(pair.query, {})[pair] = answers
    groups = [_group(name, pairs, beyond_chance(pairs).ordinal_alpha) for name, pairs in by_topic.items()]
    return sorted(groups, key=_lowest_first)


def agreement_by_assessors(records: list[Record]) -> list[GroupAgreement]:
    """Agreement of every two assessors who judged the same pairs, the lowest first."""
    by_two: dict[tuple[str, str], JudgedPairs] = {}
    for pair, answers in all_pairs(records).items():
        for two in combinations(sorted(answers), 2):
            by_two.setdefault(two, {})[pair] = {name: answers[name] for name in two}
    groups = []
    for two, pairs in by_two.items():
        first, second = ([answers[name] for answers in pairs.values()] for name in two)
        groups.append(_group(" and ".join(two), pairs, cohen_kappa(first, second)))
    return sorted(groups, key=_lowest_first)


def _group(name: str, pairs: JudgedPairs, kappa: float) -> GroupAgreement:
    table = agreement(pairs)
    return GroupAgreement(
        name,
        table.agreed + table.disagreed,
        number_or_none(table.overall),
        number_or_none(table.without_ties),
        number_or_none(kappa),
    )


def _lowest_first(group: GroupAgreement) -> tuple[float, str]:
    return 2.0 if group.agreement is None else group.agreement, group.name
