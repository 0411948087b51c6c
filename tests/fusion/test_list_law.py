"""The law of lists of any length around a centre of any length: enumeration, a twin, and its inverse."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from topkit.fusion import top_k_distance
from topkit.fusion.mallows import ListLaw, expected_distance, log_normaliser
from topkit.fusion.mallows.dispersion import LIMIT
from topkit.fusion.mallows.model import log_q_number, mean_variable

SHAPES = [(n, d, length) for n in range(1, 6) for d in range(1, n + 1) for length in range(n + 1)]


def law_of(n: int, d: int, length: int) -> ListLaw:
    return ListLaw(np.array([n]), np.array([[length]]), np.array([d]))


@pytest.mark.parametrize(("n", "d", "length"), SHAPES)
def test_normaliser_mean_and_inverse_by_enumeration(n: int, d: int, length: int) -> None:
    law = law_of(n, d, length)
    distances = np.array([top_k_distance(range(d), order) for order in permutations(range(n), length)])
    for theta in (-1.7, -0.4, 0.0):
        weights = np.exp(theta * distances)
        mean = (weights * distances).sum() / weights.sum()
        one = np.array([theta])
        assert law.log_normaliser(one)[0] == pytest.approx(np.log(weights.sum()), abs=1e-9)
        assert law.mean_distance(one)[0] == pytest.approx(mean, abs=1e-9)
        if distances.min() < distances.max():
            assert law.solve(np.array([mean]))[0] == pytest.approx(theta, abs=1e-6)


def test_complete_orders_are_the_plain_model() -> None:
    law = law_of(9, 9, 9)
    theta = np.array([-0.37])
    assert law.log_normaliser(theta)[0] == pytest.approx(log_normaliser(-0.37, 9))
    assert law.mean_distance(theta)[0] == pytest.approx(expected_distance(-0.37, 9))
    assert law_of(9, 9, 4).log_normaliser(theta)[0] == pytest.approx(log_normaliser(-0.37, 9, 4))


def plain_law(theta: float, pools: list[int], depths: list[int], lengths: list[int]) -> tuple[float, float]:
    """The formula of ListLaw with arrays over z."""
    total, mean = 0.0, 0.0
    for n, d, length in zip(pools, depths, lengths, strict=True):
        z = np.arange(max(0, length - (n - d)), min(d, length) + 1)
        r, s = d - z, length - z
        m = np.minimum(r, s)
        constant = r * s - m * (m - 1) / 2
        logs = np.append(0.0, np.cumsum(log_q_number(np.arange(1, max(d, length) + 1), theta)))
        means = np.append(0.0, np.cumsum(mean_variable(np.arange(1, max(d, length) + 1), theta)))
        weight = gammaln(n - d + 1.0) - gammaln(n - d - s + 1.0) + theta * constant
        weight = weight + logs[length] - logs[s] + logs[d] - logs[z] - logs[r]
        own = constant + means[length] - means[s] + means[d] - means[z] - means[r]
        total += float(logsumexp(weight))
        mean += float((np.exp(weight - logsumexp(weight)) * own).sum())
    return total, mean


@pytest.mark.parametrize("theta", [-3.0, -0.2, -0.01, -1e-6, 0.0])
def test_kernel_agrees_with_its_plain_twin_on_long_lists(theta: float) -> None:
    pools, depths = [900, 2100, 60], [100, 100, 50]
    lengths = [[100, 40], [100, 100], [60, 0]]
    law = ListLaw(np.array(pools), np.array(lengths), np.array(depths))
    both = np.array([theta, theta])
    for i in (0, 1):
        total, mean = plain_law(theta, pools, depths, [row[i] for row in lengths])
        assert law.log_normaliser(both)[i] == pytest.approx(total, rel=1e-10)
        assert law.mean_distance(both)[i] == pytest.approx(mean, rel=1e-9)


def test_solve_stops_at_its_ends() -> None:
    law = law_of(6, 6, 6)
    assert law.solve(np.array([7.5]))[0] == 0.0  # chance: half of 15 pairs
    assert law.solve(np.array([12.0]))[0] == 0.0  # worse than chance is as good as nothing
    assert law.solve(np.array([0.0]))[0] == -LIMIT  # always the same order


def test_solve_finds_theta_from_anywhere() -> None:
    law = ListLaw(np.array([500, 700]), np.array([[100] * 5, [80] * 5]), np.array([100, 80]))
    planted = np.array([-5.0, -0.5, -0.03, -1e-3, -1e-5])
    distance = law.mean_distance(planted)
    for near in (None, np.full(5, -1.0), np.full(5, -1e-9), np.zeros(5)):
        np.testing.assert_allclose(law.solve(distance, near), planted, rtol=1e-4)
