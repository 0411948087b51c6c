"""LabellingLoop: label, fit, decide what to label next; an immutable value that is a fold over its events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import cast

from topkit.compute import Report, silent
from topkit.data import Dataset, InputError, Judgments
from topkit.data.judgments import Answer as AnswerWord
from topkit.data.judgments import Preference
from topkit.labelling import Judge
from topkit.loop.events import Answer, Decision, Event, Extended, Interval
from topkit.loop.settings import LoopSettings
from topkit.loop.state import State, Task, folded, next_events
from topkit.rankers import Learner, ranker
from topkit.reporting.progress import NO_NUMBER


@dataclass(frozen=True)
class LoopQuestion:
    """Which of two documents is more relevant for the query? ``decision`` says why this is asked."""

    query: str
    a: str
    b: str
    decision: Decision


@dataclass(frozen=True, repr=False, eq=False)
class LabellingLoop:
    """A ranker in the loop: it learns from the answers and decides what is asked next.

    After every batch of queries the ranker is fitted again and four decisions are made: which queries are
    next, how deep they are labelled (k, and how many candidates), where a labelling starts (the order of the
    ranker is its prior), and whether to stop. Every decision is an event with its reasons.

    It is an immutable value: ``answer`` and ``undo`` return new ones. The events are its whole state, so a
    loop can be saved, resumed and replayed.

    - ``queries``: the data set; its labels are not used.
    - ``judges``: who answers in :meth:`run`, in turn; one judge, several, or none if answers come from
      elsewhere.
    - ``ranker``: a name, or a ranker with settings. Rankers with the setting ``pairs="given"`` (ranksvm,
      ranknet) learn only from documents that were compared.
    - ``budget``: the time of the judges in minutes.

    >>> from topkit.labelling import SimulatedAssessor
    >>> X, qid = [[1.0], [2.0], [3.0]] * 2, ["p"] * 3 + ["q"] * 3
    >>> data = Dataset.build(X, [0] * 6, qid, doc_ids=list("abcdef"))
    >>> judge = SimulatedAssessor.of_order("ann", "cbafed")
    >>> loop = LabellingLoop(data, judge, budget=1, settings=LoopSettings(check_share=0)).run()
    >>> len(loop.answers), loop.stopped
    (10, 'the budget of 1 minutes does not pay for the next query (14 s)')
    >>> loop.fitted.rank(data)["q"][0][0]
    'f'
    """

    queries: Dataset
    judges: Judge | Sequence[Judge] = ()
    ranker: str | Learner = "ranksvm"
    budget: float = 60.0
    settings: LoopSettings = field(default_factory=LoopSettings)
    seed: int = 0
    events: tuple[Event, ...] = field(init=False, default=())
    _state: State = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.queries, Dataset):
            raise InputError("the queries must be a Dataset", "make one with Dataset.build or read_letor")
        _check_minutes(self.budget, "the budget")
        template = ranker(self.ranker) if isinstance(self.ranker, str) else self.ranker
        # ids are generated once here, because every decision needs those of a query
        named = replace(self.queries, doc_ids=self.queries.names_of_documents())
        judges = tuple(self.judges) if isinstance(self.judges, Sequence) else (self.judges,)
        object.__setattr__(self, "judges", judges)
        self._set((), State(Task(named, template, self.settings, self.seed, self.budget)))
        self._advance()

    # -- ask and answer ------------------------------------------------------------------------------------
    @property
    def question(self) -> LoopQuestion | None:
        """The next question; None when the loop has stopped."""
        labelling = self._state.labelling
        if self._state.stopped is not None or labelling is None or labelling.question is None:
            return None
        decision = self._state.waiting[0]
        return LoopQuestion(decision.query, labelling.question.a, str(labelling.question.b), decision)

    def answer(self, answer: str, assessor: str = "", seconds: float | None = None) -> LabellingLoop:
        """The loop after the answer to ``question``: "a", "b", "tie", "bad-a" or "bad-b"."""
        question = self.question
        if question is None:
            raise InputError(f"the loop has stopped: {self.stopped}", "use extended(minutes) to continue")
        event = Answer(question.query, question.a, question.b, answer, assessor, seconds)
        after = self._with((*self.events, event), self._state.add(event))
        after._advance()
        return after

    def undo(self) -> LabellingLoop:
        """The loop before the last answer and before everything that followed from it."""
        place = max((i for i, event in enumerate(self.events) if isinstance(event, Answer)), default=None)
        return self if place is None else self._at(self.events[:place])

    def extended(self, minutes: float) -> LabellingLoop:
        """The loop with more time; a loop that has stopped continues."""
        _check_minutes(minutes, "the additional time")
        event = Extended(float(minutes))
        after = self._with((*self.events, event), self._state.add(event))
        after._advance()
        return after

    def run(
        self, report: Report = silent, on_events: Callable[[Sequence[Event]], object] = len
    ) -> LabellingLoop:
        """The loop after the judges have answered in turn until it stops.

        ``report`` gets the minutes spent and the budget; ``on_events`` gets the new events after each answer,
        for a journal (see :func:`topkit.loop.journal`).
        """
        loop = self
        while loop.question is not None:
            after = loop.step()
            on_events(after.events[len(loop.events) :])
            report(f"{after._state.answers} answers", int(after.minutes), int(after._state.budget), NO_NUMBER)
            loop = after
        return loop

    def step(self) -> LabellingLoop:
        """The loop after one judge has answered the next question."""
        judges, question = self._judges(), self._state.labelling
        if self.question is None or question is None or question.question is None:
            raise InputError(f"the loop has stopped: {self.stopped}", "use extended(minutes) to continue")
        if not judges:
            raise InputError("the loop has no judges", "pass judges, or answer its questions with answer(…)")
        judge = judges[self._state.answers % len(judges)]
        verdict = judge.judge(self.question.query, question.question)
        return self.answer(verdict.answer, judge.name, verdict.seconds)

    # -- what is known -------------------------------------------------------------------------------------
    @property
    def stopped(self) -> str | None:
        """Why no more questions are asked; None while there is a question."""
        return self._state.stopped

    @property
    def minutes(self) -> float:
        """The time of the judges so far."""
        return self._state.minutes

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers, in their order."""
        return tuple(event for event in self.events if isinstance(event, Answer))

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All decisions, in their order, each with its reasons."""
        return tuple(event for event in self.events if isinstance(event, Decision))

    @property
    def fitted(self) -> Learner:
        """The ranker fitted to all finished labellings; InputError before the first."""
        fitted = self._state.ranker
        if fitted is None:
            raise InputError("no labelling has finished yet", "answer more questions")
        return fitted

    @property
    def estimate(self) -> Interval | None:
        """The share of random pairs of random queries that the ranker orders as the judges do.

        It comes from queries that the ranker never learned from. None before the first check.
        """
        return self._state.estimate()

    @property
    def gain(self) -> Interval | None:
        """The expected gain of another hour in agreement with the judges; None with few labelled queries."""
        return self._state.gain()

    @property
    def labelled_queries(self) -> tuple[str, ...]:
        """The queries that the ranker has learned from."""
        numbers = dict.fromkeys(part.query for part in self._state.done)
        return tuple(self.queries.qids[number] for number in numbers)

    def judgments(self) -> Judgments:
        """All answers as judgments, those to checks too."""
        preferences = [
            Preference(
                event.query,
                event.a,
                event.b,
                cast(AnswerWord, event.answer),
                event.assessor,
                NO_NUMBER if event.seconds is None else event.seconds,
            )
            for event in self.answers
        ]
        return Judgments(preferences=tuple(preferences))

    # -- events --------------------------------------------------------------------------------------------
    def resumed(self, events: Sequence[Event]) -> LabellingLoop:
        """The loop of these events, with the same queries, ranker, settings and seed.

        What followed from the last answer is decided again, because a journal may end within it.
        """
        last = max((i for i, event in enumerate(events) if isinstance(event, Answer | Extended)), default=-1)
        return self._at(tuple(events[: last + 1]))

    def replayed(self) -> LabellingLoop:
        """The loop from its answers alone: every decision is made again, and must be the same.

        >>> from topkit.labelling import SimulatedAssessor
        >>> data = Dataset.build([[1.0], [2.0]], [0, 0], ["q"] * 2, doc_ids=list("ab"))
        >>> loop = LabellingLoop(data, settings=LoopSettings(check_share=0)).answer("a").answer("b")
        >>> loop.replayed() == loop
        True
        """
        loop = LabellingLoop(self.queries, self.judges, self.ranker, self.budget, self.settings, self.seed)
        for event in self.events:
            if isinstance(event, Extended):
                loop = loop.extended(event.minutes)
            elif isinstance(event, Answer):
                question = loop.question
                asked = None if question is None else (question.query, question.a, question.b)
                if asked != (event.query, event.a, event.b):
                    raise InputError(
                        f"an answer is to {(event.query, event.a, event.b)}, but this loop asks {asked}",
                        "use the queries, ranker, budget, settings and seed of the answers",
                    )
                loop = loop.answer(event.answer, event.assessor, event.seconds)
        return loop

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabellingLoop):
            return NotImplemented
        return (
            self.queries == other.queries
            and (self.budget, self.settings, self.seed, self.events)
            == (other.budget, other.settings, other.seed, other.events)
            and self._state.task.template.settings == other._state.task.template.settings
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        end = self.stopped or "asking"
        return (
            f"LabellingLoop({self.queries.n_queries} queries, {self._state.task.template.name}, "
            f"{self.minutes:.1f} of {self._state.budget:g} minutes, {self._state.answers} answers, {end})"
        )

    # -- inside --------------------------------------------------------------------------------------------
    def _judges(self) -> Sequence[Judge]:
        return self.judges if isinstance(self.judges, tuple) else ()

    def _at(self, events: tuple[Event, ...]) -> LabellingLoop:
        after = self._with(events, folded(self._state.task, events))
        after._advance()
        return after

    def _with(self, events: tuple[Event, ...], state: State) -> LabellingLoop:
        after = copy(self)
        after._set(events, state)
        return after

    def _advance(self) -> None:
        """Append what follows without an answer; called only on a value that nobody has seen yet."""
        events, state = self.events, self._state
        for event in next_events(state):
            events, state = (*events, event), state.add(event)
        self._set(events, state)

    def _set(self, events: tuple[Event, ...], state: State) -> None:
        object.__setattr__(self, "events", events)
        object.__setattr__(self, "_state", state)


def _check_minutes(minutes: float, what: str) -> None:
    if not (isfinite(minutes) and minutes > 0):
        raise InputError(f"{what} must be a positive number of minutes, got {minutes!r}")
