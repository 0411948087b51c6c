"""A study from Python: run it, and look at its tables, plots and frame."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import topkit as tk
from tests.support.cli import run_here
from topkit.data import InputError

STUDY = """
kind = "compare"
title = "Small"
rankers = ["bestfeature", "perceptron"]
metrics = ["ndcg@5", "map"]
[[data]]
name = "demo"
files = "demo"
"""


def test_results_of_a_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "small.toml").write_text(STUDY)
    folder = tmp_path / "out"
    finished = tk.run_study(str(tmp_path / "small.toml"), str(folder))
    assert "bestfeature" in str(finished)
    assert "<table>" in finished._repr_html_()
    (means, hardest) = finished.tables().values()
    assert means.columns == ("ndcg@5", "map")
    assert len(hardest.rows) > 0
    assert r"\begin{tabular}" in means.table().latex()
    assert set(finished.plots()), "at least one figure"
    frame = finished.to_frame("pandas")
    assert len(frame) == pq.read_table(folder / "results.parquet").num_rows
    assert str(tk.open_study(folder)) == str(finished)

    code, output, errors = run_here(capsys, "study", "report", folder, "--format", "json")
    assert code == 0, errors
    document = json.loads(output)
    assert [row["system"] for row in document["demo"]] == ["bestfeature", "perceptron"]
    assert document["demo"][0]["map"] == means.rows[0][1][1]
    assert "report.html" in errors
    with pytest.raises(InputError, match="not a study folder"):
        tk.open_study(tmp_path)
