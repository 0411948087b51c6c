"""Fusion by the worths of documents: Plackett–Luce and Bradley–Terry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from topkit.compute import thread_map
from topkit.fusion.ballots import Ballots
from topkit.fusion.luce.likelihood import bradley_terry_loss, fit_worths, plackett_luce_loss
from topkit.fusion.pairs import cut_at, pair_support, with_rest
from topkit.fusion.result import Outcome, Progress

Floats = NDArray[np.float64]


def plackett_luce(
    ballots: Ballots, *, depth: int = 100, penalty: float = 1e-3, progress: Progress | None = None
) -> Outcome:
    """Plackett–Luce: documents by the worths under which the lists are most likely.

    A list is read as choosing its first document among the whole pool, then its second among the rest, and so
    on. ``depth``: lists are cut here, and documents beyond follow by the Borda count. ``penalty``: times
    Σ worth² (see :func:`fit_worths`).
    """

    def worths(cut: Ballots, q: int) -> Floats:
        first, n = q * cut.n_rankers, int(cut.pool_sizes[q])
        ptr = cut.list_ptr[first : first + cut.n_rankers + 1]
        return fit_worths(lambda worth: plackett_luce_loss(cut.items, ptr, worth), n, penalty=penalty)

    return _by_worth(ballots, depth, worths, progress)


def bradley_terry(
    ballots: Ballots, *, depth: int = 100, penalty: float = 1e-3, progress: Progress | None = None
) -> Outcome:
    """Bradley–Terry: worths under which the lists' pairs of documents are most likely.

    Each list counts one win for every pair that it orders, a listed document against all that it does not
    have. ``depth`` and ``penalty`` as for :func:`plackett_luce`.
    """

    def worths(cut: Ballots, q: int) -> Floats:
        wins = pair_support(cut, q, np.ones(cut.n_rankers))
        return fit_worths(lambda worth: bradley_terry_loss(wins, worth), len(wins), penalty=penalty)

    return _by_worth(ballots, depth, worths, progress)


def _by_worth(
    ballots: Ballots, depth: int, worths: Callable[[Ballots, int], Floats], progress: Progress | None
) -> Outcome:
    from threadpoolctl import threadpool_limits

    cut = cut_at(ballots, depth)
    done = 0

    def solve(q: int) -> Floats:
        nonlocal done
        worth = worths(cut, q)
        done += 1
        if progress is not None:
            progress(done, len(cut))
        return np.exp(worth)  # above 0, so that every document of the cut is before the rest

    with threadpool_limits(
        1, "blas"
    ):  # many small problems: threads of BLAS would only get in each other's way
        inner = np.concatenate(thread_map(solve, range(len(cut))) or [np.zeros(0)])
    return Outcome(with_rest(ballots, cut, inner, np.ones(cut.n_rankers)))
