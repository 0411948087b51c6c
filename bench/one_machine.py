"""Rows of the page of ratios: the first second, and one machine. ``python -m bench``

RankLib's seconds are those of its whole process on MQ2008 Fold1, measured once on another machine with Java;
no Java runs here, so these rows compare across machines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.support.real_data import real_data_folder

import topkit as tk
from bench.cold import FIT_AIM, both
from bench.losses import seconds
from bench.table import Row
from topkit.data.truth import order_labels, top_k_labels

RANKLIB = {"rankboost": 6.0, "adarank": 3.2, "coordinate-ascent": 21.0, "listnet": 15.5, "ranknet": 12.1}
"""Seconds of RankLib's whole process on MQ2008 Fold1."""
RANKLIB_NDCG = {"rankboost": 0.475, "adarank": 0.473, "coordinate-ascent": 0.479, "listnet": 0.482,
                "ranknet": 0.480}  # fmt: skip
"""Its NDCG@10 on the test part, with 0 for queries without a relevant document."""
LISTS, LENGTH = 4_000, 120


@cache
def mq2008(fold: int) -> tuple[tk.Dataset, tk.Dataset, tk.Dataset]:
    """Training, validation and test part of a fold."""
    folder = real_data_folder()
    if folder is None:
        raise FileNotFoundError("MQ2008 is not at hand: set TOPKIT_DATA")
    parts = (tk.read_letor(folder / "MQ2008" / f"Fold{fold}" / f"{p}.txt") for p in ("train", "vali", "test"))
    train, valid, test = parts
    return train, valid, test


def processor(work: Callable[[], object], turns: int = 3) -> float:
    """Processor seconds of the fastest call, after one that loads the kernels."""
    work()
    best = float("inf")
    for _ in range(turns):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


# -- the first second ----------------------------------------------------------------------------------------
def cold(name: str) -> float:
    """Seconds that compiling adds to the first use."""
    first, later = both(name)
    return float(first["seconds"] - later["seconds"])


def worst_cold() -> float:
    """The largest of :func:`cold` over all rankers."""
    return max(cold(name) for name in tk.RANKERS)


