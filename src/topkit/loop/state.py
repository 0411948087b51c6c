"""The state of a loop as a fold over its events, and the events that follow from a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import Dataset, InputError
from topkit.labelling import Labelling
from topkit.loop.check import Checked, estimate, reserved_queries
from topkit.loop.choice import Situation, choose_queries
from topkit.loop.depth import choose_candidates, choose_depth, expected_questions
from topkit.loop.events import Answer, Decision, Event, Extended, Fitted, Interval, Stopped
from topkit.loop.outlook import expected_gain
from topkit.loop.settings import LoopSettings
from topkit.loop.training import Labelled, fit, labelled
from topkit.rankers import Learner


@dataclass(frozen=True)
class Task:
    """What stays the same during a loop."""

    queries: Dataset
    template: Learner
    """The ranker, not fitted."""
    settings: LoopSettings
    seed: int
    budget: float
    """Minutes, before extensions."""

    @cached_property
    def number(self) -> Mapping[str, int]:
        """Query id → position."""
        return {qid: i for i, qid in enumerate(self.queries.qids)}

    @cached_property
    def reserved(self) -> NDArray[np.int64]:
        """Queries that only the unbiased estimate uses."""
        return reserved_queries(self.queries, self.settings.check_share, self.seed)

    @cached_property
    def learnable(self) -> NDArray[np.int64]:
        """Queries that the ranker may learn from: at least two documents, and not reserved."""
        return np.setdiff1d(np.flatnonzero(self.queries.lengths >= 2), self.reserved)

    def items(self, query: int) -> list[str]:
        """The document ids of a query."""
        first, stop = int(self.queries.ptr[query]), int(self.queries.ptr[query + 1])
        return [str(name) for name in self.queries.names_of_documents()[first:stop]]


@dataclass(frozen=True)
class State:
    """Everything that the events so far say."""

    task: Task
    done: tuple[Labelled, ...] = ()
    checked: tuple[Checked, ...] = ()
    waiting: tuple[Decision, ...] = ()
    """Decisions whose labelling has not finished; the first is the current one."""
    labelling: Labelling | None = None
    """The labelling of the current query."""
    answers: int = 0
    check_answers: int = 0
    seconds: float = 0.0
    more_minutes: float = 0.0
    stopped: str | None = None

    @property
    def minutes(self) -> float:
        return self.seconds / 60

    @property
    def budget(self) -> float:
        """Minutes, with extensions."""
        return self.task.budget + self.more_minutes

    def add(self, event: Event) -> State:
        """The state after one more event."""
        if isinstance(event, Decision):
            if event.query not in self.task.number:
                raise InputError(f"the data set has no query {event.query!r}", "use the data of this loop")
            return replace(self, waiting=(*self.waiting, event))._opened()
        if isinstance(event, Answer):
            return self._answered(event)
        if isinstance(event, Extended):
            return replace(self, more_minutes=self.more_minutes + event.minutes, stopped=None)
        return replace(self, stopped=event.why) if isinstance(event, Stopped) else self

    def _opened(self) -> State:
        """The state with the labelling of the first decision that waits."""
        if self.labelling is not None or not self.waiting:
            return self
        first = self.waiting[0]
        return replace(
            self, labelling=Labelling(first.items, first.k, first.strategy, first.seed, first.prior)
        )

    def _answered(self, event: Answer) -> State:
        labelling = self.labelling
        if (
            labelling is None
            or labelling.question != (event.a, event.b)
            or self.waiting[0].query != event.query
        ):
            raise InputError(
                f"the answer is to {event.a!r} or {event.b!r} of query {event.query!r}, which was not asked",
                "use the events of one loop, in their order",
            )
        labelling = labelling.answer(event.answer, event.assessor, event.seconds)
        seconds = self.task.settings.seconds if event.seconds is None else event.seconds
        check = self.waiting[0].purpose == "check"
        after = replace(
            self,
            labelling=labelling,
            answers=self.answers + 1,
            check_answers=self.check_answers + check,
            seconds=self.seconds + seconds,
        )
        return after if labelling.question is not None else after._finished(labelling)

    def _finished(self, labelling: Labelling) -> State:
        decision, *rest = self.waiting
        after = replace(self, waiting=tuple(rest), labelling=None)
        query = self.task.number[decision.query]
        part = labelled(self.task.queries, query, labelling)
        if decision.purpose == "train":
            after = replace(after, done=(*self.done, part))
        else:
            tie = not len(part.better)
            first = int(self.task.queries.ptr[query])
            rows = (first, first) if tie else (int(part.better[0]), int(part.worse[0]))
            after = replace(after, checked=(*self.checked, Checked(query, *rows, tie)))
        return after._opened()

    @cached_property
    def ranker(self) -> Learner | None:
        """The ranker fitted to all finished labellings; None before the first preference."""
        return fit(self.task.template, self.task.queries, self.done)

    @cached_property
    def scores(self) -> Floats | None:
        """The scores of the ranker for all documents."""
        return None if self.ranker is None else self.ranker.ordering_scores(self.task.queries)

    def estimate(self) -> Interval | None:
        """The agreement of the ranker with the judges on random pairs of reserved queries."""
        return None if self.scores is None else estimate(self.scores, self.checked)

    def gain(self) -> Interval | None:
        """The expected gain of another hour in the agreement with the judges."""
        return expected_gain(self.task.template, self.task.queries, self.done, self.minutes, self.task.seed)


def next_events(state: State) -> list[Event]:
    """What follows without an answer: the next decisions, or the end; empty while a question is open."""
    if state.stopped is not None:
        return []
    budget = state.budget
    left = budget * 60 - state.seconds
    if state.waiting:
        needed = expected_seconds(state.task.settings, state.waiting[0])
        fresh = state.labelling is not None and not state.labelling.answers
        return [_out_of_time(budget, needed)] if fresh and needed > left and state.answers else []
    events: list[Event] = []
    settings = state.task.settings
    if state.answers:
        gain = None if settings.least_gain is None else state.gain()
        queries = len({part.query for part in state.done})
        events.append(Fitted(queries, state.minutes, gain, state.estimate()))
        if gain is not None and settings.least_gain is not None and gain.high < settings.least_gain:
            why = f"another hour is expected to gain {gain}, less than {settings.least_gain:g}"
            return [*events, Stopped(why)]
    decisions = next_decisions(state)
    if not decisions:
        return [*events, Stopped("no query has two documents to compare")]
    needed = expected_seconds(settings, decisions[0])
    if state.answers and needed > left:
        return [*events, _out_of_time(budget, needed)]
    return [*events, *decisions]


def expected_seconds(settings: LoopSettings, decision: Decision) -> float:
    """The time that a labelling is expected to take."""
    return expected_questions(decision.k, len(decision.items)) * settings.seconds


def _out_of_time(budget: float, needed: float) -> Stopped:
    return Stopped(f"the budget of {budget:g} minutes does not pay for the next query ({needed:.0f} s)")


def next_decisions(state: State) -> list[Decision]:
    """The next batch of queries, each with its depth and its start."""
    task, settings = state.task, state.task.settings
    if not len(task.learnable):
        return []
    times = np.bincount([part.query for part in state.done], minlength=task.queries.n_queries)[task.learnable]
    round_ = int(times.min())
    left = task.learnable[times == round_]
    situation = Situation(task.template, task.queries, state.done, state.scores, task.seed)
    chosen = choose_queries(situation, settings.choose, left, min(settings.batch, len(left)))
    decisions = [_train_decision(state, query, why, round_) for query, why in chosen]
    return _with_checks(state, decisions)


def _train_decision(state: State, query: int, why: str, round_: int) -> Decision:
    task, settings = state.task, state.task.settings
    items = task.items(query)
    seed = _seed(task, query, round_)
    first = int(task.queries.ptr[query])
    scores = None if state.scores is None else state.scores[first : first + len(items)]
    depth = choose_depth(settings, len(items), round_)
    chance = np.random.default_rng(seed)
    chosen = choose_candidates(scores, len(items), depth.candidates, settings.explore, chance)
    prior = None
    why_start = "without a prior: " + ("set by the user" if settings.start == "nowhere" else "no ranker yet")
    if scores is not None and settings.start == "ranker":
        prior = tuple(items[i] for i in chosen[np.argsort(-scores[chosen], kind="stable")])
        why_start = f"from the order of the ranker after {len(state.done)} labellings"
    return Decision(
        query=task.queries.qids[query],
        purpose="train",
        items=tuple(items[i] for i in chosen),
        k=depth.k,
        strategy=settings.strategy,
        seed=seed,
        prior=prior,
        why_query=why + (f"; labelled {round_} times before" if round_ else ""),
        why_depth=depth.why,
        why_start=why_start,
    )


def _with_checks(state: State, decisions: list[Decision]) -> list[Decision]:
    """The decisions of a batch, mixed with checks so that they get their share of the answers."""
    task, share = state.task, state.task.settings.check_share
    if not len(task.reserved):
        return decisions
    mixed: list[Decision] = []
    answers, checks = float(state.answers), state.check_answers
    for decision in decisions:
        mixed.append(decision)
        answers += expected_questions(decision.k, len(decision.items))
        while checks + 1 <= share * (answers + 1):
            mixed.append(_check_decision(task, checks))
            answers, checks = answers + 1, checks + 1
    return mixed


def _check_decision(task: Task, number: int) -> Decision:
    """A random pair of the next reserved query."""
    round_, place = divmod(number, len(task.reserved))
    query = int(task.reserved[place])
    items = task.items(query)
    seed = _seed(task, query, round_)
    pair = np.random.default_rng(seed).permutation(len(items))[:2]
    return Decision(
        query=task.queries.qids[query],
        purpose="check",
        items=tuple(items[int(i)] for i in pair),
        k=1,
        strategy="adaptive",
        seed=seed,
        prior=None,
        why_query="a random query, kept for the unbiased estimate",
        why_depth="a random pair: the ranker must not choose what it is tested on",
        why_start="without a prior: the ranker must not choose what it is tested on",
    )


def _seed(task: Task, query: int, round_: int) -> int:
    """A seed for one labelling; different for every query, round and seed of the loop."""
    return int(np.random.SeedSequence([task.seed, 4, query, round_]).generate_state(1)[0])


def folded(task: Task, events: tuple[Event, ...], report: Callable[[int], None] = lambda done: None) -> State:
    """The state after all these events."""
    state = State(task)
    for number, event in enumerate(events, 1):
        state = state.add(event)
        report(number)
    return state
