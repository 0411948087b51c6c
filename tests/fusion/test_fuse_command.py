"""``topkit fuse`` as a user calls it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import topkit as tk
from tests.support.fusion import some_runs
from topkit.cli import command_line
from topkit.data import InputError
from topkit.fusion import AGGREGATORS
from topkit.fusion.formats import read_ranking_table, write_ranking_table

runner = CliRunner()


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = []
    for run in some_runs():
        path = tmp_path / f"{run.name}.run"
        tk.write_run(run, path)
        paths.append(str(path))
    return paths


def call(*words: str) -> str:
    result = runner.invoke(command_line(), ["fuse", *words], catch_exceptions=True)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_fuses_trec_runs(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "fused.run"
    said = call(*files, "--method", "rrf", "--out", str(out))
    assert said == f"{out}: 5 rankings, 4 queries, rrf\n"
    fused = tk.read_run(out)
    expected = tk.aggregate(some_runs(), "rrf")
    assert {q: fused[q] for q in fused} == {q: expected[q] for q in expected}


def test_the_default_explains_itself(files: list[str], tmp_path: Path) -> None:
    said = call(*files, "--out", str(tmp_path / "fused.run"), "--explain").splitlines()
    assert said[1].split() == ["ranker", "weight", "agreement", "vote"]
    assert {line.split()[0] for line in said[2:7]} == {f"ranker-{i}.run" for i in range(5)}
    assert "converged" in said[7]


def test_mallows_explains_theta_and_chains(files: list[str], tmp_path: Path) -> None:
    words = ["--method", "mallows", "--set", "depth=5", "--set", "chains=3", "--seed", "4", "--explain"]
    said = call(*files, "--out", str(tmp_path / "fused.run"), *words)
    assert "theta" in said
    assert "r_hat" in said
    assert "chains 3" in said


def test_tables_in_and_out(tmp_path: Path) -> None:
    table, out = tmp_path / "all.csv", tmp_path / "fused.csv"
    write_ranking_table(some_runs(), table)
    call(str(table), "--method", "borda", "--keep", "2", "--out", str(out))
    (fused,) = read_ranking_table(out)
    assert fused.name == "borda"
    assert all(len(fused[q]) == 2 for q in fused)


def test_weights_by_the_command(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "fused.run"
    call(*files, "--method", "weighted-borda", "--set", "weights=1,0,0,0,0", "--out", str(out), "--explain")
    fused, first = tk.read_run(out), some_runs()[0]
    assert [doc for doc, _ in fused["q1"]][: len(first["q1"])] == [doc for doc, _ in first["q1"]]


def test_lists_the_methods() -> None:
    said = runner.invoke(command_line(), ["aggregators"]).output
    assert all(name in said for name in AGGREGATORS)
    assert "depth" in runner.invoke(command_line(), ["aggregators", "mallows"]).output


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--method", "best"], "unknown fusion method"),
        (["--method", "rrf", "--set", "k"], "invalid setting"),
        (["--method", "rrf", "--set", "c=3"], "no setting 'c'"),
        (["--method", "rrf", "--set", "k=many"], "k must be"),
        (["--method", "mallows", "--set", "places=perhaps"], "places must be"),
        (["--method", "mallows", "--set", "depth=1.5"], "depth must be"),
        (["--keep", "-1"], "keep"),
    ],
)
def test_bad_words_are_explained(files: list[str], tmp_path: Path, words: list[str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        call(*files, "--out", str(tmp_path / "fused.run"), *words)


def test_not_converged_is_said(files: list[str], tmp_path: Path) -> None:
    result = runner.invoke(
        command_line(),
        ["fuse", *files, "--method", "mallows", "--set", "max_steps=1", "--out", str(tmp_path / "f.run")],
    )
    assert result.exit_code == 0
    assert "did not converge in 1 steps" in result.output
