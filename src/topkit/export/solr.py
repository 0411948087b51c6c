"""Solr's Learning to Rank: LinearModel, MultipleAdditiveTreesModel and NeuralNetworkModel.

The file has two JSON bodies: ``features`` for ``PUT …/schema/feature-store``, a template in which you write
the features (the placeholders are the constant 0), and ``model`` for ``PUT …/schema/model-store``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topkit.export.forms import (
    LinearForm,
    NetworkForm,
    Portable,
    Tree,
    TreesForm,
    float32_at_most,
)
from topkit.export.refusals import refuse_learnt_missing, refuse_normalisation
from topkit.export.text import json_bytes

ENGINE = "Solr's Learning to Rank"
CONSTANT = "topkit_constant"
"""A feature that is always 1: Solr's linear model has no constant term."""
SLACK = np.float32(1e-6)
"""Solr adds this to every threshold it reads, in 32 bits."""
STORE = "topkit"
"""Name of the feature store."""


def to_solr(what: Portable) -> bytes:
    """The ranker as a model of the Solr class for its form."""
    refuse_normalisation(what, ENGINE)
    refuse_learnt_missing(what, ENGINE)
    names = list(what.features)
    if isinstance(what.form, LinearForm) and what.form.bias:
        names.append(CONSTANT)
    form = what.form
    params: dict[str, Any]
    if isinstance(form, LinearForm):
        weights = [*form.weights.tolist(), *([form.bias] if form.bias else [])]
        kind, params = "LinearModel", {"weights": dict(zip(names, weights, strict=True))}
    elif isinstance(form, TreesForm):
        trees = [{"weight": "1.0", "root": _node(what, tree, 0)} for tree in form.trees]
        kind, params = "MultipleAdditiveTreesModel", {"trees": trees}
    else:
        kind, params = "NeuralNetworkModel", {"layers": _layers(form)}
    return json_bytes(
        {
            "features": [_feature(name) for name in names],
            "model": {
                "store": STORE,
                "class": f"org.apache.solr.ltr.model.{kind}",
                "name": f"topkit-{what.ranker}",
                "features": [{"name": name} for name in names],
                "params": params,
            },
        }
    )


def _feature(name: str) -> dict[str, Any]:
    value = 1.0 if name == CONSTANT else 0.0
    return {
        "store": STORE,
        "name": name,
        "class": "org.apache.solr.ltr.feature.ValueFeature",
        "params": {"value": value, "required": False},
    }


def _node(what: Portable, tree: Tree, node: int) -> dict[str, Any]:
    """A node and those below it; numbers are texts, as in Solr's own examples."""
    if tree.feature[node] < 0:
        return {"value": repr(float(tree.value[node]))}
    return {
        "feature": what.features[tree.feature[node]],
        "threshold": repr(before_slack(float(tree.threshold[node]))),
        "left": _node(what, tree, int(tree.left[node])),
        "right": _node(what, tree, int(tree.right[node])),
    }


def before_slack(threshold: float) -> float:
    """The 32-bit number to which Solr adds its slack to obtain the threshold.

    If there is none (close to 0, or at some negative powers of two), the nearest from above, so that a
    feature that equals the threshold takes its path. 32-bit features between the two take the other path: a
    gap under 2·10⁻¹³ close to 0, and one 32-bit number elsewhere.
    """
    target = np.float32(float32_at_most(threshold))
    start = np.float32(target - SLACK)
    up = np.nextafter(start, np.float32(np.inf))
    candidates = [np.nextafter(start, np.float32(-np.inf)), start, up]
    valid = [t for t in candidates if np.float32(t + SLACK) >= target]
    return float(min(valid, key=lambda t: (np.float32(t + SLACK), t)))


def _layers(form: NetworkForm) -> list[dict[str, Any]]:
    """Layers whose matrices have one row per output.

    Every version of Solr supports ``relu`` and ``sigmoid``; tanh(z) = 2·sigmoid(2z) − 1, and its factors are
    multiplied into its own layer and the next.
    """
    layers = [(matrix.copy(), bias.copy()) for matrix, bias in form.layers]
    activation = form.activation
    if activation == "tanh":
        for i in range(len(layers) - 1):
            matrix, bias = layers[i]
            layers[i] = (2 * matrix, 2 * bias)
            following, shift = layers[i + 1]
            layers[i + 1] = (2 * following, shift - following.sum(axis=0))
        activation = "sigmoid"
    return [
        {
            "matrix": matrix.T.tolist(),
            "bias": bias.tolist(),
            "activation": activation if i + 1 < len(layers) else "identity",
        }
        for i, (matrix, bias) in enumerate(layers)
    ]
