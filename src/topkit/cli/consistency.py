"""``topkit study consistency``: what the theory of top-k losses states, computed."""

from __future__ import annotations

from typing import Annotated

import typer

from topkit.cli.study import app

BOUNDED = {
    "inversions": "weighted Kendall's τ",
    "any_inversion": "places with any inversion",
    "hinge": "top-k hinge",
    "exponential": "top-k exponential",
    "logistic": "top-k logistic, base 2",
    "listmle": "top-k ListMLE / ln 2",
}


@app.command()
def consistency(
    k: Annotated[int, typer.Option(min=1, help="Places at the top.")] = 3,
    lists: Annotated[int, typer.Option(min=1, help="Random lists for the bounds.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the random lists.")] = 0,
) -> None:
    """Compute bounds on 1 − NDCG@k, and which losses find the top-k Bayes ranker.

    Example: `topkit study consistency --k 5 --lists 500`
    """
    import numpy as np

    from topkit.losses.consistency import consistency_table, top_k_bounds

    rng = np.random.default_rng(seed)
    found = []
    for _ in range(lists):
        n = int(rng.integers(k, k + 10))
        found.append(top_k_bounds(rng.normal(size=n), rng.permutation(n), k))
    errors = np.array([one.error for one in found])
    print(f"Bounds on 1 − NDCG@{k} over {lists:,} random full orders (mean error {errors.mean():.3f}):")
    print(f"  {'':<28}{'mean':>9}{'below the error':>17}")
    for field, name in BOUNDED.items():
        values = np.array([getattr(one, field) for one in found])
        print(f"  {name:<28}{values.mean():9.3f}{int((values < errors - 1e-9).sum()):>17}")
    broken = sum(one.listmle < one.inversions - 1e-9 for one in found)
    print(
        f"  ListMLE is below weighted τ in {broken} lists: it bounds places with inversions, not inversions"
    )
    case = top_k_bounds([0.0, 1e-9, 2e-9, 3e-9], [4, 3, 2, 1], 1)
    print(
        f"  the smallest case: three documents just above the first, {case.inversions:g} > {case.listmle:.3f}"
    )
    print("\nDoes the minimiser of the expected loss put the likeliest first document first?")
    print(f"  {'loss':<20}{'Proposition 10':>16}{'order-preserving':>18}")
    for name, hard, mild in consistency_table():
        print(f"  {name:<20}{'yes' if hard else 'no':>16}{'yes' if mild else 'no':>18}")
