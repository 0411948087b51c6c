"""Clicks: every loss with every scorer, learned from grades, from raw clicks and from corrected clicks."""

from __future__ import annotations

from typing import Any

import numpy as np

import topkit as tk
from bench.clicks_data import per_query, side
from bench.loss_matrix import SMALL
from topkit.data import InputError

PAGES = 50_000
QUERIES, LONGEST = 150, 20
"""Training queries, and the most documents of one: losses over all pairs of a list are slow."""


def losses() -> None:
    """NDCG@10 as a share of training on grades with the same loss and scorer; a Markdown table."""
    one = side(1)
    graded = np.maximum.reduceat(one.train.y, one.train.ptr[:-1]) > 0
    chosen = np.flatnonzero((one.train.lengths <= LONGEST) & graded)[:QUERIES]
    train = one.train.select(chosen)
    scores = np.concatenate([one.logging[one.train.ptr[q] : one.train.ptr[q + 1]] for q in chosen])
    log = tk.simulate_click_counts(train, scores, PAGES, spread=0.5, seed=1)
    known = tk.estimate_propensities(log, "conditional")
    print(f"{train.n_queries} queries, {len(train):,} documents, {PAGES:,} pages")
    heads = [f"{scorer}: grades | naive | snips" for scorer in SMALL]
    print(f"| loss | {' | '.join(heads)} |")
    print(f"|---|{'---:|---:|---:|' * len(SMALL)}")
    for loss in tk.LOSSES:
        cells = [cell for scorer in SMALL for cell in learned(loss, scorer, train, one.test, log, known)]
        print(f"| `{loss}` | {' | '.join(cells)} |", flush=True)


def learned(
    loss: str, scorer: str, train: tk.Dataset, test: tk.Dataset, log: tk.ClickLog, known: tk.Propensities
) -> list[str]:
    """NDCG@10 of training on grades, and the shares of it of naive and corrected clicks."""
    settings: dict[str, Any] = {"loss": loss, "scorer": scorer, **SMALL[scorer]}
    on_grades = per_query(tk.ranker("gradient", **settings).fit(train), test).mean()
    cells = [f"{on_grades:.3f}"]
    for estimator in ("naive", "snips"):
        try:
            fitted = tk.ranker("gradient", **settings).fit(
                train, clicks=tk.UnbiasedClicks(log, known, estimator)
            )
        except InputError as error:
            print(f"{loss} {scorer} {estimator}: {error}", flush=True)
            cells.append("–")
            continue
        cells.append(f"{per_query(fitted, test).mean() / on_grades:.3f}")
    return cells
