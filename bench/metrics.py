"""Evaluation against ir-measures and pytrec_eval, from arrays and as a command. ``python -m bench.metrics``

ERR is in our list only: pytrec_eval has none, and ir-measures starts perl for it.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from tests.support.real_data import real_data_folder

from bench.timing import best_of, show
from topkit.data import Strings
from topkit.metrics import evaluate_arrays

QUERIES, DOCUMENTS = 10_000, 1_000_000
OURS = "ndcg@1..10,err,map,p@1..10,rr"
DEPTHS = range(1, 11)


def make() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels 0–4, scores without ties, and lists of about 50 to 150 documents."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(50, 151, QUERIES)
    excess = int(lengths.sum()) - DOCUMENTS
    lengths[: abs(excess) % QUERIES] -= np.sign(excess)
    lengths -= np.sign(excess) * (abs(excess) // QUERIES)
    y = np.minimum(rng.geometric(0.6, DOCUMENTS) - 1, 4).astype(np.float32)
    return y, rng.normal(size=DOCUMENTS) + 0.3 * y, np.concatenate([[0], np.cumsum(lengths)])


def from_arrays() -> tuple[float, float]:
    """Ratios to pytrec_eval and ir-measures; the dictionaries of the peers are built outside the clock."""
    import ir_measures
    import pytrec_eval
    from ir_measures import AP, RR, P, nDCG

    y, scores, ptr = make()
    bounds = list(zip(ptr[:-1].tolist(), ptr[1:].tolist(), strict=True))
    grades, values = y.astype(int).tolist(), scores.tolist()
    qrels = {str(q): {f"d{i}": grades[i] for i in range(a, b)} for q, (a, b) in enumerate(bounds)}
    run = {str(q): {f"d{i}": values[i] for i in range(a, b)} for q, (a, b) in enumerate(bounds)}
    cuts = ",".join(map(str, DEPTHS))
    judge = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{cuts}", f"P.{cuts}", "map", "recip_rank"})
    evaluator = ir_measures.evaluator([AP, RR, *(nDCG @ k for k in DEPTHS), *(P @ k for k in DEPTHS)], qrels)

    print(f"{DOCUMENTS:,} documents in {QUERIES:,} queries: {OURS}")
    names = Strings.of(f"d{i}" for i in range(DOCUMENTS))

    def evaluate() -> dict[str, np.ndarray]:
        return evaluate_arrays(y, scores, ptr, OURS, "trec", doc_ids=names)

    ours, theirs = evaluate(), judge.evaluate(run)
    for name, other in {"ndcg@10": "ndcg_cut_10", "map": "map", "p@5": "P_5", "rr": "recip_rank"}.items():
        np.testing.assert_allclose(ours[name], [theirs[str(q)][other] for q in range(QUERIES)], atol=1e-9)
    first, trec = best_of(evaluate, lambda: judge.evaluate(run), turns=25)
    second, measures = best_of(evaluate, lambda: list(evaluator.iter_calc(run)), turns=7)
    return (
        show("evaluate_arrays", first, trec, "pytrec_eval", "15x"),
        show("evaluate_arrays", second, measures, "ir-measures", "15x"),
    )


def cold_command() -> None:
    """A command that starts, reads one TREC-3 run and its judgments, evaluates and prints."""
    folder = real_data_folder()
    if folder is None:
        print("cold commands: the real data is not available")
        return
    programs = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as place:
        run = Path(place) / "inq102"
        run.write_bytes(gzip.decompress((folder / "trec3" / "runs" / "inq102.gz").read_bytes()))
        qrels = folder / "trec3" / "qrels.txt"
        ours = [programs / "topkit", "eval", "--qrels", qrels, run, "--metrics", "ndcg@10,map,p@10,rr"]
        peer = [programs / "ir_measures", qrels, run, "nDCG@10", "AP", "P@10", "RR"]

        def start(command: list[object]) -> None:
            subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)

        mine, other = best_of(lambda: start(ours), lambda: start(peer), turns=7)
    show("topkit eval, one TREC-3 run, cold", mine, other, "ir_measures, cold", "faster")


def main() -> None:
    from_arrays()
    cold_command()


if __name__ == "__main__":
    main()
