"""FocusedRank: a listwise loss within the top k plus a pairwise loss from the top k to the rest."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from topkit.compute import Floats, Ints
from topkit.data.settings import Setting
from topkit.losses.base import Block, K
from topkit.losses.listwise import M, all_choices, list_targets, listmle, listnet, rankcosine
from topkit.losses.objective import BoundBlock, LossFunction, Prepare, bind_block
from topkit.losses.pairwise import exponential, fidelity, hinge, logistic, pair_set, sigmoid, squared_hinge

LISTS: dict[str, tuple[LossFunction, Prepare | None]] = {
    "listnet": (listnet, list_targets),
    "listmle": (listmle, all_choices),
    "rankcosine": (rankcosine, None),
}
"""Losses that can be used within the top k."""

PAIRS: dict[str, LossFunction] = {
    "hinge": hinge,
    "squared-hinge": squared_hinge,
    "exponential": exponential,
    "logistic": logistic,
    "sigmoid": sigmoid,
    "fidelity": fidelity,
}
"""Losses that can be used from the top k to the rest."""


class FocusedParts(NamedTuple):
    """The two bound parts of the loss, with the factor that scales each query."""

    within: BoundBlock
    across: BoundBlock
    top: Ints
    """Rows of the documents in the top k."""
    top_ptr: Ints
    within_factor: Floats
    across_factor: Floats


def focused_parts(
    labels: Floats,
    ptr: Ints,
    *,
    k: K = 10,
    beta: Annotated[
        float,
        Setting(
            "Weight of the order within the top k; 1 − beta is that of the top k against the rest.",
            low=0.0,
            high=1.0,
            search=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        ),
    ] = 0.5,
    within: Annotated[str, Setting("Loss within the top k.", choices=tuple(LISTS))] = "listnet",
    across: Annotated[
        str, Setting("Pairwise loss from the top k to the rest.", choices=tuple(PAIRS))
    ] = "logistic",
    m: M = 1,
) -> FocusedParts:
    """Bind both parts, and divide each by its value at s = 0."""
    top = top_rows(labels, ptr, k)
    top_ptr = np.searchsorted(top, ptr).astype(np.int64)
    list_part = bind_block(*LISTS[within], {"m": m}, np.ascontiguousarray(labels[top]), top_ptr)
    pair_settings = {"pairs": "focused", "k": k, "steepness": 1.0, "margin": "unit"}
    pair_part = bind_block(PAIRS[across], pair_set, pair_settings, labels, ptr)
    return FocusedParts(
        list_part,
        pair_part,
        top,
        top_ptr,
        beta * _over_start(list_part, len(top)),
        (1 - beta) * _over_start(pair_part, len(labels)),
    )


def focused(scores: Floats, parts: FocusedParts, ptr: Ints, *, curved: bool) -> Block:
    """FocusedRank: β·L_list(T)/L_list(T; s=0) + (1 − β)·L_pair(T×F)/L_pair(T×F; s=0) for each query.

    T is the top k with its order, F the other documents. Each part is divided by its value at s = 0, so both
    start at 1. A part without information (T of one document, F empty) counts 0. The defaults give
    FocusedNet: ListNet within and the pairs of RankNet across. The paper writes ListNet with permutation
    probabilities; like ListNet itself, this uses top-one probabilities, or those of the first ``m`` places.
    In graded truth, ties at the border belong to T as a whole unless they have the lowest label of the list;
    the focused rankers avoid such ties by drawing an order. Niu et al., SIGIR 2012, equation 1.

    Use it for top-k truth with a long rest: the list part orders the top, the pair part separates it. Not if
    most lists have at most k documents, because then there is no rest.
    """
    values, gradient, curvature = parts.across(scores, curved)
    per_document = np.repeat(parts.across_factor, np.diff(ptr))
    top_values, top_gradient, top_curvature = parts.within(scores[parts.top], curved)
    per_top = np.repeat(parts.within_factor, np.diff(parts.top_ptr))
    values = values * parts.across_factor + top_values * parts.within_factor
    gradient *= per_document
    gradient[parts.top] += top_gradient * per_top
    if curved:
        curvature *= per_document
        curvature[parts.top] += top_curvature * per_top
    return values, gradient, curvature


def top_rows(labels: Floats, ptr: Ints, k: int) -> Ints:
    """Rows of the top k of each query; ties at the border are all inside, or all outside if lowest."""
    from topkit.losses.kernels import top_memberships

    membership = top_memberships(labels, ptr, k)
    lowest = np.repeat(np.minimum.reduceat(labels, ptr[:-1]), np.diff(ptr)) if len(labels) else labels
    return np.flatnonzero((membership == 1) | ((membership > 0) & (labels > lowest)))


def _over_start(part: BoundBlock, documents: int) -> Floats:
    """1 over the loss of each query at s = 0, or 0 if that loss is 0."""
    values = part(np.zeros(documents), False)[0]
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)
