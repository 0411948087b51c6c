"""Learning from clicks on simulations of known truth; each part is one claim of ``docs/clicks.md``.

``python -m bench.clicks [unbiased] [rounds] [losses] [biases] [coverage] [interleave] [pbm] [explore]``
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import topkit as tk
from bench.svm_boosting import fold
from topkit.clicks.interleaving import INTERLEAVINGS
from topkit.clicks.log import Cells
from topkit.clicks.pairs import Pairs
from topkit.data import Strings
from topkit.rankers import Clicks, Learner
from topkit.rankers.clicks.exploration import explore as thompson
from topkit.reporting.plots import curves, save_figure

Floats = NDArray[np.float64]
IMAGES = Path(__file__).parent.parent / "docs" / "images"
METRIC, CONVENTION = "ndcg@10", "ranklib"
SIZES = (10_000, 100_000, 1_000_000)
L2 = 1e-3
AFTER = (500, 1_000, 2_000, 4_000)
"""Pages after which the regret is shown."""
SEEDS = 3
POWER = 2.8016**2
"""(z₁ + z₂)² for a level of 5 % and a power of 80 %."""


@dataclass(frozen=True)
class Side:
    """One fold: training documents, test queries, and the weak ranker that wrote the log."""

    train: tk.Dataset
    test: tk.Dataset
    logging: Floats
    """Scores of the training documents by the ranker of the log, with deviation 1."""


@lru_cache(maxsize=5)
def side(number: int) -> Side:
    """The ranker of the log is a feature at the 30 % quantile of NDCG@10: poor, but not the worst."""
    train, _, test = fold("MQ2008", number)
    found = sorted(
        (tk.evaluate(train, sign * train.X[:, f], METRIC, CONVENTION).mean[METRIC], f, sign)
        for f in range(train.n_features)
        for sign in (1, -1)
    )
    _, feature, sign = found[int(0.3 * len(found))]
    return Side(train, test, standard(train, sign * train.X[:, feature]))


def standard(data: tk.Dataset, values: NDArray[np.float32] | Floats) -> Floats:
    """Values minus their mean over the query, with deviation 1."""
    centred = values - np.repeat(np.add.reduceat(values, data.ptr[:-1]) / data.lengths, data.lengths)
    scaled: Floats = centred.astype(np.float64) / (centred.std() + 1e-12)
    return scaled


def per_query(ranker: Learner, test: tk.Dataset) -> Floats:
    return tk.evaluate(test, ranker.ordering_scores(test), METRIC, CONVENTION).per_query[METRIC]


def ratio(values: list[Floats], truth: list[Floats]) -> tuple[float, float, float]:
    """Mean over mean of the pooled test queries, with a bootstrap interval of 95 %."""
    ours, best = np.concatenate(values), np.concatenate(truth)
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(ours), (2000, len(ours)))
    means = ours[drawn].mean(axis=1) / best[drawn].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(ours.mean() / best.mean()), float(low), float(high)


def unbiased() -> None:
    """NDCG@10 of ListNet on simulated clicks over NDCG@10 of ListNet on the grades, 5 folds of MQ2008."""
    names = ("naive", "ips", "snips", "dr")
    values: dict[tuple[str, int], list[Floats]] = {}
    errors: dict[tuple[str, int], list[float]] = {}
    truth = []
    for number in range(1, 6):
        one = side(number)
        truth.append(per_query(tk.ranker("listnet", l2=L2).fit(one.train), one.test))
        for pages in SIZES:
            log = tk.simulate_clicks(one.train, one.logging, pages, spread=0.5, seed=number)
            for method in ("pbm", "all-pairs"):
                found = tk.estimate_propensities(log, method).examination
                gap = np.abs(found * np.arange(1, len(found) + 1) - 1).max()
                errors.setdefault((method, pages), []).append(float(gap))
            known = tk.estimate_propensities(log, "pbm")
            for name in names:
                clicks = tk.UnbiasedClicks(log, known, name)
                learned = tk.ranker("listnet", l2=L2).fit(one.train, clicks=clicks)
                values.setdefault((name, pages), []).append(per_query(learned, one.test))
    print(f"ListNet on grades: {METRIC} ({CONVENTION}) {np.concatenate(truth).mean():.4f}")
    lines, bands = {}, {}
    for name in names:
        shown = [ratio(values[name, pages], truth) for pages in SIZES]
        lines[name], bands[name] = [row[0] for row in shown], [row[1:] for row in shown]
        cells = "  ".join(
            f"{pages:>9,}: {a:.3f} [{b:.3f}, {c:.3f}]" for pages, (a, b, c) in zip(SIZES, shown, strict=True)
        )
        print(f"{name:<9} {cells}", flush=True)
    for method in ("pbm", "all-pairs"):
        cells = "  ".join(f"{pages:>9,}: {np.max(errors[method, pages]):.1%}" for pages in SIZES)
        print(f"largest relative error of the propensities by {method:<9} {cells}")
    figure = curves(
        SIZES,
        lines,
        "pages",
        "share of NDCG@10 on grades",
        bands=bands,
        even=True,
        names=[f"{n:,}" for n in SIZES],
    )
    save_figure(figure, IMAGES / "clicks-unbiased.svg")


def rounds() -> None:
    """The estimators that learn propensities with the ranker, at 100,000 pages of the first fold."""
    values: dict[str, list[Floats]] = {}
    truth = []
    for number in (1,):
        one = side(number)
        truth.append(per_query(tk.ranker("listnet", l2=L2).fit(one.train), one.test))
        log = tk.simulate_clicks(one.train, one.logging, 100_000, spread=0.5, seed=number)
        for name in ("dual", "pairwise"):
            clicks = tk.UnbiasedClicks(log, estimator=name)
            learned = tk.ranker("listnet", l2=L2).fit(one.train, clicks=clicks)
            values.setdefault(name, []).append(per_query(learned, one.test))
    for name, found in values.items():
        share, low, high = ratio(found, truth)
        print(f"{name:<9} {share:.3f} [{low:.3f}, {high:.3f}]")


def losses() -> None:
    """Rankers of every kind at 100,000 pages of the first fold: on grades, naive and corrected."""
    one = side(1)
    log = tk.simulate_clicks(one.train, one.logging, 100_000, spread=0.5, seed=1)
    known = tk.estimate_propensities(log, "pbm")
    few = {"trees": 100, "leaves": 7}
    for name, settings in (
        ("linear-regression", {"l2": L2}), ("ranknet", {"l2": L2}), ("listmle", {"l2": L2}),
        ("listnet", {"scorer": "mlp", "epochs": 30}), ("lambdamart", few),
        ("listnet", {"scorer": "trees", **few}),
    ):  # fmt: skip
        found = [per_query(tk.ranker(name, **settings).fit(one.train), one.test).mean()]
        for estimator in ("naive", "snips"):
            clicks = tk.UnbiasedClicks(log, known, estimator)
            found.append(
                per_query(tk.ranker(name, **settings).fit(one.train, clicks=clicks), one.test).mean()
            )
        text = f"{name} {settings.get('scorer', '')}"
        shown = f"grades {found[0]:.4f}  naive {found[1]:.4f}  snips {found[2]:.4f}"
        print(f"{text:<20} {shown}  {found[2] / found[0]:.3f}", flush=True)


def biases() -> None:
    """Pages of 20 documents, and trust bias, at 300,000 pages of the first two folds."""
    for title, length, users in (
        ("pages of 20", 20, tk.Users()), ("trust 0.5", 10, tk.Users(trust=0.5)),
    ):  # fmt: skip
        values: dict[str, list[Floats]] = {}
        truth = []
        for number in (1, 2):
            one = side(number)
            truth.append(per_query(tk.ranker("listnet", l2=L2).fit(one.train), one.test))
            log = tk.simulate_clicks(
                one.train, one.logging, 300_000, length=length, spread=0.5, users=users, seed=number
            )
            for name, method, estimator in (
                ("naive", "pbm", "naive"),
                ("pbm", "pbm", "snips"),
                ("trust", "trust", "snips"),
            ):
                clicks = tk.UnbiasedClicks(log, method, estimator)
                learned = tk.ranker("listnet", l2=L2).fit(one.train, clicks=clicks)
                values.setdefault(name, []).append(per_query(learned, one.test))
        print(
            title,
            "  ".join(f"{name} {ratio(found, truth)[0]:.3f}" for name, found in values.items()),
            flush=True,
        )


def true_clicks(data: tk.Dataset, scores: Floats, length: int = 10) -> float:
    """Expected clicks per page of a ranking, over queries of equal traffic."""
    log = shown_queries(data, scores, length)
    p = tk.Users().probabilities(log, tk.Users().rates(data))
    return float(np.add.reduceat(p, log.bounds[:-1]).mean())


def shown_queries(data: tk.Dataset, scores: Floats, length: int) -> tk.ClickLog:
    """One page per query, in the order of the scores."""
    order = np.lexsort((-scores, data.query_index))
    place = np.arange(len(data)) - data.ptr[data.query_index]
    kept = place < length
    ptr = np.concatenate([[0], np.cumsum(np.minimum(data.lengths, length))])
    return tk.ClickLog(
        Pairs.of_dataset(data), order[kept].astype(np.int32), place[kept] + 1, np.zeros(kept.sum(), bool), ptr
    )


def coverage() -> None:
    """How often intervals of 95 % hold the true clicks per page, in 100 runs, for three ranker pairs."""
    one = side(1)
    ranker = tk.ranker("listnet", l2=L2).fit(one.train)
    train = one.train.select(np.arange(60))  # few enough that 20,000 pages show every document
    weak = one.logging[: len(train)]
    best = standard(train, train.X[:, 38])
    learned = standard(train, ranker.ordering_scores(train))
    wide = tk.simulate_clicks(train, weak, 300_000, spread=1.0, seed=999)
    estimated = tk.estimate_propensities(wide, "pbm")
    given = tk.Propensities(1 / np.arange(1.0, 11.0))
    for title, logging, new in (
        ("weak feature → ListNet", weak, learned),
        ("weak feature that explores more → ListNet", 0.5 * weak, learned),
        ("best feature → ListNet", best, learned),
        ("ListNet → best feature", learned, best),
    ):
        truth, run = true_clicks(train, new), tk.Run.from_scores(train, new)
        held: dict[str, list[bool]] = {}
        width: dict[str, list[float]] = {}
        for seed in range(100):
            log = tk.simulate_clicks(train, logging, 20_000, spread=1.0, seed=seed)
            for name, propensities in (("given", given), ("estimated", estimated)):
                for estimator in ("snips", "ips", "dr"):
                    if name == "estimated" and estimator != "snips":
                        continue
                    found = tk.evaluate_clicks(log, run, propensities, estimator=estimator)
                    held.setdefault(f"{estimator} {name}", []).append(found.low <= truth <= found.high)
                    width.setdefault(f"{estimator} {name}", []).append(found.high - found.low)
        cells = "  ".join(
            f"{name} {sum(inside)}/100 (±{np.mean(width[name]) / 2:.4f})" for name, inside in held.items()
        )
        text = f"truth {truth:.4f}, log {log.clicks.sum() / len(log):.4f}, coverage {found.coverage:.3f}"
        print(f"{title}: {text}; {cells}", flush=True)


def interleave() -> None:
    """Pages until the better of two rankers is found (5 % level, power 80 %), against an A/B test."""
    one = side(1)
    test = one.test
    learned = standard(test, tk.ranker("listnet", l2=L2).fit(one.train).ordering_scores(test))
    other = standard(test, test.X[:, 38])
    a, b = tk.Run.from_scores(test, learned), tk.Run.from_scores(test, other)
    clicks = [true_clicks(test, learned), true_clicks(test, other)]
    print(f"ListNet against the best feature: clicks per page {clicks[0]:.4f} and {clicks[1]:.4f}")
    print(f"  A/B test on clicks: {pages_of_ab(test, learned, other):,.0f} pages")
    for method in INTERLEAVINGS:
        outcomes = interleaved_outcomes(test, a, b, method)
        by_mean = POWER * outcomes.var() / outcomes.mean() ** 2
        pages = f"{needed_pages(outcomes):,.0f} pages by the sign test, {by_mean:,.0f} by the mean credit"
        print(f"  {method}: {pages}; {tk.interleaving_test(outcomes)}", flush=True)


def pages_of_ab(data: tk.Dataset, a: Floats, b: Floats) -> float:
    """Pages of both arms together: 2·(z₁ + z₂)²·(variance of A + variance of B)/difference²."""
    means, variances = [], []
    for scores in (a, b):
        log = shown_queries(data, scores, 10)
        p = tk.Users().probabilities(log, tk.Users().rates(data))
        expected = np.add.reduceat(p, log.bounds[:-1])
        means.append(expected.mean())
        variances.append(np.add.reduceat(p * (1 - p), log.bounds[:-1]).mean() + expected.var())
    return float(2 * POWER * sum(variances) / (means[0] - means[1]) ** 2)


def needed_pages(outcomes: Floats) -> float:
    """Pages for the sign test: (z₁ + z₂)²/(2·share − 1)² winners, over the share of pages with a winner."""
    a, b = (outcomes > 0).sum(), (outcomes < 0).sum()
    lead = (a - b) / (a + b)
    return float(POWER / lead**2 * len(outcomes) / (a + b))


def interleaved_outcomes(data: tk.Dataset, a: tk.Run, b: tk.Run, method: str, pages: int = 5_000) -> Floats:
    rng = np.random.default_rng(1)
    names = data.names_of_documents().tolist()
    rates = dict(zip(Pairs.of_dataset(data).names(), tk.Users().rates(data).tolist(), strict=True))
    assert len(names) == len(rates)
    rankings = {qid: ([doc for doc, _ in a[qid]], [doc for doc, _ in b[qid]]) for qid in data.qids}
    found = np.empty(pages)
    for i in range(pages):
        qid = data.qids[rng.integers(data.n_queries)]
        page = tk.interleave(*rankings[qid], method, length=10, rng=rng)
        p = np.array([rates[qid, doc] for doc in page.docs]) / np.arange(1, len(page.docs) + 1)
        found[i] = page.outcome(rng.random(len(p)) < p)
    return found


def pbm() -> None:
    """The position-based model on 10,000,000 pages of ten documents: seconds, memory, ratio to NumPy."""
    import resource

    from topkit.clicks.models.pbm import pbm as fit

    rng = np.random.default_rng(0)
    pages, queries, docs, length = 10_000_000, 2_000, 20, 10
    query = rng.integers(0, queries, pages, np.int32)
    offset, step = rng.integers(0, docs, pages, np.int8), rng.choice(np.array([1, 3, 7, 9], np.int8), pages)
    rates = rng.uniform(0.05, 0.9, queries * docs).astype(np.float32)
    pair, clicks = np.empty(pages * length, np.int32), np.empty(pages * length, bool)
    for place in range(length):
        shown = query * docs + (offset + step * np.int8(place)) % docs
        pair[place::length] = shown
        clicks[place::length] = rng.random(pages, np.float32) < rates[shown] / (place + 1)
    names = Pairs(
        tuple(map(str, range(queries))), np.arange(queries + 1) * docs, Strings.of(range(queries * docs))
    )
    position = np.tile(np.arange(1, length + 1, dtype=np.uint16), pages)
    log = tk.ClickLog(names, pair, position, clicks, np.arange(0, pages * length + 1, length))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fit(log.select(np.arange(10)))  # compiles
    start = time.process_time()
    model = fit(log, smoothing=0.0)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    passes = 3 * model.trace.steps
    start = time.process_time()
    plain_pass(log, np.full(queries * docs, 0.5), np.full(length, 0.5))
    of_pass = time.process_time() - start
    gap = np.abs(model.by_position * np.arange(1, length + 1) - 1).max()
    steps = f"{model.trace.steps} steps ({passes} passes)"
    print(f"{pages:,} pages, {int(clicks.sum()):,} clicks: {seconds:.1f} s of processor time, {steps}")
    print(f"memory {before / 1e6:.2f} GB before (the log), {peak / 1e6:.2f} GB at most while fitting")
    plain_seconds = of_pass * passes
    print(
        f"NumPy over impressions: {of_pass:.1f} s per pass, {plain_seconds:.0f} s for as many: "
        f"{plain_seconds / seconds:.0f}x"
    )
    print(f"largest relative error of the examination {gap:.2%}")
    cells = log.cells()
    plain, ours = best_passes(cells, queries * docs, length)
    times = f"{ours * 1e3:.1f} ms, NumPy {plain * 1e3:.1f} ms: {plain / ours:.1f}x"
    print(f"one pass over {len(cells.pair):,} counts: {times}")


def plain_pass(log: tk.ClickLog, a: Floats, g: Floats) -> tuple[Floats, Floats]:
    """One step of expectation–maximisation over all impressions in NumPy, in blocks to save memory."""
    new_a, new_g = np.zeros(len(a)), np.zeros(len(g))
    for first in range(0, len(log.pair), 1 << 22):
        rows = slice(first, first + (1 << 22))
        pair, place = log.pair[rows], log.position[rows].astype(np.int64) - 1
        u, v, c = a[pair], g[place], log.clicks[rows]
        p = u * v
        new_a += np.bincount(pair, np.where(c, 1.0, (u - p) / (1 - p)), len(a))
        new_g += np.bincount(place, np.where(c, 1.0, (v - p) / (1 - p)), len(g))
    return new_a, new_g


def best_passes(cells: Cells, pairs: int, length: int) -> list[float]:
    from bench.timing import best_of
    from topkit.clicks import kernels

    a, g = np.full(pairs, 0.5), np.full(length, 0.5)
    shown, clicks = cells.impressions, cells.clicks

    def plain() -> None:
        u, v = a[cells.pair], g[cells.bucket]
        p = u * v
        left = (shown - clicks) / (1 - p)
        np.bincount(cells.pair, clicks + left * (u - p), pairs)
        np.bincount(cells.bucket, clicks + left * (v - p), length)
        (clicks * np.log(p) + (shown - clicks) * np.log(1 - p)).sum()

    def ours() -> None:
        kernels.product_pass(cells.pair, cells.bucket, shown, clicks, a, g, np.zeros(pairs), np.zeros(length))

    return best_of(plain, ours)


def explore() -> None:
    """Regret of click-label that explores by Thompson sampling, and of one that is greedy."""
    one = side(1)
    chosen = np.flatnonzero(
        (one.train.lengths >= 15) & (np.maximum.reduceat(one.train.y, one.train.ptr[:-1]) > 0)
    )
    data = one.train.select(chosen[:20])
    users = tk.Users()
    rates = users.rates(data)
    ideal = true_clicks(data, rates)
    print(f"{data.n_queries} queries, ideal {ideal:.3f} clicks per page")
    for greedy in (True, False):
        regrets = np.array([regret_curve(data, rates, greedy, seed) for seed in range(SEEDS)])
        cells = "  ".join(
            f"{pages:,}: {mean:,.0f} ± {1.96 * spread / np.sqrt(SEEDS):,.0f}"
            for pages, mean, spread in zip(AFTER, regrets.mean(0), regrets.std(0, ddof=1), strict=True)
        )
        print(f"{'greedy' if greedy else 'Thompson':<9} regret in clicks after pages  {cells}", flush=True)


def regret_curve(data: tk.Dataset, rates: Floats, greedy: bool, seed: int) -> list[float]:
    """Clicks lost against the ideal order after each number of pages in AFTER; 50 pages per update."""
    rng = np.random.default_rng(seed)
    names = data.names_of_documents()
    blank = data.with_labels(np.zeros(len(data)), data.truth)
    learner = tk.ranker("click-label", mix=1.0, slots=4096).fit(blank)
    queries = [blank.select([q]) for q in range(data.n_queries)]
    docs = [names[rows].tolist() for _, rows in data]
    of_query = [rates[rows] for _, rows in data]
    seen = 1 / np.arange(1, 11)
    best = [float(np.sort(r)[::-1][:10] @ seen[: min(10, len(r))]) for r in of_query]
    regret, found = 0.0, []
    for page in range(1, AFTER[-1] + 1, 50):
        pages = []
        for _ in range(50):
            q = int(rng.integers(data.n_queries))
            run = learner.rank(queries[q]) if greedy else thompson(learner, queries[q], rng)
            place = {doc: i for i, doc in enumerate(docs[q])}
            shown = [place[doc] for doc, _ in run[data.qids[q]]][:10]
            p = of_query[q][shown] * seen[: len(shown)]
            regret += best[q] - float(p.sum())
            pages.append(
                tk.Page(
                    data.qids[q], tuple(docs[q][i] for i in shown), tuple((rng.random(len(p)) < p).tolist())
                )
            )
        learner = tk.continue_training(learner, clicks=Clicks(pages, blank))
        if page + 49 in AFTER:
            found.append(regret)
    return found


PARTS = {
    "unbiased": unbiased, "rounds": rounds, "losses": losses, "biases": biases, "coverage": coverage,
    "interleave": interleave, "pbm": pbm, "explore": explore,
}  # fmt: skip


def main() -> None:
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] if sys.argv[0].endswith("clicks.py") and len(sys.argv) > 1 else PARTS:
        start = time.process_time()
        print(f"-- {name}", flush=True)
        PARTS[name]()
        print(f"   {time.process_time() - start:.0f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
