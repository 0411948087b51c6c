"""Plain JSON: the whole ranker including normalisation, which twenty lines of any language can score.

Features are normalised within the candidates of a query as ``normalisation`` says (``none``; ``min-max``:
(x − min)/(max − min); ``z-score``: (x − mean)/deviation, dividing by n; ``sortnet``: (x − mean)/max|x|;
``raw+z-score``: all features, then all z-scores; a divisor of 0, or a constant column under z-score, gives
0), rounded to 32 bits, and passed to ``model``. The guide to shipping documents every field.
"""

from __future__ import annotations

from typing import Any

from topkit.export.forms import Form, LinearForm, NetworkForm, Portable, Tree
from topkit.export.text import json_bytes

FORMAT = "topkit-json"
VERSION = 1


def to_json(what: Portable) -> bytes:
    """The ranker as one JSON document."""
    return json_bytes(
        {
            "format": FORMAT,
            "version": VERSION,
            "ranker": what.ranker,
            "features": what.features,
            "normalisation": what.normalisation,
            "model": _model(what.form),
        }
    )


def _model(form: Form) -> dict[str, Any]:
    if isinstance(form, LinearForm):
        return {"kind": "linear", "missing": 0, "weights": form.weights.tolist(), "bias": form.bias}
    if isinstance(form, NetworkForm):
        layers = [{"matrix": matrix.tolist(), "bias": bias.tolist()} for matrix, bias in form.layers]
        return {"kind": "network", "missing": 0, "activation": form.activation, "layers": layers}
    return {"kind": "trees", "split": "left if x <= threshold", "trees": [_tree(tree) for tree in form.trees]}


def _tree(tree: Tree) -> dict[str, Any]:
    return {
        "feature": tree.feature.tolist(),
        "threshold": tree.threshold.tolist(),
        "missing_left": tree.missing_left.tolist(),
        "left": tree.left.tolist(),
        "right": tree.right.tolist(),
        "value": tree.value.tolist(),
    }
