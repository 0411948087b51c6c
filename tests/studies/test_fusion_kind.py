"""The kind fusion: which runs are replaced, by what, and what the study shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from tests.support.fusion import noisy_runs
from topkit.data import Grade, InputError, Judgments
from topkit.fusion import write_ranking_table
from topkit.studies.kinds.fusion import first_documents, replace_by_random
from topkit.studies.publish import publish
from topkit.studies.run import FinishedStudy, run_study

RUNS = noisy_runs(8, bad=0, queries=6)
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
            pool = {doc for other in RUNS for doc, _ in other[q]}
            docs = [doc for doc, _ in run[q]]
            assert len(docs) == len(set(docs)) == min(20, len(pool))
            assert set(docs) <= pool
    assert replace_by_random(RUNS, 3, seed=5) == mixed
    assert [run.name for run in replace_by_random(RUNS, 3, seed=6)] != names
    assert replace_by_random(RUNS, 0, seed=1) == RUNS


def test_random_rankers_are_uniform() -> None:
    """Every document of the pool is equally likely to be returned."""
    counts = np.zeros(300)
    for seed in range(60):
        for run in replace_by_random(RUNS, 8, seed=seed, length=5):
            for doc, _ in run["q0"]:
                counts[int(doc[1:])] += 1
    pool = sorted({int(doc[1:]) for run in RUNS for doc, _ in run["q0"]})
    expected = 60 * 8 * 5 / len(pool)
    assert counts.sum() == 60 * 8 * 5
    assert ((counts[pool] - expected) ** 2 / expected).sum() < 2 * len(pool)


def fusion_study(folder: Path, settings: str) -> FinishedStudy:
    tk.write_qrels(RELEVANT, folder / "qrels.txt")
    file = folder / "fusion.toml"
    file.write_text(f'kind = "fusion"\nmetrics = ["map", "p@5"]\n[settings]\nqrels = "qrels.txt"\n{settings}')
    return run_study(file, folder / "out")


def test_the_default_withstands_what_combmnz_does_not(tmp_path: Path) -> None:
    for run in RUNS:
        tk.write_run(run, tmp_path / f"{run.name}.run")
    settings = 'runs = "*.run"\nmethods = ["agreement", "combmnz"]\nlevels = [0, 6]\ndraws = 3'
    finished = fusion_study(tmp_path, settings)
    assert len(finished.results.cells) == 2 * (1 + 3)
    means = finished.results.mean("map", "method", "random")
    assert means["agreement", 6] > means["combmnz", 6]
    assert means["agreement", 0] > 0.8
    assert "map by the number of random runs; mean of 3 draws" in publish(finished)
    assert (tmp_path / "out" / "plot-fusion-map.svg").is_file()


def test_a_table_of_many_runs_in_one_file_gives_the_same_results(tmp_path: Path) -> None:
    for run in RUNS:
        tk.write_run(run, tmp_path / f"{run.name}.run")
    write_ranking_table(RUNS, tmp_path / "all.csv")
    common = 'methods = ["borda"]\nlevels = [0]\n'
    from_runs = fusion_study(tmp_path, 'runs = "*.run"\n' + common).results.mean("map", "method")
    from_table = fusion_study(tmp_path, 'runs = "all.csv"\n' + common).results.mean("map", "method")
    assert from_table == pytest.approx(from_runs)


def test_methods_take_settings(tmp_path: Path) -> None:
    """A variant is a method with settings under its own name; depth cuts the runs before anything else."""
    for run in RUNS:
        tk.write_run(run, tmp_path / f"{run.name}.run")
    settings = (
        'runs = "*.run"\nmethods = ["rrf"]\nlevels = [0]\ndepth = 6\n'
        '[settings.variants."rrf, k = 1"]\nmethod = "rrf"\nk = 1\n'
        '[settings.variants."mallows, Borda"]\nmethod = "mallows"\ninference = "borda"\nestimate = "borda"\n'
    )
    finished = fusion_study(tmp_path, settings)
    means = finished.results.mean("map", "method")
    runs = [tk.read_run(path) for path in sorted(tmp_path.glob("*.run"))]
    short = [tk.Run.of({q: run[q][:6] for q in run}, run.name) for run in runs]
    assert first_documents(runs[0], 6) == short[0]
    for name, method, chosen in (
        ("rrf", "rrf", {}),
        ("rrf, k = 1", "rrf", {"k": 1}),
        ("mallows, Borda", "mallows", {"inference": "borda", "estimate": "borda"}),
    ):
        fused = tk.aggregate(short, method, keep=1000, **chosen)
        expected = tk.evaluate_run(RELEVANT, fused, "map", convention="trec").mean["map"]
        assert means[(name,)] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("variants.x = 3", "the variant 'x' needs a method"),
        ('variants.x = { method = "borda", steps = 3 }', "fusion method 'borda' has no setting 'steps'"),
        ('variants.x = { method = "rrf", k = -1 }', "k must be a number of at least 0"),
        ('variants.borda = { method = "borda" }', "two methods have the name 'borda'"),
    ],
)
def test_impossible_variants(tmp_path: Path, table: str, message: str) -> None:
    tk.write_run(RUNS[0], tmp_path / "a.run")
    with pytest.raises(InputError, match=message):
        fusion_study(tmp_path, f'runs = "*.run"\n{table}')


def test_impossible_studies(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot replace 9 of 8 runs"):
        replace_by_random(RUNS, 9, seed=0)
    with pytest.raises(InputError, match=r"methods must be .* got \['best'\]"):
        fusion_study(tmp_path, 'methods = ["best"]')
    with pytest.raises(InputError, match="draws must be an integer of at least 1, got 0"):
        fusion_study(tmp_path, "draws = 0")
