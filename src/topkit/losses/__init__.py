"""Losses on scores: (scores, labels, ptr) → value and gradient, one implementation for every scorer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from topkit.data.settings import lookup
from topkit.losses.approx import (
    approxmrr,
    approxndcg,
    gumbel_approxndcg,
    noisy_gains,
    weighted_gains,
    weighted_relevance,
)
from topkit.losses.base import Loss, define
from topkit.losses.focused import focused, focused_parts
from topkit.losses.lambdaloss import lambdaloss, pair_gains
from topkit.losses.listwise import (
    all_choices,
    list_targets,
    listmle,
    listnet,
    rankcosine,
    top_choices,
    top_labels,
    top_net_labels,
    topk_listmle,
    topk_listnet,
    topk_rankcosine,
)
from topkit.losses.ndcg import gains_and_ideal, lambdarank, softndcg
from topkit.losses.neural import label_places, neuralndcg, neuralsort
from topkit.losses.objective import Objective
from topkit.losses.pairwise import (
    exponential,
    fidelity,
    hinge,
    logistic,
    pair_set,
    sigmoid,
    squared_hinge,
)
from topkit.losses.pointwise import (
    gain_targets,
    gains_over_ideal,
    label_targets,
    squared_error,
    squared_gain,
    squared_ndcg,
)
from topkit.losses.preferences import Preferences
from topkit.losses.probability import (
    distilled_examples,
    ordinal,
    rank_distillation,
    ranked_grades,
    regression_compatible,
    relevance_shares,
)
from topkit.losses.softmax import (
    calibrated_softmax,
    graded_choices,
    label_masses,
    poly_softmax,
    softmax,
    uni_softmax,
)

LOSSES: dict[str, Callable[..., Loss]] = {
    "hinge": define(hinge, pair_set),
    "squared-hinge": define(squared_hinge, pair_set),
    "exponential": define(exponential, pair_set),
    "logistic": define(logistic, pair_set),
    "sigmoid": define(sigmoid, pair_set),
    "fidelity": define(fidelity, pair_set),
    "listnet": define(listnet, list_targets),
    "listmle": define(listmle, all_choices),
    "rankcosine": define(rankcosine),
    "topk-listnet": define(topk_listnet, top_net_labels),
    "topk-listmle": define(topk_listmle, top_choices),
    "topk-rankcosine": define(topk_rankcosine, top_labels),
    "focused": define(focused, focused_parts),
    "softmax": define(softmax, label_masses),
    "poly-softmax": define(poly_softmax, label_masses),
    "uni-softmax": define(uni_softmax, graded_choices),
    "calibrated-softmax": define(calibrated_softmax, label_masses),
    "regression-compatible": define(regression_compatible, relevance_shares),
    "rank-distillation": define(rank_distillation, distilled_examples),
    "ordinal": define(ordinal, ranked_grades),
    "squared-error": define(squared_error, label_targets),
    "squared-gain": define(squared_gain, gain_targets),
    "squared-ndcg": define(squared_ndcg, gains_over_ideal),
    "softndcg": define(softndcg, gains_and_ideal),
    "approxndcg": define(approxndcg, weighted_gains),
    "gumbel-approxndcg": define(gumbel_approxndcg, noisy_gains),
    "approxmrr": define(approxmrr, weighted_relevance),
    "neuralsort": define(neuralsort, label_places),
    "neuralndcg": define(neuralndcg, gains_and_ideal),
    "lambdarank": define(lambdarank, gains_and_ideal),
    "lambdaloss": define(lambdaloss, pair_gains),
}
"""Name → function that makes the :class:`Loss` from its settings; see :mod:`topkit.losses.base`."""

__all__ = ["LOSSES", "Loss", "Objective", "Preferences", "loss"]


def loss(name: str, **settings: Any) -> Loss:
    """The loss of this name with these settings.

    >>> import topkit as tk
    >>> value, gradient = tk.loss("topk-listmle", k=1)([2.0, 1.0, 0.0], [2, 1, 0], [0, 3])
    >>> round(value, 6)
    0.407606
    """
    return lookup(LOSSES, name, "loss")(**settings)
