"""Small evaluators of every export format, written from the formats' own rules and not from topkit's code.

Each takes the bytes of an export and the candidates of one query, and gives their scores. Comparisons at
splits are in 32 bits as in the engines; sums are in double.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Scores = NDArray[np.float64]


def fall(
    node: Any, rows: NDArray[np.int64], look: Callable[[Any, NDArray[np.int64]], Any], out: Scores
) -> None:
    """Send rows down a tree: ``look`` gives a leaf's value, or a mask and the two child nodes."""
    outcome = look(node, rows)
    if isinstance(outcome, float):
        out[rows] += outcome
        return
    mask, inside, outside = outcome
    for child, chosen in ((inside, rows[mask]), (outside, rows[~mask])):
        if len(chosen):
            fall(child, chosen, look, out)


def onnx(content: bytes, X: Rows, session: list[Any]) -> Scores:
    """By onnxruntime, with the session kept between queries."""
    import onnxruntime

    if not session:
        session.append(onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"]))
    scores: Scores = session[0].run(None, {"features": X})[0]
    return scores


def elasticsearch(content: bytes, X: Rows) -> Scores:
    """The plugin: a linear sum over named features, XGBoost's dump (yes: x < condition) or RankLib's XML."""
    bodies = json.loads(content)
    features = bodies["featureset"]["featureset"]["features"]
    names = [feature["name"] for feature in features]
    model = bodies["createmodel"]["model"]["model"]
    # a constant_score query with a boost of 1 gives 1 to every document
    ones = sum("constant_score" in feature["template"] for feature in features)
    values = np.hstack([X, np.ones((len(X), ones), np.float32)])
    values = np.where(np.isnan(values), np.float32(0), values)
    out = np.zeros(len(X))
    everyone = np.arange(len(X))
    if model["type"] == "model/linear":
        weights = json.loads(model["definition"])
        assert set(weights) == set(names)
        return values.astype(np.float64) @ np.array([weights[name] for name in names], np.float64)
    if model["type"] == "model/xgboost+json":

        def look(node: Any, rows: NDArray[np.int64]) -> Any:
            if "leaf" in node:
                return float(node["leaf"])
            below = values[rows, names.index(node["split"])] < np.float32(node["split_condition"])
            by_id = {child["nodeid"]: child for child in node["children"]}
            return below, by_id[node["yes"]], by_id[node["no"]]

        for tree in json.loads(model["definition"]):
            fall(tree, everyone, look, out)
        return out
    assert model["type"] == "model/ranklib"
    assert model["definition"].startswith("## LambdaMART\n")
    text = "\n".join(line for line in model["definition"].splitlines() if not line.startswith("##"))

    def look_xml(node: Any, rows: NDArray[np.int64]) -> Any:
        output = node.find("output")
        if output is not None:
            return float(output.text)
        column = int(node.find("feature").text) - 1
        sides = {split.get("pos"): split for split in node.findall("split")}
        low = values[rows, column] <= np.float32(node.find("threshold").text)
        return low, sides["left"], sides["right"]

    for tree in ET.fromstring(text).findall("tree"):  # noqa: S314 - our own export
        part = np.zeros(len(X))
        fall(tree.find("split"), everyone, look_xml, part)
        out += float(tree.get("weight", "")) * part
    return out


def solr(content: bytes, X: Rows) -> Scores:
    """Solr's three classes; a threshold that is read gets 10⁻⁶ added, in 32 bits."""
    bodies = json.loads(content)
    model = bodies["model"]
    names = [feature["name"] for feature in model["features"]]
    assert [feature["name"] for feature in bodies["features"]] == names
    constants = [f["params"]["value"] for f in bodies["features"]]
    ones = np.repeat(np.array(constants[X.shape[1] :], np.float32)[None], len(X), axis=0)
    values = np.hstack([np.where(np.isnan(X), np.float32(0), X), ones])
    kind, params = model["class"].rpartition(".")[2], model["params"]
    if kind == "LinearModel":
        return values.astype(np.float64) @ np.array([params["weights"][name] for name in names], np.float64)
    if kind == "NeuralNetworkModel":
        return _solr_network(params["layers"], values.astype(np.float64))
    assert kind == "MultipleAdditiveTreesModel"

    def look(node: Any, rows: NDArray[np.int64]) -> Any:
        if "feature" not in node:
            return float(node["value"])
        threshold = np.float32(np.float32(node["threshold"]) + np.float32(1e-6))
        return values[rows, names.index(node["feature"])] <= threshold, node["left"], node["right"]

    out = np.zeros(len(X))
    for tree in params["trees"]:
        part = np.zeros(len(X))
        fall(tree["root"], np.arange(len(X)), look, part)
        out += float(tree["weight"]) * part
    return out


def _solr_network(layers: Sequence[Any], state: Scores) -> Scores:
    activations: dict[str, Callable[[Scores], Scores]] = {
        "identity": lambda z: z,
        "relu": lambda z: np.where(z > 0, z, 0),
        "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    }
    for layer in layers:
        raw = state @ np.array(layer["matrix"]).T + np.array(layer["bias"])
        state = activations[layer["activation"]](raw)
    return state[:, 0]


def plain_json(content: bytes, X: Rows) -> Scores:
    """topkit's own JSON, by the rules that its guide states."""
    body = json.loads(content)
    assert (body["format"], body["version"]) == ("topkit-json", 1)
    values = _normalised(X.astype(np.float64), body["normalisation"])
    model = body["model"]
    if model["kind"] == "trees":

        def look(at: tuple[Any, int], rows: NDArray[np.int64]) -> Any:
            tree, node = at
            if tree["feature"][node] < 0:
                return float(tree["value"][node])
            x = values[rows, tree["feature"][node]]
            low = np.where(np.isnan(x), tree["missing_left"][node], x <= tree["threshold"][node])
            return low, (tree, tree["left"][node]), (tree, tree["right"][node])

        out = np.zeros(len(X))
        for tree in model["trees"]:
            fall((tree, 0), np.arange(len(X)), look, out)
        return out
    state = np.where(np.isnan(values), model["missing"], values)
    if model["kind"] == "linear":
        return state @ np.array(model["weights"], np.float64) + float(model["bias"])
    activations: dict[str, Callable[[Scores], Scores]] = {"relu": lambda z: np.maximum(z, 0), "tanh": np.tanh}
    act = activations[model["activation"]]
    for layer in model["layers"][:-1]:
        state = act(state @ np.array(layer["matrix"]) + np.array(layer["bias"]))
    last = model["layers"][-1]
    outputs: Scores = state @ np.array(last["matrix"]) + np.array(last["bias"])
    return outputs[:, 0]


def _normalised(X: Scores, method: str) -> Scores:
    if method == "raw+z-score":
        return np.hstack([X, _normalised(X, "z-score")])
    out = X.copy()
    for j in range(X.shape[1] if method != "none" else 0):
        column = X[:, j]
        known = column[~np.isnan(column)]
        if not len(known):
            continue
        if method == "min-max":
            centre, scale = known.min(), known.max() - known.min()
        elif method == "z-score":
            centre, scale = known.mean(), known.std() if known.min() < known.max() else 0.0
        else:
            centre, scale = known.mean(), np.abs(known).max()
        out[:, j] = np.where(np.isnan(column), np.nan, (column - centre) / scale if scale > 0 else 0.0)
    return out.astype(np.float32).astype(np.float64)


def score_queries(form: str, content: bytes, X: Rows, ptr: NDArray[np.int64]) -> Scores:
    """Scores of all rows, one query after another, by the evaluator of a format."""
    session: list[Any] = []
    evaluate: dict[str, Callable[[bytes, Rows], Scores]] = {
        "onnx": lambda content, X: onnx(content, X, session),
        "elasticsearch": elasticsearch,
        "elasticsearch-ranklib": elasticsearch,
        "solr": solr,
        "json": plain_json,
    }
    if form in ("elasticsearch", "elasticsearch-ranklib", "solr"):  # they score documents one by one
        return evaluate[form](content, X)
    return np.concatenate([evaluate[form](content, X[a:b]) for a, b in pairwise(ptr.tolist())])
