"""ONNX: one graph with normalisation, model and all, that onnxruntime and others run.

Input ``features`` is a float matrix, a row a candidate and a column a feature of the training data; output
``scores`` is one double a row. A ranker that normalises within queries wants all candidates of ONE query in
a call; one that does not takes any rows. NaN is a missing feature. Arithmetic is in double, as in topkit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topkit.data import InputError
from topkit.export.forms import LinearForm, NetworkForm, Portable, TreesForm, float32_at_most
from topkit.export.onnx_graph import DOUBLE, Graph
from topkit.export.onnx_normalise import normalised
from topkit.version import __version__

OPSET, ML_OPSET, IR_VERSION = 18, 3, 9
"""The oldest versions that have what the graph needs, so that old runtimes can read it."""
ML = "ai.onnx.ml"


def to_onnx(what: Portable) -> bytes:
    """The ranker as a serialised ONNX model, checked by ONNX's own checker."""
    try:
        import onnx
        from onnx import TensorProto, helper
    except ImportError:
        raise InputError("the format 'onnx' needs ONNX", "pip install 'topkit[onnx]'") from None
    graph = Graph()
    x = "features"
    if what.columns != tuple(range(what.width)):
        x = graph.add("Gather", x, graph.constant(what.columns, np.int64), axis=1)
    x = graph.cast(x, DOUBLE)
    if what.normalisation != "none":
        x = normalised(graph, x, what.normalisation)
    scores = _scores(graph, x, what)
    graph.add("Reshape", scores, graph.constant([-1], np.int64), output="scores")
    made = helper.make_graph(
        graph.nodes,
        f"topkit-{what.ranker}",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["candidates", what.width])],
        [helper.make_tensor_value_info("scores", TensorProto.DOUBLE, ["candidates"])],
        graph.constants,
    )
    model = helper.make_model(
        made,
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
    """One TreeEnsembleRegressor. Its result is 32-bit, so leaves go in as two halves that add up in double.

    The first half of a leaf's value is a multiple of 2⁻²⁰ of the largest possible score, so that 32 bits hold
    every sum of them exactly; the second is the small rest.
    """
    columns: dict[str, list[Any]] = {name: [] for name in ("tree", "node", "feature", "value", "mode")}
    left: list[int] = []
    right: list[int] = []
    missing: list[int] = []
    leaf_tree: list[int] = []
    leaf_node: list[int] = []
    leaf_value: list[float] = []
    for number, tree in enumerate(form.trees):
        for node in range(len(tree.feature)):
            leaf = tree.feature[node] < 0
            columns["tree"].append(number)
            columns["node"].append(node)
            columns["feature"].append(0 if leaf else int(tree.feature[node]))
            columns["value"].append(0.0 if leaf else float32_at_most(float(tree.threshold[node])))
            columns["mode"].append("LEAF" if leaf else "BRANCH_LEQ")
            left.append(0 if leaf else int(tree.left[node]))
            right.append(0 if leaf else int(tree.right[node]))
            missing.append(0 if leaf else int(tree.missing_left[node]))
            if leaf:
                leaf_tree.append(number)
                leaf_node.append(node)
                leaf_value.append(float(tree.value[node]))
    values = np.array(leaf_value)
    largest = sum(float(np.abs(tree.value).max()) for tree in form.trees) or 1.0
    unit = 2.0 ** (np.ceil(np.log2(largest)) - 20)
    coarse = np.round(values / unit) * unit
    twice = [*leaf_tree, *leaf_tree], [*leaf_node, *leaf_node]
    both = graph.add(
        "TreeEnsembleRegressor",
        x,
        domain=ML,
        n_targets=2,
        nodes_treeids=columns["tree"],
        nodes_nodeids=columns["node"],
        nodes_featureids=columns["feature"],
        nodes_modes=columns["mode"],
        nodes_values_as_tensor=_tensor("nodes_values", columns["value"]),
        nodes_truenodeids=left,
        nodes_falsenodeids=right,
        nodes_missing_value_tracks_true=missing,
        target_treeids=twice[0],
        target_nodeids=twice[1],
        target_ids=[0] * len(values) + [1] * len(values),
        target_weights_as_tensor=_tensor("target_weights", np.concatenate([coarse, values - coarse])),
    )
    return graph.add("ReduceSum", graph.cast(both, DOUBLE), graph.constant([1], np.int64), keepdims=0)


def _tensor(name: str, values: Any) -> Any:
    from onnx import numpy_helper

    return numpy_helper.from_array(np.asarray(values, np.float64), name)
