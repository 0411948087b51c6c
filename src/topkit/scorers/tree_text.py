"""Trees in LightGBM's text format, checked before LightGBM reads them.

LightGBM trusts its input: a damaged text makes it read outside its arrays, or walk in circles. Every number
of the trees is checked here, and LightGBM gets a text that is put together from what was checked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_FEATURES = 1_000_000
MAX_CLASSES = 1_000
MAX_LEAVES = 1 << 20
"""Far above what topkit trains; the limits keep a damaged number from becoming an allocation."""

_INTEGERS = re.compile(r"-?\d{1,18}(?: -?\d{1,18})*")
_FLOATS = re.compile(
    r"-?(?:\d[\d.]*(?:e[+-]?\d{1,3})?|inf|nan)(?: -?(?:\d[\d.]*(?:e[+-]?\d{1,3})?|inf|nan))*"
)
_OBJECTIVE = re.compile(r"[a-z_]+(?: [a-z_]+:[\w.+-]+)*")
_DECISIONS = (0, 2, 4, 6, 8, 10)
"""Numeric splits: bit 1 sends missing values left, bits 2 and 3 say what counts as missing."""
_PER_SPLIT = (
    "split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child",
    "internal_value", "internal_weight", "internal_count",
)  # fmt: skip
_PER_LEAF = ("leaf_value", "leaf_weight", "leaf_count")
_WHOLE = ("split_feature", "decision_type", "left_child", "right_child", "leaf_count", "internal_count")


@dataclass(frozen=True)
class TreeText:
    """A checked sum of trees."""

    features: int
    """Columns of the training data."""
    classes: int
    """Sums per document."""
    trees: int
    text: str
    """The checked trees in LightGBM's format."""


def checked_trees(text: str) -> TreeText:
    """The trees of a model text; ValueError with the reason if anything is inconsistent."""
    head, *blocks = _sections(text)
    fields = _fields(head, "the header")
    features = _number(fields, "max_feature_idx", 0, MAX_FEATURES - 1) + 1
    classes = _number(fields, "num_class", 1, MAX_CLASSES)
    if fields.get("version") not in ("v3", "v4"):
        raise ValueError(f"unknown version {fields.get('version', '')[:40]!r} of the tree format")
    if _number(fields, "num_tree_per_iteration", 1, MAX_CLASSES) != classes or len(blocks) % classes:
        raise ValueError(f"{len(blocks)} trees cannot be divided among {classes} classes")
    for name in ("feature_names", "feature_infos"):
        count = len(fields.get(name, "").split(" "))
        if count != features:
            raise ValueError(f"expected {features} {name}, got {count}")
    if "objective" in fields and not _OBJECTIVE.fullmatch(fields["objective"]):
        raise ValueError("invalid objective")
    if not all(block.isascii() for block in blocks):
        raise ValueError(
            "a tree contains characters that are not ASCII"
        )  # Python reads ١٢ as 12, LightGBM aborts
    trees = [_checked_tree(block, i, features) for i, block in enumerate(blocks)]
    lines = [
        "tree", "version=v4", f"num_class={classes}", f"num_tree_per_iteration={classes}", "label_index=0",
        f"max_feature_idx={features - 1}",
        "feature_names=" + " ".join(f"Column_{i}" for i in range(features)),
        "feature_infos=" + " ".join(["none"] * features),
        "tree_sizes=" + " ".join(str(len(tree)) for tree in trees),
    ]  # fmt: skip
    whole = "\n".join(lines) + "\n\n" + "".join(trees) + "end of trees\n\n"
    return TreeText(features, classes, len(trees), whole)


def _sections(text: str) -> list[str]:
    """The header and the trees of a text; what follows the trees does not matter for scores."""
    if not text.startswith("tree\n"):
        raise ValueError("expected a text in LightGBM's format, starting with 'tree'")
    body, end, _ = text.partition("\nend of trees\n")
    if not end:
        raise ValueError("the text of the trees is cut short")
    return re.split(r"\nTree=(?=\d)", body)


