"""Every loss with every scorer: ``python -m bench.loss_matrix`` prints a Markdown table.

NDCG@5 (reciprocal rank for ApproxMRR) on 40 test queries of :func:`topkit.rankers.checks.easy_data`,
after training on 40 others with small settings: what is checked is that every combination learns.
"""

from __future__ import annotations

import sys
from typing import Any

import topkit as tk
from topkit.losses.lambdaloss import SCHEMES
from topkit.rankers.checks import easy_data

SMALL: dict[str, dict[str, Any]] = {
    "linear": {"max_steps": 100},
    "mlp": {"hidden": (8,), "epochs": 30, "rate": 0.02},
    "trees": {"trees": 40, "min_leaf": 5, "rate": 0.2},
}
"""Settings of each scorer that keep a fit short."""


def learnt(loss: str, scorer: str, **settings: Any) -> tuple[str, float]:
    """The measure and its mean on test queries after training with a loss and a scorer."""
    # ApproxMRR learns from the first relevant document only, and is judged by it
    measure = "rr" if loss == "approxmrr" else "ndcg@5"
    ranker = tk.ranker("gradient", loss=loss, scorer=scorer, metric=measure, **SMALL[scorer], **settings)
    fitted = ranker.fit(easy_data(), easy_data(15, seed=1))
    test = easy_data(seed=2)
    return measure, tk.evaluate(test, fitted.score(test), measure).mean[measure]


def main() -> None:
    names = sys.argv[1:] or list(tk.LOSSES)
    print(f"| loss | measure | {' | '.join(SMALL)} |")
    print(f"|---|---|{'---:|' * len(SMALL)}")
    for name in names:
        schemes = SCHEMES if name == "lambdaloss" else (None,)
        for scheme in schemes:
            settings = {} if scheme is None else {"scheme": scheme}
            results = [learnt(name, scorer, **settings) for scorer in SMALL]
            title = name if scheme is None else f"{name}, {scheme}"
            cells = " | ".join(f"{value:.3f}" for _, value in results)
            print(f"| `{title}` | {results[0][0]} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
