"""FocusedRank: a listwise loss within the top k plus a pairwise loss from the top k to the rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from topkit.losses.base import Evaluate, Floats, Ints, Loss
from topkit.losses.listwise import listmle, listnet, rankcosine
from topkit.losses.pairwise import exponential, fidelity, hinge, logistic, sigmoid, squared_hinge
from topkit.losses.settings import at_least_one, between, one_of

LISTS: dict[str, Callable[[], Loss]] = {"listnet": listnet, "listmle": listmle, "rankcosine": rankcosine}
PAIRS: dict[str, Callable[..., Loss]] = {
    "hinge": hinge,
    "squared-hinge": squared_hinge,
    "exponential": exponential,
    "logistic": logistic,
    "sigmoid": sigmoid,
    "fidelity": fidelity,
}


def focused(k: int = 10, beta: float = 0.5, within: str = "listnet", across: str = "logistic") -> Loss:
    """FocusedRank: β·L_list(T)/L_list(T; s=0) + (1 − β)·L_pair(T×F)/L_pair(T×F; s=0) for each query.

    T is the top k with its order, F the rest. Each part is divided by its value at s = 0, so both start at 1.
    A part that says nothing (T of one document, F empty) counts 0. The defaults make FocusedNet: ListNet
    within and RankNet's pairs across. In graded truth, ties at the border belong to T as a whole unless they
    have the lowest label of the list. Niu et al., SIGIR 2012, equation 1.
    """
    at_least_one("k", k)
    between("beta", beta, 0.0, 1.0)
    one_of("within", within, tuple(LISTS))
    one_of("across", across, tuple(PAIRS))
    list_loss, pair_loss = LISTS[within](), PAIRS[across](pairs="focused", k=k)

    def bind(labels: Floats, ptr: Ints) -> Evaluate:
        inside = top_rows(labels, ptr, k)
        top_ptr = np.searchsorted(inside, ptr).astype(np.int64)
        queries, size = len(ptr) - 1, len(inside)
        within_top = list_loss.bind(np.ascontiguousarray(labels[inside]), top_ptr)
        across_top = pair_loss.bind(labels, ptr)
        list_scale = beta * _per_start(within_top, queries, size)
        pair_scale = (1 - beta) * _per_start(across_top, queries, len(labels))

        def evaluate(
            s: Floats, first: int, last: int, values: Floats, gradient: Floats, curvature: Floats
        ) -> None:
            across_top(s, first, last, values, gradient, curvature)
            scale = pair_scale[first:last]
            each = np.repeat(scale, np.diff(ptr[first : last + 1]))
            rows = slice(int(ptr[first]), int(ptr[last]))
            values[first:last] *= scale
            gradient[rows] *= each
            # the top documents are few, so full-length scratch arrays cost little
            part = slice(int(top_ptr[first]), int(top_ptr[last]))
            top = inside[part]
            top_scores, own, slope = np.empty(size), np.zeros(queries), np.empty(size)
            bend = np.empty(size if len(curvature) else 0)
            top_scores[part] = s[top]
            within_top(top_scores, first, last, own, slope, bend)
            scale = list_scale[first:last]
            top_each = np.repeat(scale, np.diff(top_ptr[first : last + 1]))
            values[first:last] += own[first:last] * scale
            gradient[top] += slope[part] * top_each
            if len(curvature):
                curvature[rows] *= each
                curvature[top] += bend[part] * top_each

        return evaluate

    settings = {"k": k, "beta": beta, "within": within, "across": across}
    return Loss("focused", settings, bind)


def top_rows(labels: Floats, ptr: Ints, k: int) -> NDArray[np.int64]:
    """Rows of each query's top k; ties at the border are all inside, or all outside if lowest."""
    from topkit.losses import kernels

    membership = np.empty(len(labels))
    kernels.top_memberships(labels, ptr, k, membership)
    lowest = np.repeat(np.minimum.reduceat(labels, ptr[:-1]), np.diff(ptr)) if len(labels) else labels
    return np.flatnonzero((membership == 1) | ((membership > 0) & (labels > lowest)))


def _per_start(evaluate: Evaluate, queries: int, size: int) -> Floats:
    """1 over each query's loss at s = 0, or 0 where that loss is 0."""
    values = np.zeros(queries)
    evaluate(np.zeros(size), 0, queries, values, np.empty(size), np.empty(0))
    return np.divide(1.0, values, out=np.zeros(queries), where=values > 0)
