"""Losses on scores: (scores, labels, ptr) → value and gradient, one implementation for every scorer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from topkit.data import InputError
from topkit.losses.base import Loss, Objective
from topkit.losses.focused import focused
from topkit.losses.listwise import listmle, listnet, rankcosine, topk_listmle, topk_listnet, topk_rankcosine
from topkit.losses.ndcg import lambdarank, soft_ndcg
from topkit.losses.pairwise import exponential, fidelity, hinge, logistic, sigmoid, squared_hinge
from topkit.losses.pointwise import squared_error, squared_gain, squared_ndcg
from topkit.losses.preferences import Preferences

LOSSES: dict[str, Callable[..., Loss]] = {
    "hinge": hinge,
    "squared-hinge": squared_hinge,
    "exponential": exponential,
    "logistic": logistic,
    "sigmoid": sigmoid,
    "fidelity": fidelity,
    "listnet": listnet,
    "listmle": listmle,
    "rankcosine": rankcosine,
    "topk-listnet": topk_listnet,
    "topk-listmle": topk_listmle,
    "topk-rankcosine": topk_rankcosine,
    "focused": focused,
    "squared-error": squared_error,
    "squared-gain": squared_gain,
    "squared-ndcg": squared_ndcg,
    "softndcg": soft_ndcg,
    "lambdarank": lambdarank,
}
"""Name → function that makes the loss from its settings."""

__all__ = ["LOSSES", "Loss", "Objective", "Preferences", "loss"]


def loss(name: str, **settings: Any) -> Loss:
    """The loss of this name with these settings.

    >>> import topkit as tk
    >>> value, gradient = tk.loss("topk-listmle", k=1)([2.0, 1.0, 0.0], [2, 1, 0], [0, 3])
    >>> round(value, 6)
    0.407606
    """
    if name not in LOSSES:
        raise InputError(f"there is no loss {name!r}", f"choose from {', '.join(LOSSES)}")
    make = LOSSES[name]
    known = list(inspect.signature(make).parameters)
    unknown = [setting for setting in settings if setting not in known]
    if unknown:
        remedy = f"it takes {', '.join(known)}" if known else "it takes none"
        raise InputError(f"the loss {name!r} has no setting {unknown[0]!r}", remedy)
    return make(**settings)
