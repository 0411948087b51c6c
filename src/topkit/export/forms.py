"""The three forms of trained models: a linear function, a sum of trees, or a small network.

Exporters write these forms and do not know rankers; :data:`FORMS` converts each kind of model to its form. So
one line there makes a new kind of model available in every format.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import InputError
from topkit.rankers import Learner
from topkit.scorers import ScoreModel


@dataclass(frozen=True)
class LinearForm:
    """score = w·x + b; a missing feature is 0."""

    weights: Floats
    bias: float


@dataclass(frozen=True)
class NetworkForm:
    """h ← activation(h·W + b) through the hidden layers, then one linear output; a missing feature is 0."""

    layers: tuple[tuple[Floats, Floats], ...]
    """(matrix inputs × outputs, bias) of each layer."""
    activation: str


@dataclass(frozen=True)
class Tree:
    """A regression tree: node 0 is the root, a node with feature −1 is a leaf.

    At a split, x ≤ threshold goes left. Features are 32-bit, so a threshold may be rounded down to 32 bits
    (:func:`float32_at_most`) without changing the path of any document.
    """

    feature: NDArray[np.int64]
    threshold: Floats
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Floats


@dataclass(frozen=True)
class TreesForm:
    """The sum of the values of the leaves that a document reaches."""

    trees: tuple[Tree, ...]
    learnt_missing: bool
    """Whether the training data had missing features, so that missing differs from 0."""


NOTHING = Tree(
    np.array([-1]), np.zeros(1), np.zeros(1, np.bool_), np.array([-1]), np.array([-1]), np.zeros(1)
)
"""A tree that adds 0, for models without trees: no format accepts an empty sum."""

Form = LinearForm | NetworkForm | TreesForm


@dataclass(frozen=True)
class Portable:
    """A fitted ranker independent of topkit: its features, their normalisation, and its form."""

    ranker: str
    features: tuple[str, ...]
    """Names of the features that the form uses, in order."""
    columns: tuple[int, ...]
    """Their columns in the training data."""
    width: int
    """Number of columns of the training data."""
    normalisation: str
    """Within the candidates of a query; ``none`` if each document is scored separately."""
    form: Form


def portable(ranker: Learner) -> Portable:
    """A fitted ranker in a form for export; InputError with the reason if it has none."""
    model, preparation = ranker.fitted()
    if not isinstance(model, ScoreModel):
        raise InputError(
            f"the ranker {ranker.name!r} orders documents without scoring them, "
            "but every export format needs scores",
            "export a ranker that scores, or rank with 'topkit score --format run'",
        )
    if model.kind not in FORMS:
        raise InputError(
            f"the ranker {ranker.name!r} has a model of kind {model.kind!r}, which is not a linear function, "
            "a sum of trees or a small network",
            "serve it with 'topkit serve' instead",
        )
    columns = preparation.columns or tuple(range(len(preparation.names)))
    names = preparation.names if preparation.named else tuple(f"feature_{n}" for n in preparation.names)
    return Portable(
        ranker.name,
        tuple(names[i] for i in columns),
        tuple(columns),
        len(preparation.names),
        preparation.normalisation,
        FORMS[model.kind](model),
    )


def linear_form(model: Any) -> LinearForm:
    return LinearForm(model.weights, model.bias)


def network_form(model: Any) -> NetworkForm:
    return NetworkForm(model.layers, model.activation)


def steps_form(model: Any) -> TreesForm:
    """Each step α·1[x > θ] is a tree with two leaves; a missing feature is not above any threshold."""
    trees = tuple(
        Tree(
            np.array([feature, -1, -1]),
            np.array([threshold, 0.0, 0.0]),
            np.array([True, False, False]),
            np.array([1, -1, -1]),
            np.array([2, -1, -1]),
            np.array([0.0, 0.0, alpha]),
        )
        for feature, threshold, alpha in zip(
            model.feature.tolist(), model.threshold.tolist(), model.alpha.tolist(), strict=True
        )
    )
    return TreesForm(trees or (NOTHING,), learnt_missing=False)


def boosted_form(model: Any) -> TreesForm:
    """The trees of a LightGBM booster; its dump says how each split treats a missing feature."""
    dumps = [tree["tree_structure"] for tree in model.booster.dump_model()["tree_info"]]
    learnt = False

    def flatten(root: dict[str, Any]) -> Tree:
        nonlocal learnt
        rows: list[list[float]] = []
        waiting: list[tuple[dict[str, Any], int, int]] = [(root, -1, 0)]
        while waiting:
            node, parent, side = waiting.pop()
            if parent >= 0:
                rows[parent][side] = len(rows)
            if "leaf_value" in node:
                rows.append([-1, 0.0, False, -1, -1, node["leaf_value"]])
                continue
            if node["decision_type"] != "<=" or node["missing_type"] == "Zero":
                raise InputError(
                    "the trees have splits that only LightGBM supports", "train without categories"
                )
            threshold = float(node["threshold"])
            zero_left = threshold >= 0
            missing_left = node["default_left"] if node["missing_type"] == "NaN" else zero_left
            learnt |= missing_left != zero_left
            waiting += [(node["right_child"], len(rows), 4), (node["left_child"], len(rows), 3)]
            rows.append([node["split_feature"], threshold, missing_left, -1, -1, 0.0])
        feature, thresholds, missing, left, right, value = (
            np.array(column) for column in zip(*rows, strict=True)
        )
        return Tree(
            feature.astype(np.int64),
            thresholds.astype(np.float64),
            missing.astype(np.bool_),
            left.astype(np.int64),
            right.astype(np.int64),
            value.astype(np.float64),
        )

    return TreesForm(tuple(map(flatten, dumps)), learnt)


FORMS: dict[str, Callable[[Any], Form]] = {
    "linear": linear_form,
    "network": network_form,
    "steps": steps_form,
    "trees": boosted_form,
}
"""Kind of a model → function that gives its form."""


def float32_at_most(threshold: float) -> float:
    """The largest 32-bit number t ≤ threshold: for 32-bit x, x ≤ threshold is equivalent to x ≤ t.

    >>> float32_at_most(0.5), float32_at_most(0.1) <= 0.1
    (0.5, True)
    """
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
    below = np.nextafter(near, np.float32(-np.inf)) if float(near) > threshold else near
    return float(below)


def float32_above(threshold: float) -> float:
    """The smallest 32-bit number t > threshold: for 32-bit x, x ≤ threshold is equivalent to x < t."""
    above = np.nextafter(np.float32(float32_at_most(threshold)), np.float32(np.inf))
    return float(min(above, np.finfo(np.float32).max))
