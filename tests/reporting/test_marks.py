"""▲ means better, whichever way the measure points, in ``topkit eval`` and in a study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from topkit.cli import command_line
from topkit.metrics import CONVENTIONS, Evaluation, metric
from topkit.reporting.marks import interval_direction, mark, near_best_marks, significance_marks
from topkit.studies.showing import score_table

SMALLER = "wkt"
QUERIES = 12


def evaluation(values: list[float], name: str) -> Evaluation:
    qids = tuple(f"q{i}" for i in range(len(values)))
    return Evaluation(qids, {name: np.array(values)}, CONVENTIONS["yahoo"])


def test_the_measure_under_test_is_better_if_smaller() -> None:
    assert not metric(SMALLER).measure.greater_is_better


@pytest.mark.parametrize(("name", "expected"), [("rr", "▼"), (SMALLER, "▲")])
def test_smaller_values_are_better_or_worse_by_the_measure(name: str, expected: str) -> None:
    rng = np.random.default_rng(0)
    large = rng.uniform(0.6, 0.9, QUERIES).tolist()
    small = [value - 0.4 + 0.01 * i for i, value in enumerate(large)]
    evaluations = {"baseline": evaluation(large, name), "other": evaluation(small, name)}
    marks, note = significance_marks(evaluations, [name], baseline="baseline")
    assert marks == {("other", name): expected}
    assert note.startswith("▲ ▼: better or worse than baseline, p < 0.05")
    assert note.endswith("Holm correction for 1 comparison")
    assert score_table(evaluations, [name], "caption", baseline="baseline").marks == marks
    reordered = {"other": evaluations["other"], "baseline": evaluations["baseline"]}
    assert score_table(reordered, [name], "caption", baseline="baseline").marks == marks


def test_eval_prints_the_mark_of_a_study(tmp_path: Path) -> None:
    """Two orders of a top-2 truth: the second system has no inversions, so its wkt is 0."""
    data, bad, good = tmp_path / "data.txt", tmp_path / "bad", tmp_path / "good"
    data.write_text("".join(f"2 qid:{q} 1:1\n1 qid:{q} 1:1\n0 qid:{q} 1:1\n" for q in range(QUERIES)))
    bad.write_text("1\n2\n3\n" * (QUERIES - 1) + "2\n3\n1\n")
    good.write_text("3\n2\n1\n" * QUERIES)
    words = ["eval", data, bad, good, "--truth", "top-2", "--metrics", SMALLER, "--test", "t"]
    output = CliRunner().invoke(command_line(), [str(word) for word in words]).output
    lines = output.splitlines()
    assert lines[2].split() == ["good", "0.0000▲"]
    assert "better or worse than bad" in lines[-1]


def test_marks_within_one_sigma_of_the_best() -> None:
    """Values 0, 1, 0, 1 have the mean 0.5 and the variance 1/3, so σ of the mean is √(1/12) = 0.2887."""
    values = {"best": [0.0, 1.0, 0.0, 1.0], "near": [0.22] * 4, "far": [0.21] * 4}
    evaluations = {name: evaluation(row, "rr") for name, row in values.items()}
    marks, note = near_best_marks(evaluations, ["rr"])
    assert marks == {("best", "rr"): "°", ("near", "rr"): "°"}
    assert "not a test" in note
    both = score_table(evaluations, ["rr"], "caption", baseline="best", sigma=True)
    assert both.marks["near", "rr"] == "°"
    assert both.notes[-1] == note
    smaller = {name: evaluation([-value for value in row], SMALLER) for name, row in values.items()}
    assert near_best_marks(smaller, [SMALLER])[0] == {(name, SMALLER): "°" for name in ("best", "near")}


def test_directions() -> None:
    assert [mark(direction) for direction in (1, -1, 0)] == ["▲", "▼", ""]
    assert [interval_direction(*ends) for ends in ((0.1, 0.3), (-0.3, -0.1), (-0.1, 0.3))] == [1, -1, 0]
    assert interval_direction(0.1, 0.3, greater_is_better=False) == -1
