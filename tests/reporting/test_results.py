"""Results from Python: tables in every format, notebooks, frames and plots."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from topkit.data import InputError
from topkit.data.table import TABLE_FORMATS, Table
from topkit.metrics import Evaluation

DATA = tk.Dataset.build([[0.0]] * 6, [0, 2, 1, 0, 0, 1], ["a", "a", "b", "b", "c", "c"])
GOOD, BAD = [0, 1, 1, 0, 0, 1], [1, 0, 1, 0, 1, 0]


@pytest.fixture
def evaluations() -> dict[str, Evaluation]:
    return {name: tk.evaluate(DATA, scores, "rr,map") for name, scores in (("good", GOOD), ("bad", BAD))}


def test_a_table_in_every_format() -> None:
    table = Table(("", "map"), [("a<b", 0.5), ("c_d", None)], ["a & b"], bold={(0, 1)})
    assert set(TABLE_FORMATS) == {"table", "markdown", "latex", "csv", "json"}
    assert json.loads(table.json()) == {
        "notes": ["a & b"],
        "rows": [{"name": "a<b", "map": 0.5}, {"name": "c_d", "map": None}],
    }
    assert str(table) == table.text()
    assert "a&lt;b" in table._repr_html_()
    assert "<b>0.5000</b>" in table._repr_html_()
    frame = table.to_frame("pandas")
    assert list(frame.columns) == ["name", "map"]
    assert frame["map"][0] == 0.5
    assert list(Table(("a", "b"), []).to_frame("pandas").columns) == ["a", "b"]


def test_an_evaluation_is_a_table() -> None:
    # reciprocal ranks of bad: 1/2, 1, 1/2
    evaluation = tk.evaluate(DATA, BAD, "rr")
    assert "| rr | 0.6667 |" in evaluation.table().markdown()
    assert r"rr & 0.6667 \\" in evaluation.table().latex()
    assert "<td>0.6667</td>" in evaluation._repr_html_()
    assert str(evaluation).splitlines()[0].split() == ["metric", "value"]


def test_a_comparison_is_a_table(evaluations: dict[str, Evaluation]) -> None:
    comparison = tk.compare(evaluations, "rr", test="randomisation")
    # the differences are 1/2, 0, 1/2: 2 of 4 sign flips of the two that are not 0 are as large
    row = comparison.table().rows[0]
    assert row[:2] == ["good", "bad"]
    assert row[2:] == pytest.approx([1.0, 2 / 3, 1 / 3, 0.5, 0.5])
    assert "| good | bad | 1.0000 | 0.6667 | 0.3333 | 0.5000 | 0.5000 |" in comparison.table().markdown()
    assert "<table>" in comparison._repr_html_()
    assert comparison.to_frame("pandas")["p"][0] == pytest.approx(0.5)


def test_systems_side_by_side(evaluations: dict[str, Evaluation]) -> None:
    scores = tk.score_table(evaluations, test="randomisation", interval=True)
    pair = tk.compare(evaluations, "rr", "randomisation", baseline="good")["bad", "good"]
    body = json.loads(scores.json())
    assert body["p_values"]["bad"]["rr"] == {"p": pair.p, "corrected": pair.corrected}
    assert body["results"]["bad"]["rr"] == pytest.approx(2 / 3)
    assert scores.plain().columns[:6] == ("system", "rr", "rr_low", "rr_high", "rr_p", "rr_corrected")
    low, high = evaluations["bad"].interval("rr")
    assert list(scores.plain().rows[1][2:6]) == pytest.approx([low, high, pair.p, pair.corrected])
    assert scores.plain().rows[0][4] is None, "the baseline has no p-value"
    assert scores.to_frame("pandas")["system"].tolist() == ["good", "bad"]
    assert "<b>" in scores._repr_html_()
    assert str(scores) == scores.table().text()
    with pytest.raises(InputError, match="no evaluation"):
        tk.score_table({})


def test_json_never_has_nan() -> None:
    from topkit.reporting.tables import ScoreTable

    scores = ScoreTable(("x",), (("a", (float("nan"),)),), p_values={("a", "x"): (float("nan"), 1.0)})
    body = json.loads(scores.json(), parse_constant=pytest.fail)
    assert body["results"]["a"]["x"] is None
    assert body["p_values"]["a"]["x"] == {"p": None, "corrected": 1.0}


def test_plots(evaluations: dict[str, Evaluation], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (axes,) = tk.plot(evaluations, "rr").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["bad", "good"]
    assert axes.get_xlabel() == "rr"
    (line,) = axes.lines[:1]
    np.testing.assert_allclose(np.asarray(line.get_xdata(), float), [2 / 3, 1.0])
    assert tk.plot(evaluations["bad"]).axes[0].get_ylabel() == "queries"
    assert "difference" in tk.plot(tk.compare(evaluations, "map")).axes[0].get_xlabel()
    tk.plot(evaluations).savefig(tmp_path / "plot.svg")
    with pytest.raises(InputError, match="no evaluation"):
        tk.plot({})
