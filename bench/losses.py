"""Cost of losses: compared with numpy.exp, against list length, and in training. ``python -m bench.losses``

One thread. Times are processor time, so that a busy machine changes them little; ratios are within one run.
``python -m bench.losses plot FILE`` also draws cost against length; training is compared with PyTorch where
it is installed and with LGBMRanker where it is not.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.support.real_data import real_data_folder

import topkit as tk
from topkit.data.truth import order_labels, top_k_labels
from topkit.losses.pairwise import SHORT

LISTS, LENGTH = 10_000, 120
TARGETS: list[tuple[str, dict[str, Any], float]] = [
    ("topk-listmle", {"k": 10}, 6),
    ("listnet", {}, 6),
    ("rankcosine", {}, 6),
    ("logistic", {"pairs": "topk", "k": 10}, 40),
    ("logistic", {"pairs": "focused", "k": 10}, 40),
    ("squared-hinge", {}, 40),
]
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("listmle", {}),
    ("topk-listnet", {}),
    ("topk-rankcosine", {}),
    ("hinge", {}),
    ("exponential", {}),
    ("logistic", {}),
    ("sigmoid", {}),
    ("fidelity", {}),
    ("focused", {}),
    ("squared-error", {}),
]
LINEAR_TIME = ("listnet", "listmle", "topk-listmle", "rankcosine", "exponential", "hinge", "squared-hinge")


def seconds(*sides: Callable[[], object], turns: int = 7) -> list[float]:
    """Processor seconds of the fastest call of each side, taken in turn."""
    best = [float("inf")] * len(sides)
    for _ in range(turns):
        for i, side in enumerate(sides):
            start = time.thread_time()
            side()
            best[i] = min(best[i], time.thread_time() - start)
    return best


def ratios() -> None:
    """Value and gradient over 10,000 lists of 120 documents, as multiples of numpy.exp on the scores."""
    rng = np.random.default_rng(0)
    n = LISTS * LENGTH
    scores, ptr = rng.normal(size=n), np.arange(0, n + 1, LENGTH)
    grades = rng.integers(0, 5, n).astype(np.float64)
    top = top_k_labels(order_labels(grades.astype(np.float32), ptr, 0), ptr, 10).astype(np.float64)
    print(f"{LISTS:,} lists × {LENGTH} documents; × numpy.exp: grades 0–4 | top-10 truth | goal")
    for name, settings, goal in [*TARGETS, *((name, settings, np.inf) for name, settings in OTHERS)]:
        found = []
        for labels in (grades, top):
            objective = tk.loss(name, **settings).on(labels, ptr)
            objective(scores)
            exp, ours = seconds(lambda: np.exp(scores), lambda: objective(scores))  # noqa: B023
            found.append(ours / exp)
        shown = " ".join(f"{key}={value}" for key, value in settings.items())
        wanted = f"{goal:5.0f}" if np.isfinite(goal) else ""
        print(f"{name:<16} {shown:<20} {found[0]:7.1f} {found[1]:7.1f} {wanted}", flush=True)


def growth() -> dict[str, list[tuple[int, float]]]:
    """Nanoseconds per document for lists of 100 to 10,000 documents with a total order as truth."""
    rng = np.random.default_rng(0)
    lengths = (100, 300, 1000, 3000, 10_000)
    found: dict[str, list[tuple[int, float]]] = {}
    print("\nnanoseconds a document, by length of list, and growth compared with n log n")
    print(f"{'':<16}" + "".join(f"{length:>9,}" for length in lengths))
    for name in LINEAR_TIME:
        found[name] = []
        for length in lengths:
            lists = 200_000 // length
            n = lists * length
            scores, ptr = rng.normal(size=n), np.arange(0, n + 1, length)
            labels = np.concatenate([rng.permutation(length) + 1.0 for _ in range(lists)])
            objective = tk.loss(name).on(labels, ptr)
            objective(scores)
            (spent,) = seconds(lambda: objective(scores), turns=5)  # noqa: B023
            found[name].append((length, spent / n * 1e9))
        sorted_from = SHORT if "hinge" in name else 0  # shorter lists go pair by pair, which is faster
        points = [point for point in found[name] if point[0] > sorted_from]
        (first, cheap), (last, dear) = points[0], points[-1]
        grown = dear / cheap / (np.log(last) / np.log(first))
        row = "".join(f"{cost:9.1f}" for _, cost in found[name])
        print(f"{name:<16}{row}   {first:,} → {last:,}: {grown:.2f} times n log n", flush=True)
    return found


def long_lists() -> None:
    """LambdaRank of one list: from 1,000 documents on, the time must grow with n, not with n²."""
    rng = np.random.default_rng(0)
    before = 0.0
    for length in (1_000, 4_000, 20_000, 100_000):
        scores, labels = rng.normal(size=length), rng.integers(0, 5, length)
        objective = tk.loss("lambdarank").on(labels, [0, length])
        objective(scores)
        (spent,) = seconds(lambda: objective(scores), turns=3)  # noqa: B023
        grown = f", {spent / before:.1f} times the one before" if before else ""
        print(f"lambdarank, one list of {length:>7,} documents: {spent:.3f} s{grown}", flush=True)
        before = spent


def plot(found: dict[str, list[tuple[int, float]]], path: str) -> None:
    """Cost of one list against its length, compared with n and n log n."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for name, points in found.items():
        axes.loglog([n for n, _ in points], [n * cost / 1000 for n, cost in points], "o-", label=name)
    lengths = np.array([100, 10_000])
    axes.loglog(lengths, lengths * np.log(lengths) / 100, "k:", label="∝ n log n")
    axes.set(xlabel="documents in the list", ylabel="value and gradient, µs per list")
    axes.legend(fontsize=8)
    figure.savefig(path)
    print(f"plot in {path}")


