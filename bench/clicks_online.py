"""Clicks: interleaving and exploration on simulated users."""

from __future__ import annotations

import numpy as np

import topkit as tk
from bench.clicks_data import L2, Floats, shown_queries, side, standard, true_clicks
from topkit.clicks.interleaving import INTERLEAVINGS
from topkit.clicks.pairs import Pairs
from topkit.rankers import Clicks
from topkit.rankers.clicks.exploration import explore as thompson

AFTER = (500, 1_000, 2_000, 4_000)
"""Pages after which the regret is shown."""
SEEDS = 3
POWER = 2.8016**2
"""(z₁ + z₂)² for a level of 5 % and a power of 80 %."""


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
