"""ONNX: one graph with normalisation and model, for onnxruntime and others.

Input ``features`` is a float matrix with one row per candidate and one column per feature of the training
data; output ``scores`` has one double per row. If the ranker normalises within queries, pass all candidates
of ONE query in each call; otherwise any rows. NaN is a missing feature. Arithmetic is in double.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import require
from topkit.export.forms import LinearForm, NetworkForm, Portable, Tree, TreesForm, float32_at_most
from topkit.export.onnx_graph import DOUBLE, Graph
from topkit.export.onnx_normalise import normalised
from topkit.version import __version__

OPSET, ML_OPSET, IR_VERSION = 18, 3, 9
"""The oldest versions with the operations of the graph, so that old runtimes can read it."""
ML = "ai.onnx.ml"


def to_onnx(what: Portable) -> bytes:
    """The ranker as a serialised ONNX model, checked by ONNX's own checker."""
    onnx = require("onnx", "onnx")
    helper, element = onnx.helper, onnx.TensorProto
    graph = Graph()
    x = "features"
    if what.columns != tuple(range(what.width)):
        x = graph.add("Gather", x, graph.constant(what.columns, np.int64), axis=1)
    x = graph.cast(x, DOUBLE)
    if what.normalisation != "none":
        x = normalised(graph, x, what.normalisation)
    scores = _scores(graph, x, what)
    graph.add("Reshape", scores, graph.constant([-1], np.int64), output="scores")
    onnx_graph = helper.make_graph(
        graph.nodes,
        f"topkit-{what.ranker}",
        [helper.make_tensor_value_info("features", element.FLOAT, ["candidates", what.width])],
        [helper.make_tensor_value_info("scores", element.DOUBLE, ["candidates"])],
        graph.constants,
    )
    model = helper.make_model(
        onnx_graph,
        producer_name="topkit",
        producer_version=__version__,
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)],
    )
    helper.set_model_props(
        model,
        {"ranker": what.ranker, "features": "\n".join(what.features), "normalisation": what.normalisation},
    )
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def _scores(graph: Graph, x: str, what: Portable) -> str:
    form = what.form
    if isinstance(form, TreesForm):
        return _trees(graph, x, form)
    x = graph.add("Where", graph.add("IsNaN", x), graph.constant(0.0), x)
    layers = (
        ((form.weights[:, None], np.array([form.bias])),) if isinstance(form, LinearForm) else form.layers
    )
    for i, (matrix, bias) in enumerate(layers):
        x = graph.add("Add", graph.add("MatMul", x, graph.constant(matrix)), graph.constant(bias))
        if isinstance(form, NetworkForm) and i + 1 < len(layers):
            x = graph.add("Relu" if form.activation == "relu" else "Tanh", x)
    return x


def _trees(graph: Graph, x: str, form: TreesForm) -> str:
    """One TreeEnsembleRegressor. Its result is 32-bit, so each leaf value is split in two, added in double.

    The first part of a leaf's value is a multiple of 2⁻²⁰ of the largest possible score, so that 32 bits hold
    every sum of such parts exactly; the second part is the small rest.
    """
    numbers = np.repeat(np.arange(len(form.trees)), [len(tree.feature) for tree in form.trees])
    nodes = np.concatenate([np.arange(len(tree.feature)) for tree in form.trees])
    all_trees = Tree(*(np.concatenate(arrays) for arrays in zip(*map(_arrays, form.trees), strict=True)))
    leaf = all_trees.feature < 0
    thresholds = np.zeros(len(leaf))
    thresholds[~leaf] = [float32_at_most(t) for t in all_trees.threshold[~leaf].tolist()]
    values = all_trees.value[leaf]
    largest = sum(float(np.abs(tree.value).max()) for tree in form.trees) or 1.0
    unit = 2.0 ** (np.ceil(np.log2(largest)) - 20)
    coarse = np.round(values / unit) * unit
    both = graph.add(
        "TreeEnsembleRegressor",
        x,
        domain=ML,
        n_targets=2,
        nodes_treeids=numbers.tolist(),
        nodes_nodeids=nodes.tolist(),
        nodes_featureids=np.where(leaf, 0, all_trees.feature).tolist(),
        nodes_modes=["LEAF" if is_leaf else "BRANCH_LEQ" for is_leaf in leaf],
        nodes_values_as_tensor=_tensor("nodes_values", thresholds),
        nodes_truenodeids=np.where(leaf, 0, all_trees.left).tolist(),
        nodes_falsenodeids=np.where(leaf, 0, all_trees.right).tolist(),
        nodes_missing_value_tracks_true=np.where(leaf, 0, all_trees.missing_left).astype(int).tolist(),
        target_treeids=2 * numbers[leaf].tolist(),
        target_nodeids=2 * nodes[leaf].tolist(),
        target_ids=[0] * len(values) + [1] * len(values),
        target_weights_as_tensor=_tensor("target_weights", np.concatenate([coarse, values - coarse])),
    )
    return graph.add("ReduceSum", graph.cast(both, DOUBLE), graph.constant([1], np.int64), keepdims=0)


def _arrays(tree: Tree) -> tuple[NDArray[Any], ...]:
    """The arrays of a tree, in the order of its fields."""
    return tuple(getattr(tree, field.name) for field in fields(tree))


def _tensor(name: str, values: Any) -> Any:
    from onnx import numpy_helper

    return numpy_helper.from_array(np.asarray(values, np.float64), name)