def command(words: list[str], cache_folder: str | None = None) -> float:
    """Processor seconds of a process with this command line; as after installing, bytecode is stored."""
    environment = dict(os.environ) | ({"NUMBA_CACHE_DIR": cache_folder} if cache_folder else {})
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = os.times()
    subprocess.run([sys.executable, *words], env=environment, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def imports() -> float:
    """Seconds of the imports of ``topkit train``, Numba among them, beyond those of Python with NumPy."""
    code = "import topkit.cli.train, topkit.rankers, topkit.data.kernels.letor"
    ours = min(command(["-c", code]) for _ in range(5))
    return ours - min(command(["-c", "import numpy"]) for _ in range(5))


def demo() -> float:
    """Processor seconds of ``topkit demo`` with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        return command(["-m", "topkit", "demo", "--out", f"{folder}/demo", "--no-open"], folder)


# -- against RankLib and LightGBM ----------------------------------------------------------------------------
def against_ranklib(name: str) -> Callable[[], float]:
    """RankLib's seconds over ours, for a fit with default settings."""

    def measure() -> float:
        train, valid, _ = mq2008(1)
        return RANKLIB[name] / processor(lambda: tk.ranker(name).fit(train, valid))

    return measure


def process_against_ranklib(name: str) -> Callable[[], float]:
    """RankLib's seconds over those of a whole ``topkit train``, with compiled kernels."""

    def measure() -> float:
        real = real_data_folder()
        if real is None:
            raise FileNotFoundError("MQ2008 is not at hand: set TOPKIT_DATA")
        fold = real / "MQ2008" / "Fold1"
        with tempfile.TemporaryDirectory() as folder:
            words = ["-m", "topkit", "train", name, "--quiet", "--out", f"{folder}/model"]
            words += ["--train", str(fold / "train.txt"), "--valid", str(fold / "vali.txt")]
            command(words)  # compiles
            return RANKLIB[name] / min(command(words) for _ in range(3))

    return measure


def quality_against_ranklib(name: str) -> Callable[[], float]:
    """Our NDCG@10 on the test part of Fold1 minus RankLib's."""

    def measure() -> float:
        train, valid, test = mq2008(1)
        scores = tk.ranker(name).fit(train, valid).ordering_scores(test)
        return tk.evaluate(test, scores, ["ndcg@10"], convention="trec").mean["ndcg@10"] - RANKLIB_NDCG[name]

    return measure


TREES = 100
"""Trees of the comparison of times: neither side stops before."""


def lightgbm_lambdarank(train: tk.Dataset, valid: tk.Dataset, patience: int = 50, **settings: Any) -> Any:
    """LightGBM's own lambdarank with the rounds, leaves and rate of our default, stopped by NDCG@10."""
    import lightgbm

    fixed = {"n_estimators": 500, "num_leaves": 15, "learning_rate": 0.05, "min_child_samples": 20}
    model = lightgbm.LGBMRanker(**{**fixed, **settings}, n_jobs=1, verbosity=-1)
    return model.fit(
        train.X,
        train.y.astype(int),
        group=train.lengths,
        eval_set=[(valid.X, valid.y.astype(int))],
        eval_group=[valid.lengths],
        eval_at=[10],
        callbacks=[lightgbm.early_stopping(patience, verbose=False)],
    )


def lambdamart_quality() -> float:
    """Our NDCG@10 (yahoo) on MQ2008 minus that of LightGBM's lambdarank, mean of five folds."""
    gaps = []
    for fold in range(1, 6):
        train, valid, test = mq2008(fold)
        ours = tk.ranker("lambdamart").fit(train, valid).score(test)
        peer = lightgbm_lambdarank(train, valid).predict(test.X)
        gaps.append(
            tk.evaluate(test, ours, ["ndcg@10"]).mean["ndcg@10"]
            - tk.evaluate(test, np.asarray(peer, np.float64), ["ndcg@10"]).mean["ndcg@10"]
        )
    return float(np.mean(gaps))


def lambdamart_time() -> float:
    """Processor time of 100 trees, evaluated after each, LightGBM's over ours."""
    train, valid, _ = mq2008(1)
    ours, peer = (
        processor(fit)
        for fit in (
            lambda: tk.ranker("lambdamart", trees=TREES, patience=TREES).fit(train, valid),
            lambda: lightgbm_lambdarank(train, valid, TREES, n_estimators=TREES),
        )
    )
    return peer / ours


def trees_over_mart(name: str) -> Callable[[], float]:
    """Processor time per tree, compared with trees on plain labels."""

    def measure() -> float:
        train, valid, _ = mq2008(1)

        def per_tree(ranker: str) -> float:
            steps = tk.ranker(ranker).fit(train, valid).traces[0].steps
            return processor(lambda: tk.ranker(ranker).fit(train, valid)) / steps

        return per_tree(name) / per_tree("mart")

    return measure


ISOTONIC_SECONDS = {"isorank": 16.0, "qbrank": 18.0}
"""Seconds of a fit to about 35,000 documents before the two methods were compiled."""


def isotonic_speed_up(name: str) -> Callable[[], float]:
    """The seconds of before over today's, for 350 training queries of 100 documents with 46 features."""

    def measure() -> float:
        from bench.ship_data import part

        train, valid = part(350, 46, 1), part(100, 46, 2)
        return ISOTONIC_SECONDS[name] / processor(lambda: tk.ranker(name).fit(train, valid), turns=2)

    return measure


# -- losses --------------------------------------------------------------------------------------------------
def over_exp(name: str, top: bool, **settings: Any) -> Callable[[], float]:
    """Value and gradient of a loss as a multiple of numpy.exp on the same scores."""

    def measure() -> float:
        rng = np.random.default_rng(0)
        n = LISTS * LENGTH
        scores, ptr = rng.normal(size=n), np.arange(0, n + 1, LENGTH)
        labels = rng.integers(0, 5, n).astype(np.float64)
        if top:
            labels = top_k_labels(order_labels(labels.astype(np.float32), ptr, 0), ptr, 10).astype(np.float64)
        objective = tk.loss(name, **settings).on(labels, ptr)
        objective(scores)
        exp, ours = seconds(lambda: np.exp(scores), lambda: objective(scores), turns=15)
        return ours / exp

    return measure


# -- reading and memory --------------------------------------------------------------------------------------
@cache
def letor_text() -> Path:
    """A LETOR file in the shape of MSLR-WEB10K."""
    from bench.data import write_mslr_like

    path = Path(tempfile.mkdtemp(prefix="topkit-bench-")) / "mslr.txt"
    write_mslr_like(path)
    return path


def reading_over_sklearn() -> float:
    """scikit-learn's seconds over ours, one thread each."""
    from sklearn.datasets import load_svmlight_file

    path = letor_text()
    peer = processor(lambda: load_svmlight_file(str(path), query_id=True), turns=1)
    return peer / processor(lambda: tk.read_letor(path))


def copies(work: Callable[[tk.Dataset], object]) -> Callable[[], float]:
    """Processor time of work on a data set as a multiple of copying its features."""

    def measure() -> float:
        data = large(400_000)
        return processor(lambda: work(data)) / processor(lambda: data.X.copy())

    return measure


def from_parquet() -> float:
    """Reading Parquet as a multiple of copying the features."""
    data = large(400_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.parquet"
        data.to_parquet(path)
        return processor(lambda: tk.read_parquet(path)) / processor(lambda: data.X.copy())


@cache
def large(documents: int) -> tk.Dataset:
    """Synthetic data with 46 features and lists of 120 documents; the last one may be shorter."""
    rng = np.random.default_rng(0)
    X = rng.random((documents, 46), dtype=np.float32)
    signal = X[:, :8] @ rng.normal(size=8).astype(np.float32) + rng.normal(size=documents)
    y = np.clip(np.round(signal + 1), 0, 4).astype(np.float32)
    ptr = np.append(np.arange(0, documents, LENGTH), documents)
    return tk.Dataset(X, y, ptr, tuple(map(str, range(len(ptr) - 1))))


def preparation_share() -> float:
    """Share of normalisation in a fit of top-k ListMLE on 1,200,000 documents."""
    data = large(1_200_000)
    whole = processor(lambda: tk.ranker("topk-listmle").fit(data), turns=1)
    return processor(lambda: tk.normalise(data, "z-score"), turns=2) / whole


MEMORY = """
import re, sys
from pathlib import Path
import numpy as np
import topkit as tk
from bench.one_machine import large

def status(key):
    return int(re.search(key + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

def peak(work):
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = status("VmRSS")
    work()
    return status("VmHWM") - before

data = large(int(sys.argv[1]))
size = data.X.nbytes
few = data.select(np.arange(200))
fitted = tk.ranker("topk-listmle").fit(few)
fitted.score(few)
print("training", 1 + peak(lambda: tk.ranker("topk-listmle").fit(data)) / size)
print("scoring", 1 + peak(lambda: fitted.score(data)) / size)
scores = fitted.score(data)
print("evaluating", 1 + peak(lambda: tk.evaluate(data, scores, ["ndcg@10", "err", "map"])) / size)
path = Path(sys.argv[2]) / "data.txt"
few.to_letor(path)
tk.read_letor(path)
part = data.select(np.arange(data.n_queries // 4))
part.to_letor(path)
got = part.X.nbytes
del part
print("reading", peak(lambda: tk.read_letor(path)) / got)
"""


@cache
def memory(documents: int = 2_000_000) -> dict[str, float]:
    """Peak resident size of training, scoring, evaluating and reading, as a multiple of the features."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-c", MEMORY, str(documents), folder]
        output = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return {name: float(value) for name, value in re.findall(r"(\w+) ([\d.]+)", output)}


ROWS = [
    Row("first use: reading, seconds to compile", lambda: cold("read"), 3, True, "s"),
    Row("first use: topk-listmle, seconds to compile", lambda: cold("topk-listmle"), FIT_AIM, True, "s"),
    Row("first use: ranksvm, seconds to compile", lambda: cold("ranksvm"), FIT_AIM, True, "s"),
    Row("first use: slowest of all rankers, seconds to compile", worst_cold, FIT_AIM, True, "s", slow=True),
    Row("imports of topkit train beyond NumPy", imports, 0.5, True, "s"),
    Row("topkit demo with an empty cache", demo, 15, True, "s", slow=True),
    *(
        Row(f"RankLib / ours: {name}", against_ranklib(name), 20, note="another machine's Java")
        for name in RANKLIB
    ),
    *(
        Row(f"RankLib / ours, whole process: {name}", process_against_ranklib(name), 8, note="with imports")
        for name in RANKLIB
    ),
    *(
        Row(f"NDCG@10 minus RankLib's, Fold1: {name}", quality_against_ranklib(name), 0, unit="")
        for name in RANKLIB
    ),
    Row("LambdaMART: NDCG@10 minus LightGBM's lambdarank", lambdamart_quality, 0, unit="", slow=True),
    Row("LambdaMART: LightGBM's time of 100 trees / ours", lambdamart_time, 1),
    Row("IsoRank: time per tree / MART's", trees_over_mart("isorank"), 2, True),
    Row("QBRank: time per tree / MART's", trees_over_mart("qbrank"), 2, True),
    *(
        Row(
            f"{name}: 35,000 documents, time of before / today's",
            isotonic_speed_up(name),
            5,
            slow=True,
            note="before: other data",
        )
        for name in ISOTONIC_SECONDS
    ),
    Row("loss / numpy.exp: top-k ListMLE, grades", over_exp("topk-listmle", False, k=10), 4, True),
    Row("loss / numpy.exp: top-k ListMLE, top-10 truth", over_exp("topk-listmle", True, k=10), 4, True),
    Row("loss / numpy.exp: ListNet, grades", over_exp("listnet", False), 4, True),
    Row("loss / numpy.exp: ListNet, top-10 truth", over_exp("listnet", True), 4, True),
    Row("loss / numpy.exp: focused, grades", over_exp("focused", False), 10, True),
    Row("loss / numpy.exp: focused, top-10 truth", over_exp("focused", True), 10, True),
    Row("scikit-learn / ours: reading LETOR text, one thread", reading_over_sklearn, 40),
    Row("Parquet reading / a copy of the features", from_parquet, 10, True),
    Row("normalising / a copy of the features", copies(lambda d: tk.normalise(d, "z-score")), 5, True),
    Row("share of normalisation in a fit of 1,200,000 × 46", preparation_share, 0.2, True, ""),
    Row("peak memory / data: reading", lambda: memory()["reading"], 1.5, True),
    Row("peak memory / data: linear training", lambda: memory()["training"], 2.5, True),
    Row("peak memory / data: scoring", lambda: memory()["scoring"], 1.5, True),
    Row("peak memory / data: evaluating", lambda: memory()["evaluating"], 1.5, True),
]
