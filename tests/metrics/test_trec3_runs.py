"""All 40 ad hoc runs of TREC-3, query by query, against pytrec_eval and ir-measures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from topkit.data import Judgments, Run

pytestmark = pytest.mark.real_data

TREC_NAMES = {
    "ndcg": "ndcg",
    "map": "map",
    "recip_rank": "rr",
    "Rprec": "rprec",
    "bpref": "bpref",
    "infAP": "infap",
    "set_F": "f1",
    **{f"P_{n}": f"p@{n}" for n in (5, 10, 15, 20, 30, 100, 200, 500, 1000)},
    **{f"recall_{n}": f"recall@{n}" for n in (5, 100, 1000)},
    **{f"ndcg_cut_{n}": f"ndcg@{n}" for n in (5, 10, 100, 1000)},
    **{f"map_cut_{n}": f"map@{n}" for n in (5, 100)},
    **{f"success_{n}": f"success@{n}" for n in (1, 5, 10)},
}


@pytest.fixture(scope="module")
def qrels(real_data: Path) -> Judgments:
    return tk.read_qrels(real_data / "trec3" / "qrels.txt")


def tables(qrels: Judgments, run: Run) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    graded = {qid: {doc: int(g) for doc, g in docs.items()} for qid, docs in qrels.grades_by_query().items()}
    return graded, {qid: dict(run[qid]) for qid in run}


@pytest.mark.slow
def test_forty_runs_agree_with_pytrec_eval(real_data: Path, qrels: Judgments) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    files = sorted((real_data / "trec3" / "runs").glob("*.gz"))
    assert len(files) == 40
    wanted = {"gm_map"} | {name.rstrip("0123456789").rstrip("_") for name in TREC_NAMES}
    judge = None
    for file in files:
        run = tk.read_run(file)
        e = tk.evaluate_run(qrels, run, [*TREC_NAMES.values(), "gm_map"], "trec")
        graded, results = tables(qrels, run)
        judge = judge or pytrec_eval.RelevanceEvaluator(graded, wanted)
        theirs = judge.evaluate(results)
        assert set(theirs) == set(e.qids)
        logarithms = [theirs[qid]["gm_map"] for qid in e.qids]
        assert e.mean["gm_map"] == pytest.approx(np.exp(np.mean(logarithms)), abs=1e-9)
        for name, ours in TREC_NAMES.items():
            expected = np.array([theirs[qid][name] for qid in e.qids])
            np.testing.assert_allclose(
                e.per_query[ours], expected, rtol=0, atol=1e-9, err_msg=f"{file} {name}"
            )


def test_compatibility_of_ir_measures(real_data: Path, qrels: Judgments) -> None:
    """It breaks ties of scores by ascending document id, and takes 0 for missing ones: so give it ranks."""
    ir_measures = pytest.importorskip("ir_measures")
    run = tk.read_run(real_data / "trec3" / "runs" / "inq102.gz")
    run = Run.of({qid: [(doc, 9999.0 - rank) for rank, (doc, _) in enumerate(run[qid])] for qid in run})
    graded, results = tables(qrels, run)
    e = tk.evaluate_run(qrels, run, ["compat", "compat(p=0.8)"], "trec")
    for p, ours in ((0.95, "compat"), (0.8, "compat(p=0.8)")):
        found = ir_measures.iter_calc([ir_measures.Compat(p=p)], graded, results)
        values = {each.query_id: each.value for each in found}
        np.testing.assert_allclose(e.per_query[ours], [values[qid] for qid in e.qids], atol=1e-9)


def test_err_of_gdeval(real_data: Path, qrels: Judgments) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    if not ir_measures.gdeval.is_available():
        pytest.skip("ir-measures needs perl for ERR")
    run = tk.read_run(real_data / "trec3" / "runs" / "inq102.gz")
    graded, results = tables(qrels, run)
    e = tk.evaluate_run(qrels, run, ["err@20"], "trec")
    found = ir_measures.gdeval.iter_calc([ir_measures.ERR @ 20], graded, results)
    values = {each.query_id: each.value for each in found}
    np.testing.assert_allclose(e.per_query["err@20"], [values[qid] for qid in e.qids], atol=5.1e-6)
