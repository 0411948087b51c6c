"""The study of random rankers: who is replaced, by what, and what comes out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import topkit as tk
from tests.fusion.test_ulara import noisy_runs
from topkit.cli import command_line
from topkit.data import Grade, InputError, Judgments
from topkit.studies.fusion import fusion_study, fusion_table, means, replace_by_random

RUNS = noisy_runs(8, 0, queries=6)
RELEVANT = Judgments(tuple(Grade(f"q{q}", f"d{doc:02}", 1.0) for q in range(6) for doc in range(10)))


def test_random_rankers_return_pooled_documents() -> None:
    mixed = replace_by_random(RUNS, 3, seed=5)
    names = [run.name for run in mixed]
    assert sum(name.startswith("random-") for name in names) == 3
    assert [name for name in names if not name.startswith("random-")] == [
        run.name for i, run in enumerate(RUNS) if f"random-{i}" not in names
    ]
    for run in mixed:
        for q in run:
            pool = {doc for one in RUNS for doc, _ in one[q]}
            docs = [doc for doc, _ in run[q]]
            assert len(docs) == len(set(docs)) == min(20, len(pool))
            assert set(docs) <= pool
    assert replace_by_random(RUNS, 3, seed=5) == mixed
    assert [run.name for run in replace_by_random(RUNS, 3, seed=6)] != names
    assert replace_by_random(RUNS, 0, seed=1) == RUNS


def test_random_rankers_are_uniform() -> None:
    """Every document of the pool is as likely as any other to be returned."""
    counts = np.zeros(300)
    for seed in range(60):
        for run in replace_by_random(RUNS, 8, seed=seed, length=5):
            for doc, _ in run["q0"]:
                counts[int(doc[1:])] += 1
    pool = sorted({int(doc[1:]) for run in RUNS for doc, _ in run["q0"]})
    expected = 60 * 8 * 5 / len(pool)
    assert counts.sum() == 60 * 8 * 5
    assert ((counts[pool] - expected) ** 2 / expected).sum() < 2 * len(pool)


def test_the_default_withstands_what_combmnz_does_not() -> None:
    cells = fusion_study(
        RUNS, RELEVANT, methods=["agreement", "combmnz"], levels=[0, 6], draws=3, metrics=["map"]
    )
    assert len(cells) == 2 * (1 + 3)
    table = means(cells, "map")
    assert table["agreement"][6] > table["combmnz"][6]
    assert table["agreement"][0] > 0.8
    text = fusion_table(cells, "map")
    assert text.columns == ("0", "6")
    assert text.rows[0] == ("agreement", (table["agreement"][0], table["agreement"][6]))


def test_impossible_studies() -> None:
    with pytest.raises(InputError, match="9 of 8"):
        replace_by_random(RUNS, 9, seed=0)
    with pytest.raises(InputError, match="unknown"):
        fusion_study(RUNS, RELEVANT, methods=["best"])
    with pytest.raises(InputError, match="draws"):
        fusion_study(RUNS, RELEVANT, draws=0)


def test_the_command_writes_tables_and_plots(tmp_path: Path) -> None:
    files = []
    for run in RUNS:
        tk.write_run(run, tmp_path / run.name)
        files.append(str(tmp_path / run.name))
    tk.write_qrels(RELEVANT, tmp_path / "qrels")
    out = tmp_path / "study"
    words = [
        "study",
        "fusion",
        *files,
        "--qrels",
        str(tmp_path / "qrels"),
        "--out",
        str(out),
        "--levels",
        "0,4",
    ]
    result = CliRunner().invoke(
        command_line(), [*words, "--draws", "2", "--methods", "borda,rrf", "--metrics", "map,p@5"]
    )
    assert result.exit_code == 0, result.output
    assert "map by the number of random rankers" in result.output
    assert (out / "fusion-map.png").stat().st_size > 1000
    assert (out / "fusion-p-5.png").exists()
    assert len((out / "fusion.csv").read_text().splitlines()) == 1 + 2 * 2 * 3
    bad = CliRunner().invoke(command_line(), [*words[:-1], "0,many"])
    assert isinstance(bad.exception, InputError)
