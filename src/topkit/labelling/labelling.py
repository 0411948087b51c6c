"""Labelling: the next question or the result, as an immutable value that is a fold over the answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from math import nan
from numbers import Integral
from random import Random

from topkit.data.errors import InputError
from topkit.data.judgments import Grade, Judgments, Preference
from topkit.data.words import lookup
from topkit.labelling.bound import lower_bound
from topkit.labelling.contest import Ask, Contest, Finish, Play, keep_sides
from topkit.labelling.known import Known
from topkit.labelling.question import Answered, Progress, Question, question_about
from topkit.labelling.result import TopK, top_k
from topkit.labelling.strategies import STRATEGIES
from topkit.labelling.strategies.graded import GRADES

__all__ = ["Answered", "Labelling", "Progress", "Question"]


class _State:
    """The state of a labelling: a question or the result, and the running strategy.

    The first answer to a state takes the running strategy over; a second answer has to replay.
    """

    def __init__(self, strategy: str, contest: Contest) -> None:
        self.strategy = strategy
        self.contest = contest
        self.ask: Ask | None = None
        self.finish: Finish | None = None
        self.running: list[Play] = []

    def advanced(self, play: Play, answer: str | None) -> _State:
        """The state after an answer; None starts the strategy."""
        after = _State(self.strategy, self.contest)
        try:
            after.ask = next(play) if answer is None else play.send(answer)
            after.running.append(play)
        except StopIteration as end:
            after.finish = end.value
        return after

    def replayed(self, answers: Iterable[str]) -> _State:
        """The state after all these answers, from the start."""
        play = keep_sides(STRATEGIES[self.strategy](self.contest), Random(self.contest.seed + 1))
        state = self.advanced(play, None)
        for answer in answers:
            state = state.advanced(state.running.pop(), answer)
        return state


@dataclass(frozen=True, repr=False)
class Labelling:
    """The labelling of one query's items: questions and answers until the top k are in order.

    It is an immutable value: ``answer`` and ``undo`` return new ones. It is a pure function of (items, k,
    strategy, seed, prior, answers): replaying the answers gives the same state and the same next question.

    - ``items``: unique ids of the documents.
    - ``k``: the number of places to fill; k ≥ n orders all items.
    - ``strategy``: a name in ``STRATEGIES``.
    - ``prior``: the items by expected relevance, best first; items that are left out come last, in their
      order.

    Answers: "a" or "b" is better, "tie" (about the same), "bad-a" or "bad-b" (clearly irrelevant: the item is
    removed at once, with all items known to be no better). Items that tie share a place.

    >>> lab = Labelling(["x", "y", "z"], k=1)
    >>> lab.question
    Question(a='z', b='x')
    >>> lab = lab.answer("b").answer("bad-a")
    >>> lab.question is None, lab.result.order
    (True, ('x',))
    """

    items: Sequence[str]
    k: int
    strategy: str = "adaptive"
    seed: int = 0
    prior: Sequence[str] | None = None
    answers: Sequence[Answered] = field(init=False)
    _state: _State = field(init=False, compare=False)

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "items", tuple(self.items))
        set_field(self, "prior", None if self.prior is None else tuple(self.prior))
        set_field(self, "answers", ())
        contest = _contest(self.items, self.k, self.strategy, self.seed, self.prior)
        set_field(self, "_state", _State(self.strategy, contest).replayed(()))

    @classmethod
    def from_answers(
        cls,
        items: Sequence[str],
        k: int,
        strategy: str = "adaptive",
        seed: int = 0,
        prior: Sequence[str] | None = None,
        *,
        answers: Iterable[Answered | str],
    ) -> Labelling:
        """The labelling after these answers. Answers with questions must match the questions asked.

        >>> lab = Labelling("xyz", k=2).answer("a").answer("tie")
        >>> Labelling.from_answers("xyz", k=2, answers=lab.answers) == lab
        True
        """
        lab = cls(items, k, strategy, seed, prior)
        for number, answered in enumerate(answers, 1):
            if isinstance(answered, str):
                lab = lab.answer(answered)
                continue
            if lab.question != answered.question:
                raise InputError(
                    f"answer {number} is to {answered.question}, but the question was {lab.question}",
                    "use the items, k, strategy, seed and prior for which the answers were given",
                )
            lab = lab.answer(answered.answer, answered.assessor, answered.seconds)
        return lab

    # -- ask and answer ------------------------------------------------------------------------------------
    @property
    def question(self) -> Question | None:
        """The next question; None when the top k are known."""
        if (ask := self._state.ask) is None:
            return None
        numbers = (ask.a,) if ask.b is None else (ask.a, ask.b, *ask.rest)
        return question_about([self.items[number] for number in numbers])

    def answer(self, answer: str, assessor: str = "", seconds: float | None = None) -> Labelling:
        """The labelling after the answer to ``question``."""
        question = self.question
        if question is None:
            raise InputError("the labelling is complete", "use its result")
        if answer not in question.choices:
            raise InputError(f"invalid answer {answer!r}", f"choose from {', '.join(question.choices)}")
        latest = Answered(question.a, question.b, answer, assessor, seconds, question.documents[2:])
        try:
            play = self._state.running.pop()
        except IndexError:  # this value was answered before, so its strategy has moved on: replay up to here
            play = self._state.replayed(answered.answer for answered in self.answers).running.pop()
        return self._with((*self.answers, latest), self._state.advanced(play, answer))

    def undo(self) -> Labelling:
        """The labelling before the last answer; itself if there is no answer."""
        earlier = self.answers[:-1]
        return self._with(tuple(earlier), self._state.replayed(answered.answer for answered in earlier))

    def _with(self, answers: tuple[Answered, ...], state: _State) -> Labelling:
        after = copy(self)
        object.__setattr__(after, "answers", answers)
        object.__setattr__(after, "_state", state)
        return after

    # -- what is known -------------------------------------------------------------------------------------
    @property
    def result(self) -> TopK | None:
        """The ordered top k; None while there is a question."""
        finish = self._state.finish
        if finish is None:
            return None
        grades = {a: answer for a, b, answer, *_ in self.answers if b is None}
        return top_k(self.items, self.k, finish, self.known(), grades or None)

    @property
    def progress(self) -> Progress:
        """The numbers of questions asked and remaining."""
        bound = lower_bound(len(self.items), self.k)
        ask = self._state.ask
        if ask is None:
            return Progress(len(self.answers), 0, 0, 0.0, bound)
        likely = (ask.least + ask.most) / 2 if ask.likely is None else ask.likely
        return Progress(len(self.answers), ask.least, ask.most, likely, bound)

    def known(self) -> Known:
        """What the answers imply; items are numbered as in ``items``."""
        number = {item: i for i, item in enumerate(self.items)}
        known = Known(len(self.items))
        for answered in self.answers:
            if answered.b is None:
                known.bad |= (answered.answer == GRADES[0]) << number[answered.a]
            for _, a, b, answer, *_ in answered.preferences(""):
                known.record(number[a], number[b], answer)
        return known

    def judgments(self, query: str = "") -> Judgments:
        """The answers as judgments of a query."""
        grades: list[Grade] = []
        preferences: list[Preference] = []
        for answered in self.answers:
            if answered.b is None:
                time = nan if answered.seconds is None else answered.seconds
                grade = GRADES.index(answered.answer)
                grades.append(Grade(query, answered.a, grade, answered.assessor, time))
            preferences += answered.preferences(query)
        return Judgments(tuple(grades), tuple(preferences))

    def __repr__(self) -> str:
        state = f"{len(self.answers)} answers, " + ("done" if self._state.ask is None else str(self.question))
        return f"Labelling({len(self.items)} items, k={self.k}, {self.strategy}, {state})"


def _contest(items: Sequence[str], k: int, strategy: str, seed: int, prior: Sequence[str] | None) -> Contest:
    if not items:
        raise InputError("there are no items to label", "give at least one item")
    number = {item: i for i, item in enumerate(items)}
    if len(number) < len(items):
        repeated = next(item for i, item in enumerate(items) if number[item] != i)
        raise InputError(f"item {repeated!r} is given twice", "give each item once")
    whole: object = k
    if isinstance(whole, bool) or not isinstance(whole, Integral) or k < 1:
        raise InputError(f"k must be an integer of at least 1, got {k!r}")
    lookup(STRATEGIES, strategy, "strategy")
    order = None
    if prior is not None:
        unknown = [item for item in prior if item not in number]
        if unknown or len(set(prior)) < len(prior):
            problem = (
                f"contains {unknown[0]!r}, which is not an item" if unknown else "contains an item twice"
            )
            raise InputError(f"the prior {problem}", "give each item once, by expected relevance")
        order = tuple(number[item] for item in dict.fromkeys((*prior, *items)))
    return Contest(len(items), min(k, len(items)), seed, order)
