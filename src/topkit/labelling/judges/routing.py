"""People and a model together: the model answers if it is sure, people answer the rest and check some."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from math import sqrt
from threading import Lock
from typing import NamedTuple

from topkit.data.errors import InputError
from topkit.labelling.judges.judge import Judge, Verdict
from topkit.labelling.judges.prompts import fingerprint
from topkit.labelling.judges.recorded import NotAnsweredError, RecordedJudge
from topkit.labelling.judges.together import ConcurrentJudge
from topkit.labelling.question import Question

NORMAL_95 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


class Check(NamedTuple):
    """A question that the model was sure of and a person answered too."""

    query: str
    question: Question
    model: str
    person: str
    confidence: float

    @property
    def same(self) -> bool:
        """Whether both preferred the same document; "bad" marks count as preferences."""
        return _preferred(self.model) == _preferred(self.person)


class Cost(NamedTuple):
    """What the model's share of the answers cost in quality, by the questions that people checked."""

    by_people: int
    """Answers by people, including checks."""
    by_model: int
    """Answers by the model that count."""
    checked: int
    """Checks of answers that the model was sure of."""
    different: int
    """Checks in which the person gave another answer."""
    low: float
    high: float
    """The 95 % interval of the share of the model's answers that a person would have given differently."""

    @property
    def saved(self) -> float:
        """The share of answers that people did not have to give."""
        total = self.by_people + self.by_model
        return self.by_model / total if total else 0.0

    def __str__(self) -> str:
        total = self.by_people + self.by_model
        share = self.different / self.checked if self.checked else float("nan")
        text = f"the model answered {self.by_model} of {total} questions ({self.saved:.0%})"
        if not self.checked:
            return f"{text}; no answer of the model was checked, so its quality is unknown"
        return (
            f"{text}; people disagreed in {self.different} of {self.checked} checks ({share:.1%}, 95 % "
            f"interval {self.low:.1%} to {self.high:.1%}), so about {self.low * self.by_model:.0f} to "
            f"{self.high * self.by_model:.0f} of the model's answers differ from a person's"
        )


def goes_to_person(confidence: float | None, sure: float) -> bool:
    """Whether a person should answer: the model does not say how sure it is, or is not sure enough."""
    return confidence is None or confidence < sure


def is_checked(query: str, question: Question, share: float, seed: int = 0) -> bool:
    """Whether a question belongs to the random share that is checked; the same for the same seed."""
    documents = sorted(question.documents)
    return int(fingerprint(str(seed), query, *documents)[:12], 16) / 16**12 < share


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; (0, 1) without trials.

    >>> [round(end, 4) for end in wilson(5, 10)]
    [0.2366, 0.7634]
    """
    if not trials:
        return 0.0, 1.0
    z = NORMAL_95
    p = successes / trials
    middle = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials)) / (1 + z * z / trials)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass
class RoutedJudge:
    """A model and a person as one judge.

    - ``sure``: the model's answer counts if its confidence is at least this; otherwise the person is asked.
    - ``check``: the share of sure answers that the person is asked too. The person's answer counts then, and
      the comparison tells what the model's share costs (:meth:`cost`).

    If the person answers later (a :class:`RecordedJudge` without an answer to the question), the model's
    answer counts for now and the question is added to ``waiting``.

    >>> from topkit.labelling.judges.biased import BiasedJudge
    >>> from topkit.labelling.judges.simulated import SimulatedAssessor
    >>> truth = {("q", f"d{i}"): float(i) for i in range(9)}
    >>> person = SimulatedAssessor("ann", {doc: value for (_, doc), value in truth.items()})
    >>> both = RoutedJudge(BiasedJudge.of_relevance("m", truth, flips=0.1), person, sure=0.8, check=0.2)
    >>> both.judge("q", Question("d1", "d2"))[3] in ("m", "ann")
    True
    """

    model: Judge
    person: Judge
    _: KW_ONLY
    sure: float = 0.9
    check: float = 0.05
    seed: int = 0
    checks: list[Check] = field(default_factory=list, init=False)
    waiting: list[tuple[str, Question]] = field(default_factory=list, init=False)
    """(query, question) that a person should answer."""
    by_people: int = field(default=0, init=False)
    by_model: int = field(default=0, init=False)
    concurrency: int = field(default=1, init=False)
    """Questions that may be asked at the same time: those of the model if people's answers are recorded."""
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.model, ConcurrentJudge) and isinstance(self.person, RecordedJudge):
            self.concurrency = self.model.concurrency
        if not 0 <= self.check <= 1:
            raise InputError(f"check must be from 0 to 1, got {self.check}")

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.model.name} and {self.person.name}"

    def judge(self, query: str, question: Question) -> Verdict:
        """The model's answer if it is sure, else the person's; ``assessor`` says whose it is."""
        by_model = self.model.judge(query, question)
        unsure = goes_to_person(by_model.confidence, self.sure)
        if not unsure and not is_checked(query, question, self.check, self.seed):
            return self._from_model(by_model)
        try:
            verdict = self.person.judge(query, question)
        except NotAnsweredError:
            with self._lock:
                self.waiting.append((query, question))
            return self._from_model(by_model)
        with self._lock:
            self.by_people += 1
            if not unsure:
                confidence = by_model.confidence or 0.0
                self.checks.append(Check(query, question, by_model.answer, verdict.answer, confidence))
        return verdict._replace(assessor=verdict.assessor or self.person.name)

    def _from_model(self, verdict: Verdict) -> Verdict:
        with self._lock:
            self.by_model += 1
        return verdict._replace(assessor=verdict.assessor or self.model.name)

    def prefetch(self, questions: Iterable[tuple[str, Question]]) -> None:
        """Start asking the model, if it can answer several questions at once."""
        if isinstance(self.model, ConcurrentJudge):
            self.model.prefetch(questions)

    def cost(self) -> Cost:
        """How many answers the model gave, and what that cost in quality."""
        return cost_of(self.checks, self.by_people, self.by_model)


def cost_of(checks: list[Check], by_people: int, by_model: int) -> Cost:
    """The statement of :class:`Cost` from checks and counts."""
    different = sum(not check.same for check in checks)
    return Cost(by_people, by_model, len(checks), different, *wilson(different, len(checks)))


def sure_enough(checks: list[Check], most_different: float) -> float:
    """The lowest confidence from which on the model differs from people in at most this share of answers.

    ``checks`` hold answers of every confidence, such as those of an audit. The upper end of the interval of
    the share counts, so few checks give a high threshold; infinity means that no answer is sure enough.
    """
    ordered = sorted(checks, key=lambda check: -check.confidence)
    threshold, different = float("inf"), 0
    for number, check in enumerate(ordered, 1):
        different += not check.same
        last = number == len(ordered) or ordered[number].confidence < check.confidence
        if last and wilson(different, number)[1] <= most_different:
            threshold = check.confidence
    return threshold


def _preferred(answer: str) -> str:
    return {"bad-a": "b", "bad-b": "a"}.get(answer, answer)
