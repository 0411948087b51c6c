"""``topkit train``: options that do not go together are refused before files are read; ``--set``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import topkit as tk
from topkit.cli.shared import fusion_settings, ranker_settings
from topkit.cli.train import train
from topkit.data import InputError

FILE = Path("does-not-exist.txt")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "no training data"),
        ({"train_file": FILE, "tune": "grid"}, "--tune needs validation data"),
        ({"clicks": FILE, "tune": "grid", "valid_file": FILE}, "--tune cannot be used with --clicks"),
        ({"train_file": FILE, "start": FILE, "settings": ["l2=1"]}, "keeps its settings"),
        ({"train_file": FILE, "memory": "1GB", "dask": "local"}, "cannot be used together"),
        ({"train_file": FILE, "workers": 2}, "--workers is only for --dask local"),
        ({"train_file": FILE, "memory": "1GB", "truth": "order"}, "leave out .*--truth"),
        ({"train_file": FILE, "memory": "1GB", "preferences": FILE}, "leave out .*--preferences"),
        ({"train_file": FILE, "settings": ["l3=1"]}, "no setting 'l3'"),
        ({"train_file": FILE}, "does-not-exist.txt"),
    ],
)
def test_options_are_checked_before_files_are_read(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        train("listnet", Path("model"), **options)


def test_settings_are_parsed_by_their_type() -> None:
    assert ranker_settings("focusednet", ["k=5", "beta=0.25"]) == {"k": 5, "beta": 0.25}
    assert ranker_settings("listnet", ["l2=none", "normalise=none"]) == {"l2": None, "normalise": "none"}
    assert ranker_settings("listnet", ["scorer=mlp", "hidden=32,16"])["hidden"] == (32, 16)
    assert ranker_settings("sigmoid", ["base=perceptron", "base_settings.passes=2"]) == {
        "base": "perceptron",
        "base_settings": {"passes": 2},
    }
    with pytest.raises(InputError, match="k must be an integer"):
        ranker_settings("focusednet", ["k=many"])
    with pytest.raises(InputError, match="invalid setting"):
        ranker_settings("focusednet", ["k"])


def test_settings_of_a_base_ranker_reach_it(tmp_path: Path) -> None:
    data = tk.Dataset.build([[0.9], [0.1], [0.4], [0.3]], [1, 0, 1, 0], ["a", "a", "b", "b"])
    data.to_parquet(tmp_path / "data.parquet")
    train(
        "sigmoid",
        tmp_path / "model",
        train_file=tmp_path / "data.parquet",
        settings=["base=perceptron", "base_settings.passes=2"],
        quiet=True,
    )
    assert tk.load_ranker(tmp_path / "model").settings["base_settings"] == {"passes": 2}


def test_settings_of_a_fusion_method() -> None:
    assert fusion_settings("mallows", ["depth=50", "places=true"]) == {"depth": 50, "places": True}
    assert list(fusion_settings("weighted-borda", ["weights=1,0.5"])["weights"]) == [1.0, 0.5]
    with pytest.raises(InputError, match=r"no setting 'dept'.*did you mean 'depth'"):
        fusion_settings("mallows", ["dept=50"])


def test_a_metric_whose_smaller_values_are_better_is_printed_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, labels = [[1.0], [0.0], [1.0], [0.0], [0.0], [1.0]], [1, 0, 1, 0, 1, 0]  # one of three is wrong
    data = tk.Dataset.build(rows, labels, ["a", "a", "b", "b", "c", "c"])
    data.to_parquet(path := tmp_path / "data.parquet")
    files = {"train_file": path, "valid_file": path}
    train("listnet", tmp_path / "m", settings=["metric=loss01@1"], tune="grid", trials=2, **files)
    lines = capsys.readouterr().out.splitlines()
    assert "loss01@1 (yahoo) 0.3333 on the validation data" in lines[-1]
    assert lines[0].startswith("  0.3333  ")
