"""``topkit study consistency``: compute what the theory of top-k losses states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from topkit.cli.output import Form, check_form, print_tables

if TYPE_CHECKING:
    from topkit.losses.consistency import Bounds
    from topkit.reporting.tables import Table

BOUNDS = {
    "inversions": "weighted Kendall's τ",
    "any_inversion": "places with any inversion",
    "hinge": "top-k hinge",
    "exponential": "top-k exponential",
    "logistic": "top-k logistic, base 2",
    "listmle": "top-k ListMLE / ln 2",
}
"""Bound → its name in the table."""

ROUNDING = 1e-9
"""A bound counts as violated only by more than this."""


def consistency(
    k: Annotated[int, Option(min=1, help="Places at the top.")] = 3,
    lists: Annotated[int, Option(min=1, help="Random lists for the bounds.")] = 2000,
    seed: Annotated[int, Option(help="Seed of the random lists.")] = 0,
    form: Form = "table",
) -> None:
    """Compute bounds on 1 − NDCG@k, and which losses find the top-k Bayes ranker.

    Example: `topkit study consistency --k 5 --lists 500`
    """
    import numpy as np

    from topkit.losses.consistency import LARGEST_K, top_k_bounds

    check_form(form)
    rng = np.random.default_rng(seed)
    bounds = []
    for _ in range(lists):
        n = int(rng.integers(k, k + 10))
        bounds.append(top_k_bounds(rng.normal(size=n), rng.permutation(n), k))
    smallest = top_k_bounds([0.0, 1e-9, 2e-9, 3e-9], [4, 3, 2, 1], 1)
    mean_error = float(np.mean([bound.error for bound in bounds]))
    tables = {"bounds": _bounds_table(bounds)}
    lines = [
        f"Bounds on 1 − NDCG@{k} over {lists:,} random full orders (mean error {mean_error:.3f}):",
        tables["bounds"].text(),
        "smallest such case: three documents just above the first, "
        f"{smallest.inversions:g} > {smallest.listmle:.3f}",
    ]
    if k <= LARGEST_K:
        tables["consistency"] = _minimisers_table(k)
        lines += [f"\nDoes the minimiser of the expected loss put the most likely top {k} first?"]
        lines += [tables["consistency"].text()]
    else:
        lines += [f"\nMinimisers of expected losses are computed for k up to {LARGEST_K}."]
    tables["limits"] = _limits_table()
    lines += [
        "\nUp to which chance p1 of the best object does a loss on whole orders miss it (Proposition 10)?"
    ]
    lines += [tables["limits"].text()]
    print_tables(tables, form, lambda: "\n".join(lines))


def _minimisers_table(k: int) -> Table:
    from topkit.losses.consistency import consistency_table
    from topkit.reporting.tables import Table

    rows = [
        (name, "yes" if hard else "no", "yes" if mild else "no") for name, hard, mild in consistency_table(k)
    ]
    notes = (
        [f"Proposition 10: three objects, behind {k - 1} objects that are almost always first"]
        if k > 1
        else []
    )
    return Table(("loss", "Proposition 10", "order-preserving"), rows, notes)


def _limits_table() -> Table:
    from topkit.losses import loss
    from topkit.losses.consistency import WHOLE_LIST_LOSSES, proposition_10_limit
    from topkit.reporting.tables import Table

    losses = {name: loss(name) for name in WHOLE_LIST_LOSSES} | {"listnet, m = 2": loss("listnet", m=2)}
    rows = [(name, proposition_10_limit(each)) for name, each in losses.items()]
    note = "the paper states it for every p1 above 1/3; of three objects, m = 2 covers whole permutations"
    return Table(("loss", "p1"), rows, [note], decimals=3)


def _bounds_table(bounds: list[Bounds]) -> Table:
    import numpy as np

    from topkit.reporting.tables import Table

    errors = np.array([bound.error for bound in bounds])
    rows: list[tuple[str, float, int]] = []
    for field, name in BOUNDS.items():
        values = np.array([getattr(bound, field) for bound in bounds])
        rows.append((name, float(values.mean()), int((values < errors - ROUNDING).sum())))
    broken = sum(bound.listmle < bound.inversions - ROUNDING for bound in bounds)
    notes = [
        f"ListMLE is below weighted τ in {broken} lists: it bounds places with inversions, not inversions"
    ]
    return Table(("", "mean", "below the error"), rows, notes, decimals=3)