def training() -> None:
    """Linear ListNet on MQ2008 Fold1 to convergence, compared with a full-batch PyTorch loop or LGBMRanker.

    Converged means the same for all: no component of the gradient above 1e-5.
    """
    folder = real_data_folder()
    if folder is None:
        print("training: the real data is not available")
        return
    train = tk.read_letor(folder / "MQ2008" / "Fold1" / "train.txt")
    settings = {"l2": 1e-3, "tolerance": 1e-5, "normalise": "none"}
    tk.ranker("listnet", **settings).fit(train)
    (ours,) = seconds(lambda: tk.ranker("listnet", **settings).fit(train))
    goal = tk.ranker("listnet", **settings).fit(train).traces[0].values[-1]
    print(f"\nlinear ListNet on MQ2008 Fold1, l2=1e-3, gradient ≤ 1e-5: {ours:.3f} s, objective {goal:.8f}")
    if importlib.util.find_spec("torch") is not None:
        for optimiser, rate in (("adam", 0.01), ("adam", 0.05), ("adam", 0.2), ("lbfgs", 1.0)):
            spent, reached, passes = torch_loop(train, optimiser, rate)
            print(
                f"PyTorch, full batch, {optimiser:<6} rate {rate:<5} {spent:8.3f} s, {passes} passes, "
                f"objective {reached:.8f}: {spent / ours:.0f}x ours",
                flush=True,
            )
        return
    import lightgbm

    def boosted() -> object:
        peer = lightgbm.LGBMRanker(n_estimators=100, verbosity=-1, n_jobs=1)
        return peer.fit(train.X, train.y.astype(int), group=train.lengths)

    (spent,) = seconds(boosted, turns=3)
    print(f"LGBMRanker(n_estimators=100) in the same run: {spent:.3f} s ({spent / ours:.1f}x)")


def torch_loop(train: tk.Dataset, optimiser: str, rate: float) -> tuple[float, float, int]:
    """Lists padded to one length, softmax cross entropy, until the gradient is small."""
    import torch

    torch.set_num_threads(1)
    longest = int(train.lengths.max())
    X = torch.zeros(train.n_queries, longest, train.n_features, dtype=torch.float64)
    y = torch.full((train.n_queries, longest), -torch.inf, dtype=torch.float64)
    for q, (_, rows) in enumerate(train):
        size = rows.stop - rows.start
        X[q, :size] = torch.from_numpy(train.X[rows].copy())
        y[q, :size] = torch.from_numpy(train.y[rows].copy())
    present = torch.isfinite(y)
    target = torch.softmax(y, 1)
    at_zero = float(np.log(train.lengths).sum())
    w = torch.zeros(train.n_features, dtype=torch.float64, requires_grad=True)
    method: Any = torch.optim.Adam([w], lr=rate)
    if optimiser == "lbfgs":
        method = torch.optim.LBFGS(
            [w],
            lr=rate,
            max_iter=500,
            history_size=20,
            tolerance_grad=1e-5,
            tolerance_change=0.0,
            line_search_fn="strong_wolfe",
        )

    passes = 0

    def closure() -> Any:
        nonlocal passes
        passes += 1
        method.zero_grad()
        scores = (X @ w).masked_fill(~present, -torch.inf)
        logs = torch.log_softmax(scores, 1).masked_fill(~present, 0.0)
        value = -(target * logs).sum() / at_zero + 0.5e-3 * (w @ w)  # scaled as ours is
        value.backward()
        return value

    start = time.thread_time()
    for _ in range(1 if optimiser == "lbfgs" else 5000):
        method.step(closure)
        if w.grad is not None and float(w.grad.abs().max()) <= 1e-5:
            break
    return time.thread_time() - start, float(closure().detach()), passes


def main() -> None:
    os.environ["TOPKIT_THREADS"] = "1"
    ratios()
    found = growth()
    long_lists()
    if "plot" in sys.argv:
        plot(found, sys.argv[sys.argv.index("plot") + 1])
    training()


if __name__ == "__main__":
    main()
