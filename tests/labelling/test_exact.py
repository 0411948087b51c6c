"""A consistent assessor's true top k comes out of every strategy, and no question is implied."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from tests.support.labelling import COMPARING, by_rank, check_bounds, check_exact, play

FAST = [name for name in COMPARING if name != "reliable"]


@pytest.mark.parametrize("strategy", FAST)
def test_every_permutation_up_to_six(strategy: str) -> None:
    for n in range(1, 7):
        for k in range(1, n + 1):
            for number, rank in enumerate(permutations(range(n))):
                record = play(strategy, n, k, by_rank(rank), seed=number)
                check_exact(strategy, rank, k, record)
                check_bounds(record)


def test_every_permutation_with_a_prior() -> None:
    for n in range(1, 6):
        for k in range(1, n + 1):
            for rank in permutations(range(n)):
                record = play("adaptive", n, k, by_rank(rank), prior=tuple(range(n)))
                check_exact("adaptive", rank, k, record)
                check_bounds(record)


def test_reliable_on_every_permutation_up_to_four() -> None:
    for n in range(1, 5):
        for k in range(1, n + 1):
            for rank in permutations(range(n)):
                record = play("reliable", n, k, by_rank(rank))
                check_exact("reliable", rank, k, record)
                check_bounds(record)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", FAST)
def test_ten_thousand_larger_cases(strategy: str) -> None:
    chance = Random(strategy)
    for number in range(10_000 // len(FAST) + 1):
        n = chance.randint(7, 40)
        k = chance.randint(1, n + 2)
        rank = chance.sample(range(n), n)
        prior = tuple(chance.sample(range(n), n)) if number % 2 else None
        record = play(strategy, n, k, by_rank(rank), seed=number, prior=prior)
        check_exact(strategy, rank, min(k, n), record)
        check_bounds(record)


def test_reliable_on_larger_cases() -> None:
    chance = Random(5)
    for number in range(12):
        n = chance.randint(7, 40)
        k = chance.randint(1, n)
        rank = chance.sample(range(n), n)
        prior = tuple(chance.sample(range(n), n)) if number % 2 else None
        record = play("reliable", n, k, by_rank(rank), seed=number, prior=prior)
        check_exact("reliable", rank, k, record)
        check_bounds(record)
