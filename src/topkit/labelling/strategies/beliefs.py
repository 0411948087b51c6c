"""Beliefs about places from unreliable answers: loopy belief propagation over pairs.

The model: the places of the n documents are independent draws, and every answer is wrong with probability ε,
whatever the pair. For w wins and l losses of i against j, the factor of the pair is

    f(x_i, x_j) = 1 − e if x_i is the better place, else e,   e = 1/(1 + ((1 − ε)/ε)^(w − l)).

The belief of a document is its prior over places times the messages of its pairs. The message of pair (i, j)
to i is Σ_{x_j} f·(belief of j without this pair). ε is estimated again from the expected number of wrong
answers. Places are grouped in cells: one cell per place down to 2k, then geometrically wider ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topkit.compute import Floats, Ints

ERRORS_SEEN, ANSWERS_SEEN = 2.0, 20.0
"""The prior of the error rate: as if 2 of 20 answers had been wrong."""
CELL_GROWTH = 1.25
"""Each cell below place 2k is this many times as wide as the one above it."""
DAMPING = 0.5
"""Messages move this part of the way to their new value, which keeps loops of pairs from oscillating."""
TINY = 1e-12
"""Keeps logarithms and quotients finite."""


def cells(n: int, k: int) -> Floats:
    """The borders of the cells, as places from the top, 0 … n.

    >>> cells(12, 2).round(2).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.25, 6.81, 8.77, 12.0]
    """
    borders = [float(place) for place in range(min(n, 2 * k) + 1)]
    width = 1.0
    while borders[-1] < n:
        width *= CELL_GROWTH
        borders.append(borders[-1] + width if borders[-1] + 1.5 * width < n else float(n))
    return np.array(borders)


class Beliefs:
    """Beliefs about the places of units (a unit is a document, or several documents that tie).

    Pair p has two rows: 2p for the unit that won its first answer and 2p + 1 for the other, so the other side
    of row r is row r ^ 1.
    """

    def __init__(self, log_prior: Floats, sizes: Floats, borders: Floats, error: float) -> None:
        self.log_prior = log_prior
        self.log_belief = log_prior.copy()
        self.sizes = sizes
        self.middles = (borders[1:] + borders[:-1]) / 2
        self.error = error
        self.row: dict[tuple[int, int], int] = {}
        """(unit, other unit) → the row of the first."""
        self.unit: Ints = np.zeros(0, np.int64)
        self.wins = np.zeros(0)
        """The number of answers that prefer the unit of a row."""
        self.messages = np.zeros((0, log_prior.shape[1]))
        """The logarithm of the message from the pair to the unit of a row."""
        self._by_unit: Ints = np.zeros(0, np.int64)
        self._starts: Ints = np.zeros(0, np.int64)

    def add(self, winner: int, loser: int) -> None:
        """Add an answer; :meth:`settle` updates the beliefs."""
        if (winner, loser) not in self.row:
            rows = len(self.unit)
            self.row[winner, loser], self.row[loser, winner] = rows, rows + 1
            self.unit = np.append(self.unit, (winner, loser))
            self.wins = np.append(self.wins, (0.0, 0.0))
            self.messages = np.concatenate([self.messages, np.zeros((2, self.messages.shape[1]))])
            self._by_unit = np.argsort(self.unit, kind="stable")
            self._starts = np.flatnonzero(np.diff(self.unit[self._by_unit], prepend=-1))
        self.wins[self.row[winner, loser]] += 1

    def settle(self, sweeps: int) -> None:
        """Update all messages at once, with damping, and estimate the error rate; ``sweeps`` times."""
        if not len(self.unit):
            return
        other = np.arange(len(self.unit)) ^ 1
        lead = self.wins - self.wins[other]
        touched = self.unit[self._by_unit[self._starts]]
        for _ in range(sweeps):
            belief = normalised(self.log_belief[self.unit] - self.messages)
            other_worse = below(belief)[other]
            wrong = wrong_way(self.error, lead)
            ahead = (belief * other_worse).sum(1)
            right = (1 - wrong) * ahead
            right /= right + wrong * (1 - ahead)
            mistaken = ERRORS_SEEN + (self.wins * (1 - right)).sum()
            self.error += DAMPING * (mistaken / (ANSWERS_SEEN + self.wins.sum()) - self.error)
            e = wrong[:, None]
            self.messages += DAMPING * (np.log(e + (1 - 2 * e) * other_worse) - self.messages)
            self.log_belief = self.log_prior.copy()
            self.log_belief[touched] += np.add.reduceat(self.messages[self._by_unit], self._starts)

    def belief(self) -> Floats:
        """The probability of every cell for every unit."""
        return normalised(self.log_belief)

    def expected_places(self) -> Floats:
        """The expected place of every unit."""
        places: Floats = self.belief() @ self.middles
        return places


def normalised(logs: Floats) -> Floats:
    """Rows of probabilities from rows of logarithms."""
    values = np.exp(logs - logs.max(1, keepdims=True))
    probabilities: Floats = values / values.sum(1, keepdims=True)
    return probabilities


def below(belief: Floats) -> Floats:
    """P(a unit with this belief is worse than each cell); within the same cell it counts half."""
    worse: Floats = np.clip(1 - np.cumsum(belief, 1) + 0.5 * belief, 0.0, 1.0)  # sums may pass 1 by rounding
    return worse


def wrong_way(error: float, lead: Floats) -> Floats:
    """P(the other unit is better), from the answers to the pair alone; ``lead`` is wins minus losses."""
    wrong: Floats = np.clip(1 / (1 + ((1 - error) / error) ** lead), TINY, 1 - TINY)
    return wrong


def above_cuts(belief: Floats, sizes: Floats, cuts: Sequence[int]) -> Floats:
    """The share of each cell (rows) above each cut (columns): ``cut`` documents are expected above a cut."""
    filled = np.cumsum(sizes @ belief)
    before = np.concatenate([[0.0], filled[:-1]])[:, None]
    width = np.maximum(filled[:, None] - before, TINY)
    shares: Floats = np.clip((np.asarray(cuts) - before) / width, 0.0, 1.0)
    return shares


def entropy(p: Floats) -> Floats:
    """−p ln p − (1−p) ln(1−p)."""
    p = np.clip(p, 1e-9, 1 - 1e-9)
    nats: Floats = -(p * np.log(p) + (1 - p) * np.log(1 - p))
    return nats
