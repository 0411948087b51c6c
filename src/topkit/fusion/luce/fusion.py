"""Fusion by the strengths of documents: Plackett–Luce and Bradley–Terry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from topkit.compute import Floats, one_blas_thread, thread_map
from topkit.data.settings import Setting
from topkit.fusion.ballots import Ballots
from topkit.fusion.luce.likelihood import bradley_terry_loss, fit_strengths, plackett_luce_loss
from topkit.fusion.pairs import Depth, pair_support, with_rest
from topkit.fusion.result import Outcome, Progress

Penalty = Annotated[float, Setting("Factor of Σ strength², which keeps strengths finite.", low=0.0)]


def plackett_luce(
    ballots: Ballots, *, depth: Depth = 100, penalty: Penalty = 1e-3, progress: Progress | None = None
) -> Outcome:
    """Plackett–Luce: documents by the maximum-likelihood strengths of the lists.

    In this model a list chooses its first document from the whole pool, then its second from the others, and
    so on. Lists are cut at ``depth``; the other documents follow by the Borda count. See
    :func:`fit_strengths` for ``penalty``.

    Use it if lists are noisy choices from the top down, and you want strengths with a scale. Not for lists
    with few documents in common.
    """

    def strengths(cut: Ballots, q: int) -> Floats:
        first, n = q * cut.n_rankers, int(cut.pool_sizes[q])
        ptr = cut.list_ptr[first : first + cut.n_rankers + 1]
        return fit_strengths(
            lambda strength: plackett_luce_loss(cut.items, ptr, strength), n, penalty=penalty
        )

    return _by_strength(ballots, depth, strengths, progress)


def bradley_terry(
    ballots: Ballots, *, depth: Depth = 100, penalty: Penalty = 1e-3, progress: Progress | None = None
) -> Outcome:
    """Bradley–Terry: documents by the maximum-likelihood strengths of the pairs in the lists.

    Each list counts one win for every pair that it orders; a listed document beats all that are not listed.
    ``depth`` and ``penalty`` as for :func:`plackett_luce`.

    Use it for pairs that lists or preferences imply, and for strengths with a scale. Not if the place in the
    list matters more than who beats whom.
    """

    def strengths(cut: Ballots, q: int) -> Floats:
        wins = pair_support(cut, q, np.ones(cut.n_rankers))
        return fit_strengths(lambda strength: bradley_terry_loss(wins, strength), len(wins), penalty=penalty)

    return _by_strength(ballots, depth, strengths, progress)


def _by_strength(
    ballots: Ballots, depth: int, strengths: Callable[[Ballots, int], Floats], progress: Progress | None
) -> Outcome:
    cut = ballots.cut(depth)
    done = 0

    def solve(q: int) -> Floats:
        nonlocal done
        strength = strengths(cut, q)
        done += 1
        if progress is not None:
            progress(done, len(cut))
        return np.exp(strength)  # above 0, so that every document of the cut is before the rest

    with one_blas_thread():
        inner = np.concatenate(thread_map(solve, range(len(cut))) or [np.zeros(0)])
    return Outcome(with_rest(ballots, cut, inner, np.ones(cut.n_rankers)))
