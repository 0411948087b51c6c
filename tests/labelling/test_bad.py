"""A "bad" mark saves judgments in every strategy, and nothing is asked that it implies."""

from __future__ import annotations

from itertools import permutations
from random import Random
from statistics import fmean

import pytest

from tests.support.labelling import COMPARING, Implied, Record, check_bounds, play, with_bad

FAST = [name for name in COMPARING if name != "reliable"]


def check_nothing_implied(strategy: str, record: Record) -> None:
    """The paper's heap repeats questions before the first mark; ``reliable`` checks all but bad documents."""
    implied = Implied()
    for ask, answer in zip(record.asks, record.answers, strict=True):
        assert ask.b is not None
        if strategy == "reliable" or (strategy == "heap" and not implied.marked):
            assert not implied.is_bad(ask.a)
            assert not implied.is_bad(ask.b)
        else:
            assert not implied.known(ask.a, ask.b), (strategy, ask)
        implied.add(ask.a, ask.b, answer)


def mean_judgments(strategy: str, bad: int, orders: int) -> float:
    counts = []
    for number in range(orders):
        chance = Random(f"{number}")
        rank = chance.sample(range(50), 50)
        counts.append(len(play(strategy, 50, 10, with_bad(rank, 50 - bad), seed=number).asks))
    return fmean(counts)


@pytest.mark.parametrize("strategy", FAST)
def test_more_bad_documents_cost_fewer_judgments(strategy: str) -> None:
    means = [mean_judgments(strategy, bad, 40) for bad in (0, 10, 25, 40)]
    assert means == sorted(means, reverse=True), means


def test_more_bad_documents_cost_fewer_checks() -> None:
    means = [mean_judgments("reliable", bad, 3) for bad in (0, 25, 40)]
    assert means == sorted(means, reverse=True), means


@pytest.mark.parametrize("strategy", FAST)
def test_every_permutation_of_five_with_every_number_of_bad_documents(strategy: str) -> None:
    for number, rank in enumerate(permutations(range(5))):
        for k in range(1, 6):
            for good in range(6):
                record = play(strategy, 5, k, with_bad(rank, good), seed=number)
                check_nothing_implied(strategy, record)
                check_bounds(record)
                truth = sorted(range(5), key=rank.__getitem__)[: min(good, k)]
                assert record.top(len(truth)) == truth, (strategy, rank, k, good)


@pytest.mark.parametrize("strategy", [*FAST, "reliable"])
def test_larger_lists_with_and_without_a_prior(strategy: str) -> None:
    chance = Random(strategy)
    for number in range(4 if strategy == "reliable" else 60):
        n = chance.randint(6, 30)
        k, good = chance.randint(1, n), chance.randint(0, n)
        rank = chance.sample(range(n), n)
        prior = tuple(chance.sample(range(n), n)) if number % 2 else None
        record = play(strategy, n, k, with_bad(rank, good), seed=number, prior=prior)
        check_nothing_implied(strategy, record)
        check_bounds(record)
        truth = sorted(range(n), key=rank.__getitem__)[: min(good, k)]
        assert record.top(len(truth)) == truth, (strategy, rank, k, good)


def test_heap_repeats_as_in_the_paper_until_the_first_mark() -> None:
    rank = Random(1).sample(range(50), 50)
    pairs = [frozenset((ask.a, ask.b)) for ask in play("heap", 50, 10, with_bad(rank, 50)).asks]
    assert len(set(pairs)) < len(pairs)
    marked = [frozenset((ask.a, ask.b)) for ask in play("heap", 50, 10, with_bad(rank, 25)).asks]
    assert len(set(marked)) == len(marked)
