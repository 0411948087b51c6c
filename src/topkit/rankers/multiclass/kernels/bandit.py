"""Numba kernels of the bandit Exp3.G, which draws the features that AdaBoost.MH looks at."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL


@njit(**KERNEL)
def arm_reach(pull: Floats, explore: float) -> Floats:
    """Cumulative probabilities of the arms: (1 − explore)·softmax(pull) + explore/arms."""
    arms, reach = len(pull), np.empty(len(pull))
    highest = pull[0]
    for i in range(arms):
        highest = max(highest, pull[i])
    total, reached = 0.0, 0.0
    for i in range(arms):
        reach[i] = np.exp(pull[i] - highest)
        total += reach[i]
    for i in range(arms):
        reached += (1.0 - explore) * reach[i] / total + explore / arms
        reach[i] = reached
    return reach


@register_jitable
def draw_arm(reach: Floats, chance: float) -> int:
    """The arm that belongs to a uniform random number from 0 to 1."""
    low, high = 0, len(reach) - 1
    while low < high:
        middle = (low + high) // 2
        if reach[middle] <= chance:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**KERNEL)
def reward_arms(pull: Floats, follows: Floats, arms: Ints, count: int, reward: float, last_arm: int) -> int:
    """Exp3.G: reward each arm of a sequence, and the arms that often followed the same previous arm.

    Arm i gets reward · n(i after previous)/n(chosen after previous). Returns the last arm, for the next call.
    """
    for j in range(count):
        arm = arms[j]
        before = last_arm if last_arm >= 0 else arm
        follows[before, arm] += 1.0
        for i in range(len(pull)):
            pull[i] += reward * follows[before, i] / follows[before, arm]
        last_arm = arm
    return last_arm
