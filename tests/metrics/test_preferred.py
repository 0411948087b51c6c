"""Runs scored by preferences: levels, ppref and Compatibility, from Python and from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import topkit as tk
from topkit import InputError, Judgments, Preference, Run
from topkit.cli import command_line
from topkit.metrics.preferred import levels


def beats(*pairs: str, query: str = "q") -> tuple[Preference, ...]:
    """``xy`` means that x is better than y, ``x=y`` that they are tied."""
    return tuple(Preference(query, pair[0], pair[-1], "tie" if "=" in pair else "a") for pair in pairs)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (("xy", "yz"), {"x": 2, "y": 1, "z": 0}),
        (("xy", "xz"), {"x": 2, "y": 0, "z": 0}),
        (("xy", "yz", "zx", "zw"), {"x": 4, "y": 4, "z": 4, "w": 0}),  # a cycle shares a level
        (("xy", "xy", "yx"), {"x": 1, "y": 0}),  # the majority decides
        (("xy", "yx", "yz"), {"x": 0, "y": 1, "z": 0}),  # an equal number decides nothing
        (("x=y", "yz"), {"x": 0, "y": 1, "z": 0}),
    ],
)
def test_levels_by_hand(pairs: tuple[str, ...], expected: dict[str, float]) -> None:
    assert levels(beats(*pairs)) == expected


@given(st.permutations("abcdefg"), st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1))
def test_levels_agree_with_every_preference_that_follows_an_order(
    order: list[str], places: set[tuple[int, int]]
) -> None:
    pairs = [order[min(i, j)] + order[max(i, j)] for i, j in sorted(places) if i != j]
    level = levels(beats(*pairs))
    assert all(level[pair[0]] > level[pair[1]] for pair in pairs)


def test_compatibility_of_a_run_by_preferences_alone() -> None:
    judged = Judgments(preferences=beats("xy", "yz"))
    ideal = Run.of({"q": [("x", 3.0), ("y", 2.0), ("z", 1.0)]})
    swapped = Run.of({"q": [("y", 3.0), ("x", 2.0), ("z", 1.0)]})
    result = tk.evaluate_run(judged, ideal, ["ppref", "compat@2"])
    assert result.mean["ppref"] == 1.0
    assert result.mean["compat@2"] == 1.0
    result = tk.evaluate_run(judged, swapped, ["ppref", "compat@2"])
    assert result.mean["ppref"] == 0.5
    # z has level 0, so the ideal is x, y: overlap 0 at depth 1 and 2 of 2 at depth 2, with p = 0.95
    assert result.mean["compat@2"] == pytest.approx(0.95 / (1 + 0.95))
    with pytest.raises(InputError, match="ndcg@10 needs grades, and the judgments are preferences"):
        tk.evaluate_run(judged, ideal, ["ndcg@10"])


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {
        "prefs.csv": "query,a,b,winner\nq1,x,y,x\nq1,y,z,y\nq2,u,v,v\n",
        "prefs.txt": "q1 x y x\nq1 y z y\nq2 u v v\n",
        "qrels.tsv": "query-id\tcorpus-id\tscore\nq1\tx\t1\nq2\tv\t1\n",
        "good.tsv": "q1\tx\t1\nq1\ty\t2\nq1\tz\t3\nq2\tv\t1\nq2\tu\t2\n",
        "bad.run": "q1 Q0 z 1 3 b\nq1 Q0 y 2 2 b\nq1 Q0 x 3 1 b\nq2 Q0 u 1 2 b\nq2 Q0 v 2 1 b\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in texts}


@pytest.mark.parametrize("name", ["prefs.csv", "prefs.txt"])
def test_the_command_line_scores_runs_by_preferences(files: dict[str, str], name: str) -> None:
    result = CliRunner().invoke(
        command_line(["eval"]),
        ["eval", "--preferences", files[name], files["good.tsv"], files["bad.run"], "--format", "csv"],
    )
    assert result.exit_code == 0, result.output
    header, good, bad = result.stdout.splitlines()[:3]
    assert header.split(",")[1:] == ["ppref", "compat"]
    assert [float(value) for value in good.split(",")[1:]] == [1.0, 1.0]
    assert float(bad.split(",")[1]) == 0.0


def test_grades_and_preferences_together(files: dict[str, str]) -> None:
    arguments = ["--qrels", files["qrels.tsv"], "--preferences", files["prefs.csv"], files["bad.run"]]
    result = CliRunner().invoke(
        command_line(["eval"]), ["eval", *arguments, "--metrics", "rr,ppref", "--format", "csv"]
    )
    assert result.exit_code == 0, result.output
    values = result.stdout.splitlines()[1].split(",")[1:]
    assert [float(value) for value in values] == pytest.approx([(1 / 3 + 1 / 2) / 2, 0.0], abs=1e-4)


@pytest.mark.real_data
def test_the_published_best_documents_are_at_the_top_level(real_data: Path) -> None:
    """TREC CAsT 2019: the published best document of each topic, and the levels of the preferences."""
    folder = real_data / "cast2019-prefs"
    preferences = tk.read_preferences(folder / "TREC-CAsT-2019.local.pref").preferences_by_query()
    best = tk.read_qrels(folder / "TREC-CAST-2019.local.qrels").grades_by_query()
    agreed = 0
    for query, answers in preferences.items():
        level = levels(answers)
        agreed += any(level.get(doc, -1) == max(level.values()) for doc in best.get(query, ()))
    assert len(preferences) == 171
    assert agreed >= 148  # the others have cycles of preferences, or an assessor who chose differently
