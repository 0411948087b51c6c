"""The audit of a judge: all measures, what they mean, and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal, NamedTuple

from topkit.compute import Ints
from topkit.data.errors import InputError
from topkit.data.judgments import Preference
from topkit.labelling.agreement.pairs import pairs_judged
from topkit.labelling.agreement.tables import Agreement, ChiSquare, agreement, chi_square
from topkit.labelling.audit.estimates import Estimate
from topkit.labelling.audit.measures import (
    Calibration,
    calibration,
    combined,
    contradictions,
    cycles,
    flip_rate,
    length_bias,
    people_opinions,
    position_bias,
    self_consistency,
    with_people,
)
from topkit.labelling.audit.trials import Trial

Level = Literal["fine", "care", "problem", "unknown"]

SMALL_BIAS = 0.05
"""A position bias within ±5 points is small."""
CONSISTENT, INCONSISTENT = 0.9, 0.65
"""Shares of equal answers when asked again, above and below which a judge is fine or a problem."""
AGREES, DISAGREES = 0.75, 0.65
"""Shares of agreement with people without ties, if it is unknown how well people agree with each other."""
SMALL_LENGTH_BIAS = 0.02
"""Points per doubling of the length."""
CHANCE = 0.5
"""Agreement without ties of a judge that tosses a coin."""
FEW_CYCLES = 0.05
CALIBRATED = 0.1
"""Mean confidence within 10 points of the agreement with people."""


class Finding(NamedTuple):
    """One measure of an audit with what it means."""

    name: str
    estimate: Estimate
    level: Level
    meaning: str


@dataclass(frozen=True)
class Audit:
    """The measures of a judge, and what follows from them."""

    trials: int
    pairs: int
    position: Estimate
    consistency: Estimate
    flips: Estimate
    contradictions: Estimate
    agreement: Estimate
    agreement_without_ties: Estimate
    people_agreement: float
    """How often two people agree without ties; NaN if no pair was judged by two."""
    table: Ints
    """``table[x, y]``: how often the judge said x and a person y, of A≻B, A∼B, A≺B."""
    chi_square: ChiSquare | None
    """The test of whether the judge agrees with people as often as people do; None if it cannot be done."""
    length: Estimate
    length_points: list[tuple[float, float]]
    cycles: Estimate
    triads: int
    calibration: Calibration

    @property
    def findings(self) -> list[Finding]:
        """Each measure with its meaning, the most important first."""
        return [
            self._agreement(),
            _finding(
                "position bias",
                self.position,
                lambda e: "fine" if e.low >= -SMALL_BIAS and e.high <= SMALL_BIAS else "care",
                {"fine": "small", "care": "ask in both orders, or in a random order"},
            ),
            _finding(
                "same answer again",
                self.consistency,
                lambda e: "fine" if e.low >= CONSISTENT else "problem" if e.high < INCONSISTENT else "care",
                {"fine": "consistent", "care": "answers vary", "problem": "answers are close to random"},
            ),
            _finding(
                "gain per doubling of length",
                self.length,
                lambda e: (
                    "fine"
                    if (e.low >= -SMALL_LENGTH_BIAS and e.high <= SMALL_LENGTH_BIAS) or e.covers(0.0)
                    else "care"
                ),
                {
                    "fine": "no bias found",
                    "care": "length sways it: cut documents to equal length, or say so in the criteria",
                },
            ),
            _finding(
                "cycles in triads",
                self.cycles,
                lambda e: "fine" if e.value <= FEW_CYCLES else "care",
                {"fine": "transitive", "care": "contradicts itself: use the strategy reliable"},
            ),
            _finding(
                "confidence minus agreement",
                self.calibration.overconfidence,
                lambda e: "fine" if e.low >= -CALIBRATED and e.high <= CALIBRATED else "care",
                {"fine": "calibrated", "care": "do not route by its confidence as it is"},
            ),
        ]

    def _agreement(self) -> Finding:
        target = self.people_agreement if self.people_agreement == self.people_agreement else AGREES
        lowest = min(DISAGREES, target)
        return _finding(
            "agreement with people",
            self.agreement_without_ties,
            lambda e: (
                "problem"
                if e.high < lowest or e.low <= CHANCE
                else "fine"
                if e.high >= target and e.low >= lowest
                else "care"
            ),
            {
                "fine": "as people agree with each other",
                "care": "less than people, or too few pairs: let people check a share",
                "problem": "much less than people"
                if self.agreement_without_ties.low > CHANCE
                else "no better than chance, or too few pairs to tell: ask about more (--pairs)",
            },
        )

    @property
    def verdict(self) -> str:
        """One sentence: whether to trust the judge."""
        levels = {finding.name: finding.level for finding in self.findings}
        problems = [name for name, level in levels.items() if level == "problem"]
        cares = [name for name, level in levels.items() if level == "care"]
        if problems:
            return f"Do not use it without people: {', '.join(problems)}."
        if levels["agreement with people"] == "unknown":
            return "Unknown: no pair was judged by the judge and by people."
        if cares:
            return f"Usable with care: {', '.join(cares)}."
        return "Usable: no fault was found that matters."


def _finding(
    name: str, estimate: Estimate, level: Callable[[Estimate], Level], meanings: dict[Level, str]
) -> Finding:
    if not estimate.measured:
        return Finding(name, estimate, "unknown", "not measured")
    severity = level(estimate)
    return Finding(name, estimate, severity, meanings[severity])


def audit(
    trials: Sequence[Trial],
    people: Sequence[Preference] = (),
    length: Callable[[str], float] | None = None,
) -> Audit:
    """All measures of a judge's trials against people's preferences.

    - ``people``: preferences of people about the same pairs; without them, agreement is not measured. Answers
      without an assessor count as those of different people.
    - ``length``: document id → its length; without it, the length bias is not measured.

    Measures that the trials do not allow (no repeats, only one order, no confidence) are not measured.
    """
    if not trials:
        raise InputError(
            "there are no answers to audit", "give answers of the judge about pairs of documents"
        )
    judged = pairs_judged(_with_names(people))
    opinions = people_opinions(judged)
    preferences = combined(trials)
    table, agreed, agreed_without_ties = with_people(preferences, judged)
    between_people = agreement(judged)
    test = None
    if agreed.measured:
        try:
            test = chi_square(Agreement(table + table.T), between_people, ties=False)
        except InputError:
            test = None
    consistency = self_consistency(trials)
    bias, points = length_bias(trials, opinions, length) if length else (Estimate(), [])
    cyclic, triads = cycles(preferences)
    return Audit(
        len(trials),
        len(preferences),
        position_bias(trials),
        consistency,
        flip_rate(consistency),
        contradictions(trials, opinions),
        agreed,
        agreed_without_ties,
        between_people.without_ties if judged else nan,
        table,
        test,
        bias,
        points,
        cyclic,
        triads,
        calibration(trials, opinions),
    )


def _with_names(people: Sequence[Preference]) -> list[Preference]:
    """The preferences with a name each where the assessor is unknown, as in files of crowd workers.

    Only the last answer of an assessor to a pair counts, so unnamed workers would count as one.
    """
    return [p if p.assessor else p._replace(assessor=f"unnamed {i}") for i, p in enumerate(people)]
