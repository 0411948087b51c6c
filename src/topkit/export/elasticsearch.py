"""Elasticsearch and OpenSearch: their Learning to Rank plugins, which read the same JSON.

The file has two JSON bodies: ``featureset`` for ``PUT _ltr/_featureset/NAME``, a template in which you write
the query of each feature (the placeholders match nothing, so they give 0), and ``createmodel`` for
``POST _ltr/_featureset/NAME/_createmodel``. Linear models are ``model/linear``; trees are
``model/xgboost+json``, or ``model/ranklib`` for systems that already use RankLib models.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from topkit.data import InputError
from topkit.export.forms import (
    LinearForm,
    NetworkForm,
    Portable,
    Tree,
    TreesForm,
    float32_above,
    float32_at_most,
)
from topkit.export.refusals import refuse_learnt_missing, refuse_normalisation
from topkit.export.text import json_bytes

ENGINE = "the Learning to Rank plugin of Elasticsearch and OpenSearch"
CONSTANT = "topkit_constant"
"""A feature that is always 1: the plugin's linear model has no constant term."""


def to_elasticsearch(what: Portable) -> bytes:
    """Linear models as ``model/linear``, trees as ``model/xgboost+json``."""
    return _bodies(what, "model/xgboost+json", xgboost_trees)


def to_elasticsearch_ranklib(what: Portable) -> bytes:
    """Linear models as ``model/linear``, trees as ``model/ranklib``."""
    refuse_learnt_missing(what, "RankLib's tree format")
    return _bodies(what, "model/ranklib", ranklib_trees)


def _bodies(what: Portable, tree_type: str, write_trees: Callable[[Portable, TreesForm], str]) -> bytes:
    refuse_normalisation(what, ENGINE)
    features = [_placeholder(name) for name in what.features]
    if isinstance(what.form, NetworkForm):
        raise InputError(
            f"{ENGINE} supports linear models and trees, not neural networks",
            "train with scorer=linear or scorer=trees, or export to onnx or solr",
        )
    if isinstance(what.form, LinearForm):
        kind, definition = "model/linear", json.dumps(_weights(what, what.form), allow_nan=False)
        if what.form.bias:
            features.append(_always_one())
    else:
        kind, definition = tree_type, write_trees(what, what.form)
    return json_bytes(
        {
            "featureset": {"featureset": {"features": features}},
            "createmodel": {
                "model": {"name": f"topkit-{what.ranker}", "model": {"type": kind, "definition": definition}}
            },
        }
    )


def _weights(what: Portable, form: LinearForm) -> dict[str, float]:
    weights = dict(zip(what.features, form.weights.tolist(), strict=True))
    return {**weights, CONSTANT: form.bias} if form.bias else weights


def _placeholder(name: str) -> dict[str, Any]:
    query: dict[str, Any] = {"match_none": {}}
    return {"name": name, "params": ["keywords"], "template_language": "mustache", "template": query}


def _always_one() -> dict[str, Any]:
    query = {"constant_score": {"filter": {"match_all": {}}, "boost": 1.0}}
    return {"name": CONSTANT, "params": [], "template_language": "mustache", "template": query}


def xgboost_trees(what: Portable, form: TreesForm) -> str:
    """XGBoost's JSON dump: a split goes to ``yes`` if x < split_condition, in 32 bits."""
    return json.dumps([_xgboost_node(what, tree, 0, 0) for tree in form.trees], allow_nan=False)


def _xgboost_node(what: Portable, tree: Tree, node: int, depth: int) -> dict[str, Any]:
    if tree.feature[node] < 0:
        return {"nodeid": node, "leaf": float(tree.value[node])}
    left, right = int(tree.left[node]), int(tree.right[node])
    return {
        "nodeid": node,
        "depth": depth,
        "split": what.features[tree.feature[node]],
        "split_condition": float32_above(float(tree.threshold[node])),
        "yes": left,
        "no": right,
        "missing": left if tree.missing_left[node] else right,
        "children": [_xgboost_node(what, tree, child, depth + 1) for child in (left, right)],
    }


def ranklib_trees(what: Portable, form: TreesForm) -> str:
    """RankLib's text: features count from 1 in the order of the feature set, x ≤ threshold goes left."""
    leaves = max((int((tree.feature < 0).sum()) for tree in form.trees), default=1)
    lines = ["## LambdaMART", f"## No. of trees = {len(form.trees)}", f"## No. of leaves = {leaves}"]
    lines += ["## No. of threshold candidates = 256", "## Learning rate = 1.0", "## Stop early = 100", ""]
    lines.append("<ensemble>")
    for i, tree in enumerate(form.trees, 1):
        lines.append(f'\t<tree id="{i}" weight="1.0">')
        lines += _ranklib_node(tree, 0, "", 2)
        lines.append("\t</tree>")
    return "\n".join([*lines, "</ensemble>", ""])


def _ranklib_node(tree: Tree, node: int, side: str, depth: int) -> list[str]:
    indent = "\t" * depth
    opening = f'{indent}<split pos="{side}">' if side else f"{indent}<split>"
    if tree.feature[node] < 0:
        return [opening, f"{indent}\t<output> {float(tree.value[node])!r} </output>", f"{indent}</split>"]
    return [
        opening,
        f"{indent}\t<feature> {int(tree.feature[node]) + 1} </feature>",
        f"{indent}\t<threshold> {float32_at_most(float(tree.threshold[node]))!r} </threshold>",
        *_ranklib_node(tree, int(tree.left[node]), "left", depth + 1),
        *_ranklib_node(tree, int(tree.right[node]), "right", depth + 1),
        f"{indent}</split>",
    ]
