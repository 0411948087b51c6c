"""Special cases of the formats: missing features, chosen features, constants, thresholds, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import topkit as tk
from tests.support.cli import said, topkit
from tests.support.export import score_queries
from topkit.export import EXPORTERS, export_ranker, portable
from topkit.export.forms import Portable, Tree, TreesForm, float32_above, float32_at_most
from topkit.export.solr import before_slack


def holed(seed: int = 0, share: float = 0.2) -> tk.Dataset:
    """Twenty queries with missing features, one of which is missing wherever the label is 2."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 30, 20)
    n = int(lengths.sum())
    X = rng.normal(size=(n, 5)).astype(np.float32)
    y = np.clip(np.round(X[:, 1] + 0.5 * X[:, 3] + 1), 0, 2)
    X[rng.uniform(size=X.shape) < share] = np.nan
    X[y == 2, 0] = np.nan
    return tk.Dataset.build(X, y, np.repeat(np.arange(20), lengths))


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("listnet", {}),
        ("listnet", {"normalise": "sortnet"}),
        ("listnet", {"scorer": "mlp", "hidden": (4, 3), "activation": "tanh", "epochs": 3}),
        ("lambdamart", {"trees": 20, "min_leaf": 5}),
        ("lambdamart", {"trees": 20, "min_leaf": 5, "normalise": "min-max"}),
        ("rankboost", {"rounds": 30}),
    ],
)
@pytest.mark.parametrize("form", ["onnx", "json"])
def test_missing_features(name: str, settings: dict[str, Any], form: str) -> None:
    data, other = holed(), holed(1)
    ranker = tk.ranker(name, **settings).fit(data)
    found = score_queries(form, export_ranker(ranker, form), other.X, other.ptr)
    np.testing.assert_allclose(found, ranker.score(other), rtol=0, atol=1e-9)


def test_trees_that_learnt_from_missing_features_are_refused_where_missing_is_0() -> None:
    ranker = tk.ranker("lambdamart", trees=20, min_leaf=5).fit(holed())
    assert isinstance(portable(ranker).form, TreesForm)
    for form in ("solr", "elasticsearch-ranklib"):
        with pytest.raises(tk.InputError, match="missing feature differently from 0"):
            export_ranker(ranker, form)
    definition = json.loads(export_ranker(ranker, "elasticsearch"))["createmodel"]["model"]["model"][
        "definition"
    ]
    roots = json.loads(definition)
    assert any(root["missing"] == root["no"] for root in roots)


def test_chosen_features_and_names(ragged: tk.Dataset) -> None:
    named = ragged.with_features(ragged.X, ["bm25", "pagerank", "length", "age"])
    ranker = tk.ranker("linear-regression", features=("age", "bm25"), normalise="none", l2=0.0).fit(named)
    for form in EXPORTERS:
        chosen = named.X if form == "onnx" else np.ascontiguousarray(named.X[:, [3, 0]])
        found = score_queries(form, export_ranker(ranker, form), chosen, named.ptr)
        np.testing.assert_allclose(found, ranker.score(named), atol=1e-12)
    body = json.loads(export_ranker(ranker, "elasticsearch"))
    names = [feature["name"] for feature in body["featureset"]["featureset"]["features"]]
    assert names == ["age", "bm25", "topkit_constant"]  # least squares on grades has a constant


def test_a_ranker_that_learnt_nothing_is_exported() -> None:
    flat = tk.Dataset.build(np.ones((4, 2)), [1, 0, 1, 0], ["a", "a", "b", "b"])
    ranker = tk.ranker("rankboost", normalise="none").fit(flat)
    for form in EXPORTERS:
        assert score_queries(form, export_ranker(ranker, form), flat.X, flat.ptr).tolist() == [0.0] * 4


def test_refusals_that_need_no_data(ragged: tk.Dataset) -> None:
    with pytest.raises(tk.InputError, match="not fitted"):
        export_ranker(tk.ranker("listnet"), "json")
    fitted = tk.ranker("bestfeature").fit(ragged)
    with pytest.raises(tk.InputError, match=r"unknown export format 'pmml'; choose from onnx, elasticsearch"):
        export_ranker(fitted, "pmml")

    class Comparator:
        kind = "comparator"

    fitted.model = Comparator()  # type: ignore[assignment]
    with pytest.raises(tk.InputError, match="orders documents without scoring them"):
        export_ranker(fitted, "json")


floats32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.floats(-1e38, 1e38), floats32)
def test_thresholds_in_32_bits_send_every_feature_the_same_way(threshold: float, x: float) -> None:
    assert (x <= threshold) == (x <= float32_at_most(threshold)) == (x < float32_above(threshold))


@given(st.floats(-1e30, 1e30), floats32)
@example(-1.0, -1.0)
@example(-1.0, float(np.nextafter(np.float32(-1), np.float32(0))))
def test_solr_reads_back_the_threshold(threshold: float, x: float) -> None:
    """After Solr's addition a feature goes the same way, but for the gap beside 0 that is documented."""
    read = np.float32(np.float32(before_slack(threshold)) + np.float32(1e-6))
    if (x <= threshold) != (x <= float(read)):
        assert threshold < x <= float(read)
        close_to_0 = abs(threshold) < 1e-6 and float(read) - threshold < 2e-13
        assert close_to_0 or float(np.nextafter(read, np.float32(-np.inf))) <= threshold


def test_a_split_by_hand() -> None:
    """x ≤ 0.1 → −1, else a second split x ≤ 3 → 0.25, else 4; 0.1 in 32 bits is above 0.1 in 64."""
    tree = Tree(
        np.array([0, -1, 0, -1, -1]),
        np.array([0.1, 0, 3.0, 0, 0]),
        np.zeros(5, np.bool_),
        np.array([1, -1, 3, -1, -1]),
        np.array([2, -1, 4, -1, -1]),
        np.array([0, -1.0, 0, 0.25, 4.0]),
    )
    what = Portable("byhand", ("x",), (0,), 1, "none", TreesForm((tree,), learnt_missing=False))
    X = np.array([[0.0], [0.1], [3.0], [3.5]], np.float32)
    for form, write in EXPORTERS.items():
        found = score_queries(form, write(what), X, np.array([0, 4]))
        assert found.tolist() == [-1.0, 0.25, 0.25, 4.0], form


def test_the_command(ragged: tk.Dataset, tmp_path: Path) -> None:
    model, out = tmp_path / "a.model", tmp_path / "a.json"
    tk.ranker("listnet").fit(ragged).save(model)
    assert "a.json: listnet as json" in said("export", model, "--to", "json", "--out", out)
    assert json.loads(out.read_text())["normalisation"] == "z-score"
    refused = topkit("export", model, "--to", "solr", "--out", tmp_path / "b")
    assert refused.returncode == 1
    assert "normalises features within each query (z-score)" in refused.stderr
    assert not (tmp_path / "b").exists()
