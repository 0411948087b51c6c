"""Trees in LightGBM's text format: what LightGBM would crash on is refused before LightGBM reads it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from topkit.rankers.checks import easy_data
from topkit.scorers import Trees
from topkit.scorers.tree_text import checked_trees


@pytest.fixture(scope="module")
def text() -> str:
    model = tk.ranker("mart", trees=4, leaves=5, min_leaf=2).fit(easy_data(8)).model
    assert isinstance(model, Trees)
    return model.text


def test_the_checked_text_scores_like_the_original(text: str) -> None:
    import lightgbm

    X = np.random.default_rng(3).normal(0.5, 1, (200, 4)).astype(np.float32)
    X[::7, 1] = np.nan
    original = lightgbm.Booster(model_str=text).predict(X, raw_score=True)
    checked = checked_trees(text)
    assert (checked.features, checked.classes, checked.trees) == (4, 1, 4)
    assert np.array_equal(lightgbm.Booster(model_str=checked.text).predict(X, raw_score=True), original)


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"left_child=\S+", "left_child=0", "do not form a tree"),
        (r"left_child=\S+", "left_child=1000000", "do not form a tree"),
        (r"right_child=\S+", "right_child=-1000000", "do not form a tree"),
        (r"split_feature=\S+", "split_feature=4", "a feature that the model does not have"),
        (r"split_feature=\S+", "split_feature=-1", "a feature that the model does not have"),
        (r"split_feature=\S+ ", "split_feature=", "expected 4 numbers in split_feature, got 3"),
        (r"num_leaves=5", "num_leaves=6", "expected 5 numbers in split_feature, got 4"),
        (r"num_leaves=5", "num_leaves=1", "expected 1 numbers in leaf_value, got 5"),
        (r"num_leaves=5", "num_leaves=999999999", "expected num_leaves"),
        (r"num_leaves=5", "num_leaves=-1", "expected num_leaves"),
        (r"leaf_value=\S+", "leaf_value=nan", "leaf_value must be finite"),
        (r"leaf_value=\S+", "leaf_value=1e999", "leaf_value must be finite"),
        (r"threshold=\S+", "threshold=nan", "threshold must be finite"),
        (r"threshold=\S+", "threshold=1_0", "must be numbers"),
        (r"threshold=\S+", "threshold=1.2.3", "could not convert"),
        (r"decision_type=\S+", "decision_type=1", "unknown kind of split"),
        (r"num_cat=0", "num_cat=1", "categories"),
        (r"is_linear=0", "is_linear=1", "linear leaves"),
        (r"Tree=1", "Tree=7", "expected tree 1, got '7'"),
        (r"num_class=1", "num_class=3", "cannot be divided"),
        (r"num_class=1", "num_class=0", "expected num_class"),
        (r"num_tree_per_iteration=1", "num_tree_per_iteration=5", "cannot be divided"),
        (r"max_feature_idx=3", "max_feature_idx=5", "expected 6 feature_names, got 4"),
        (r"max_feature_idx=3", "max_feature_idx=99999999", "expected max_feature_idx"),
        (r"version=v4", "version=v9", "unknown version"),
        (r"end of trees", "end", "cut short"),
        (r"leaf_count=", "leaf_count=١", "not ASCII"),  # Python reads it as a digit, LightGBM aborts
        (r"^tree\n", "", "LightGBM's format"),
        (r"num_leaves=5", "num_leaves=5\nnum_leaves=5", "twice"),
    ],
)
def test_damage_is_refused_with_its_reason(text: str, pattern: str, replacement: str, message: str) -> None:
    damaged = re.sub(pattern, replacement, text, count=1)
    assert damaged != text
    with pytest.raises(ValueError, match=message):
        checked_trees(damaged)


def test_splits_that_form_a_circle_beside_the_tree(text: str) -> None:
    """Every child has one parent, but splits 1 and 2 are only reached from each other."""
    for name, children in (("left", "-1 2 1 -4"), ("right", "3 -2 -3 -5")):
        text = re.sub(rf"{name}_child=.*", f"{name}_child={children}", text, count=1)
    with pytest.raises(ValueError, match="do not form a tree"):
        checked_trees(text)


MUTATE = """
import random, sys
import numpy as np, topkit as tk
from topkit.rankers.checks import easy_data
from topkit.scorers import Trees
from topkit.scorers.model import Parts
text, seed, tries = open(sys.argv[1]).read(), int(sys.argv[2]), int(sys.argv[3])
rng, data, loaded = random.Random(seed), easy_data(4), 0
end = text.index("end of trees") + 20
for _ in range(tries):
    damaged = list(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(end)
        if rng.random() < 0.3:
            del damaged[at : at + rng.randint(1, 40)]
        else:
            damaged[at] = rng.choice("0123456789-e. =\\n")
    try:
        model = Trees.of_parts(Parts(texts={"trees": "".join(damaged)}))
        model.check_features(data.n_features)
    except ValueError:
        continue
    assert np.isfinite(model.score(data)).all()
    loaded += 1
print(loaded)
"""


def test_mutated_trees_never_end_the_process(text: str, tmp_path: Path) -> None:
    (tmp_path / "trees").write_text(text)
    command = [sys.executable, "-c", MUTATE, str(tmp_path / "trees"), "17", "400"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert 0 < int(result.stdout.split()[-1]) < 400, "some changes are harmless, others refused"