def _fields(block: str, where: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in block.split("\n"):
        name, equals, value = line.partition("=")
        if equals and name in fields:
            raise ValueError(f"{where} has {name[:40]!r} twice")
        fields[name] = value
    return fields


def _number(fields: dict[str, str], name: str, low: int, high: int) -> int:
    text = fields.get(name, "")
    if not re.fullmatch(r"\d{1,9}", text) or not low <= int(text) <= high:
        raise ValueError(f"expected {name} from {low} to {high}, got {text[:40]!r}")
    return int(text)


def _checked_tree(block: str, number: int, features: int) -> str:
    """The text of one tree, put together from checked numbers."""
    where = f"tree {number}"
    first, _, rest = block.partition("\n")
    if first != str(number):
        raise ValueError(f"expected {where}, got {first[:40]!r}")
    fields = _fields(rest, where)
    leaves = _number(fields, "num_leaves", 1, MAX_LEAVES)
    if fields.get("num_cat") != "0" or fields.get("is_linear", "0") != "0":
        raise ValueError(f"{where} has categories or linear leaves, which topkit does not train")
    lines = [f"num_leaves={leaves}", "num_cat=0"]
    arrays: dict[str, NDArray[Any]] = {}
    sizes = dict.fromkeys(_PER_SPLIT, leaves - 1) | dict.fromkeys(_PER_LEAF, leaves)
    for name in (*_PER_SPLIT[:6], *_PER_LEAF, *_PER_SPLIT[6:]):
        text = fields.get(name, "")
        if leaves == 1 and name != "leaf_value":
            continue  # a tree without splits is one number
        arrays[name] = _array(text, name, sizes[name], where)
        lines.append(f"{name}={text}")
    if leaves > 1:
        _check_structure(arrays, leaves, features, where)
    shrinkage = fields.get("shrinkage", "")
    _array(shrinkage, "shrinkage", 1, where)
    lines += ["is_linear=0", f"shrinkage={shrinkage}"]
    return f"Tree={number}\n" + "\n".join(lines) + "\n\n\n"


def _array(text: str, name: str, size: int, where: str) -> NDArray[Any]:
    whole = name in _WHOLE
    if not (_INTEGERS if whole else _FLOATS).fullmatch(text):
        raise ValueError(f"{where}: {name} must be numbers separated by spaces")
    values: NDArray[Any] = np.array(text.split(" "), np.int64 if whole else np.float64)
    if len(values) != size:
        raise ValueError(f"{where}: expected {size} numbers in {name}, got {len(values)}")
    # A split that separates missing values from all others has an infinite threshold.
    if (name == "threshold" and np.isnan(values).any()) or (
        name == "leaf_value" and not np.isfinite(values).all()
    ):
        raise ValueError(f"{where}: {name} must be finite")
    return values


def _check_structure(arrays: dict[str, NDArray[Any]], leaves: int, features: int, where: str) -> None:
    """Every split and every leaf must be reached from the root exactly once."""
    feature = arrays["split_feature"]
    if feature.min() < 0 or feature.max() >= features:
        raise ValueError(f"{where}: a split uses a feature that the model does not have")
    if not np.isin(arrays["decision_type"], _DECISIONS).all():
        raise ValueError(f"{where}: unknown kind of split")
    children = np.stack([arrays["left_child"], arrays["right_child"]], axis=1)
    # A child comes after its parent, so that no walk is endless; −1 − ℓ is leaf ℓ.
    forward = (children < 0) | (children > np.arange(leaves - 1)[:, None])
    reached = np.sort(children, axis=None)
    expected = np.append(np.arange(-leaves, 0), np.arange(1, leaves - 1))
    if not forward.all() or not np.array_equal(reached, expected):
        raise ValueError(f"{where}: the children of the splits do not form a tree")
