"""The forty runs of TREC-3: known figures of plain fusions, and random rankers in place of real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import topkit as tk
from topkit.data import Judgments, Run
from topkit.fusion import Ballots, fuse

pytestmark = pytest.mark.real_data


@pytest.fixture(scope="module")
def trec3(real_data: Path) -> tuple[list[Run], Judgments]:
    runs = [tk.read_run(path) for path in sorted((real_data / "trec3" / "runs").glob("*.gz"))]
    return runs, tk.read_qrels(real_data / "trec3" / "qrels.txt")


def mean_ap(judgments: Judgments, run: Run) -> float:
    return float(tk.evaluate_run(judgments, run, ["map"], convention="trec").mean["map"])


def with_random(runs: list[Run], number: int, seed: int) -> tuple[list[Run], list[int]]:
    """Runs of which ``number`` are random: 1000 documents of those that any system returned, in any order."""
    rng = np.random.default_rng(seed)
    pool = Ballots.of(runs)
    out = set(rng.permutation(len(runs))[:number].tolist())
    mixed = []
    for i, run in enumerate(runs):
        if i not in out:
            mixed.append(run)
            continue
        rows = [
            pool.rows[pool.doc_ptr[q] + rng.permutation(size)[:1000]]
            for q, size in enumerate(pool.pool_sizes)
        ]
        ptr = np.cumsum([0] + [len(part) for part in rows])
        scores = np.concatenate([np.arange(len(part), 0, -1.0) for part in rows])
        mixed.append(Run(pool.qids, ptr, pool.source.take(np.concatenate(rows)), scores, f"random-{i}"))
    return mixed, [i for i in range(len(runs)) if i not in out]


def test_plain_fusions_have_their_known_map(trec3: tuple[list[Run], Judgments]) -> None:
    """Figures from an independent sketch: .4214, .4204, .4199; the best system, inq102, has .4226."""
    runs, judgments = trec3
    found = {m: mean_ap(judgments, tk.aggregate(runs, m, keep=1000)) for m in ("borda", "combmnz", "rrf")}
    assert found == pytest.approx({"borda": 0.4214, "combmnz": 0.4204, "rrf": 0.4199}, abs=1e-4)
    fusion = fuse(runs, keep=1000)
    assert mean_ap(judgments, fusion.run) > max(found.values())
    alone = [mean_ap(judgments, run) for run in runs]
    assert max(alone) == pytest.approx(0.4226, abs=1e-4)
    assert spearmanr(list(fusion.per_ranker["agreement"].values()), alone).statistic > 0.5


@pytest.mark.parametrize(("number", "ahead"), [(30, 0.05), (35, 0.15)])
def test_the_default_withstands_random_rankers(
    trec3: tuple[list[Run], Judgments], number: int, ahead: float
) -> None:
    runs, judgments = trec3
    mixed, real = with_random(runs, number, seed=number)
    found = {m: mean_ap(judgments, tk.aggregate(mixed, m, keep=1000)) for m in ("borda", "combmnz", "rrf")}
    fusion = fuse(mixed, keep=1000)
    ours = mean_ap(judgments, fusion.run)
    assert ours > max(found.values())
    assert ours > found["combmnz"] + ahead
    assert fusion.weights is not None
    weights = np.array(list(fusion.weights.values()))
    assert weights[real].sum() > 0.95
    assert mean_ap(judgments, tk.aggregate(mixed, "ulara", keep=1000)) > found["combmnz"] + ahead


def test_the_default_withstands_copies_of_a_run(trec3: tuple[list[Run], Judgments]) -> None:
    """Thirty copies of a run with MAP .175; without them the default has .461, CombMNZ .437 and RRF .436."""
    runs, judgments = trec3
    weak = next(run for run in runs if run.name == "padre2")
    copies = [Run(weak.qids, weak.ptr, weak.docs, weak.scores, f"copy-{i}") for i in range(30)]
    assert mean_ap(judgments, weak) == pytest.approx(0.175, abs=1e-3)
    assert mean_ap(judgments, tk.aggregate(runs)) > 0.44
    assert mean_ap(judgments, tk.aggregate([*runs, *copies])) > 0.43


def test_mallows_gives_random_rankers_no_say(trec3: tuple[list[Run], Judgments]) -> None:
    """Ten topics, lists of 30: θ of the random rankers is 0, of the real ones below it."""
    runs, _ = trec3
    mixed, real = with_random(runs, 28, seed=1)
    short = [Run.of({q: run[q][:30] for q in run.qids[:10]}, run.name) for run in mixed]
    theta = fuse(short, "mallows", depth=30).theta
    assert theta is not None
    values = np.array(list(theta.values()))
    others = np.setdiff1d(np.arange(len(runs)), real)
    assert (values[others] > -0.005).all()
    assert np.mean(values[real] < -0.02) > 0.8
