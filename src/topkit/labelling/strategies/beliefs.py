"""What unreliable answers tell about places: loopy belief propagation over pairs, and the best next question.

The model: n documents have the places of independent draws, every answer is wrong with probability ε whatever
the pair. For wins w and losses l of i against j the pair says

    f(x_i, x_j) = 1 − e if x_i is the better place, else e,   e = 1/(1 + ((1 − ε)/ε)^(w − l)).

The belief of a document is its prior over places times the messages of its pairs; a message of pair (i, j) to
i is Σ_{x_j} f·(belief of j without this pair). ε is re-estimated from the expected number of wrong answers.
Places are cells: one a place down to 2k, then growing geometrically.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

ERRORS_SEEN, ANSWERS_SEEN = 2.0, 20.0
"""What is believed of the error rate beforehand, as if so many of so many answers had been wrong."""


def cells(n: int, k: int) -> Array:
    """Borders of the cells in places from the top, 0 … n.

    >>> cells(12, 2).round(2).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.25, 6.81, 8.77, 12.0]
    """
    borders = [float(place) for place in range(min(n, 2 * k) + 1)]
    width = 1.0
    while borders[-1] < n:
        width *= 1.25
        borders.append(borders[-1] + width if borders[-1] + 1.5 * width < n else float(n))
    return np.array(borders)


class Beliefs:
    """Beliefs about the places of units (a unit is a document, or several that tie)."""

    def __init__(self, log_prior: Array, sizes: Array, borders: Array, error: float) -> None:
        self.log_prior = log_prior
        self.log_belief = log_prior.copy()
        self.sizes = sizes
        self.middles = (borders[1:] + borders[:-1]) / 2
        self.error = error
        self.pair: dict[tuple[int, int], int] = {}
        self.first: Index = np.zeros(0, np.int64)
        self.second: Index = np.zeros(0, np.int64)
        self.wins = np.zeros(0)
        self.losses = np.zeros(0)
        self.to_first = np.zeros((0, log_prior.shape[1]))
        self.to_second = np.zeros((0, log_prior.shape[1]))

    def add(self, winner: int, loser: int) -> None:
        """Take an answer; :meth:`settle` spreads it."""
        if (winner, loser) in self.pair:
            self.wins[self.pair[winner, loser]] += 1
        elif (loser, winner) in self.pair:
            self.losses[self.pair[loser, winner]] += 1
        else:
            self.pair[winner, loser] = len(self.first)
            self.first = np.append(self.first, winner)
            self.second = np.append(self.second, loser)
            self.wins = np.append(self.wins, 1.0)
            self.losses = np.append(self.losses, 0.0)
            empty = np.zeros((1, self.to_first.shape[1]))
            self.to_first = np.concatenate([self.to_first, empty])
            self.to_second = np.concatenate([self.to_second, empty])

    def settle(self, sweeps: int) -> None:
        """Pass messages over all pairs at once, half-way each time, and estimate the error rate."""
        if not len(self.first):
            return
        for _ in range(sweeps):
            first = normalised(self.log_belief[self.first] - self.to_first)
            second = normalised(self.log_belief[self.second] - self.to_second)
            wrong = wrong_way(self.error, self.wins - self.losses)
            second_worse, first_worse = below(second), below(first)
            ahead = (first * second_worse).sum(1)
            right = (1 - wrong) * ahead
            right /= right + wrong * (1 - ahead)
            errors = (self.wins * (1 - right) + self.losses * right).sum()
            answers = (self.wins + self.losses).sum()
            self.error += 0.5 * ((ERRORS_SEEN + errors) / (ANSWERS_SEEN + answers) - self.error)
            e = wrong[:, None]
            self.to_first += 0.5 * (np.log(e + (1 - 2 * e) * second_worse) - self.to_first)
            self.to_second += 0.5 * (np.log(1 - e - (1 - 2 * e) * first_worse) - self.to_second)
            self.log_belief = self.log_prior.copy()
            np.add.at(self.log_belief, self.first, self.to_first)
            np.add.at(self.log_belief, self.second, self.to_second)

    def belief(self) -> Array:
        """Probability of every cell for every unit."""
        return normalised(self.log_belief)

    def expected_places(self) -> Array:
        """Mean place of every unit."""
        found: Array = self.belief() @ self.middles
        return found


def normalised(logs: Array) -> Array:
    """Rows of probabilities from rows of logarithms."""
    values = np.exp(logs - logs.max(1, keepdims=True))
    found: Array = values / values.sum(1, keepdims=True)
    return found


def below(belief: Array) -> Array:
    """P(a unit with this belief is worse than each cell); within a cell, half."""
    found: Array = 1 - np.cumsum(belief, 1) + 0.5 * belief
    return found


def wrong_way(error: float, lead: Array) -> Array:
    """Probability that the loser is better, from the answers of a pair alone."""
    found: Array = 1 / (1 + ((1 - error) / error) ** lead)
    return found


def above_cut(belief: Array, sizes: Array, cut: int) -> Array:
    """The share of each cell that lies above a cut, so that ``cut`` documents are expected above it."""
    filled = np.cumsum(sizes @ belief)
    cell = min(int(np.searchsorted(filled, cut)), len(filled) - 1)
    before = filled[cell - 1] if cell else 0.0
    share = np.zeros(len(filled))
    share[:cell] = 1.0
    share[cell] = min(1.0, (cut - before) / max(filled[cell] - before, 1e-12))
    return share


def entropy(p: Array) -> Array:
    """−p ln p − (1−p) ln(1−p)."""
    p = np.clip(p, 1e-9, 1 - 1e-9)
    found: Array = -(p * np.log(p) + (1 - p) * np.log(1 - p))
    return found
