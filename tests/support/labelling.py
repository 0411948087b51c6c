"""Driving strategies by assessors, with a closure of the answers that shares no code with the package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from topkit.labelling.contest import Ask, Contest, Finish
from topkit.labelling.strategies import PAIRWISE, STRATEGIES

COMPARING = list(PAIRWISE)


@dataclass
class Implied:
    """Edges "at least as good" and "better"; an answer is implied if a path through them gives it.

    Every comparison with a bad item is implied: with one that was marked, or one that is no better.
    """

    edges: dict[int, dict[int, bool]] = field(default_factory=dict)
    """a → b → whether a is strictly better than b (False: they tie)."""
    marked: set[int] = field(default_factory=set)

    def add(self, a: int, b: int, answer: str) -> None:
        if answer.startswith("bad"):
            self.marked.add(a if answer == "bad-a" else b)
            return
        if answer == "b":
            a, b = b, a
        self.edges.setdefault(a, {})[b] = answer != "tie"
        if answer == "tie":
            self.edges.setdefault(b, {})[a] = False

    def reaches(self, a: int, b: int) -> bool:
        """Whether b is known to be no better than a."""
        seen, todo = {a}, [a]
        while todo:
            for other in self.edges.get(todo.pop(), ()):
                if other == b:
                    return True
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return False

    def is_bad(self, item: int) -> bool:
        return item in self.marked or any(self.reaches(bad, item) for bad in self.marked)

    def known(self, a: int, b: int) -> bool:
        return self.is_bad(a) or self.is_bad(b) or self.reaches(a, b) or self.reaches(b, a)


@dataclass
class Record:
    asks: list[Ask]
    answers: list[str]
    finish: Finish

    def top(self, k: int) -> list[int]:
        return [item for group in self.finish.groups for item in group][:k]


def play(
    strategy: str,
    n: int,
    k: int,
    answer: Callable[[int, int], str],
    seed: int = 0,
    prior: tuple[int, ...] | None = None,
) -> Record:
    """The whole play of a strategy with an assessor."""
    running = STRATEGIES[strategy](Contest(n, min(k, n), seed, prior))
    asks: list[Ask] = []
    answers: list[str] = []
    try:
        ask = next(running)
        while True:
            assert ask.b is not None
            asks.append(ask)
            answers.append(answer(ask.a, ask.b))
            ask = running.send(answers[-1])
    except StopIteration as end:
        return Record(asks, answers, end.value)


def by_rank(rank: list[int] | tuple[int, ...]) -> Callable[[int, int], str]:
    """An assessor who never errs; equal ranks tie."""
    return lambda a, b: "a" if rank[a] < rank[b] else "b" if rank[b] < rank[a] else "tie"


def with_bad(rank: Sequence[int], good: int) -> Callable[[int, int], str]:
    """An assessor who never errs and marks the worse of two documents bad if its rank is ``good`` or more."""

    def answer(a: int, b: int) -> str:
        if max(rank[a], rank[b]) >= good:
            return "bad-a" if rank[a] > rank[b] else "bad-b"
        return "a" if rank[a] < rank[b] else "b"

    return answer


def check_exact(strategy: str, rank: list[int] | tuple[int, ...], k: int, record: Record) -> None:
    """The true top k came out, and nothing was asked that the answers before implied."""
    n = len(rank)
    truth = sorted(range(n), key=rank.__getitem__)[:k]
    assert record.top(k) == truth, (strategy, rank, k)
    if strategy in ("heap", "reliable"):  # the paper's heap asks again; reliable checks what it knows
        return
    implied = Implied()
    for ask, answer in zip(record.asks, record.answers, strict=True):
        assert ask.b is not None
        assert not implied.known(ask.a, ask.b), (strategy, rank, k, ask)
        implied.add(ask.a, ask.b, answer)


def check_bounds(record: Record) -> None:
    """At every question the number still to come lay within the bounds given."""
    total = len(record.asks)
    for number, ask in enumerate(record.asks):
        assert 1 <= ask.least <= total - number <= ask.most, (number, total, ask)
