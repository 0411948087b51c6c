"""Conventions: the choices that the name of a measure leaves open, named after the tools that made them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from topkit.data.settings import lookup

Gain = Literal["exponential", "linear"]
Discount = Literal["log2(1+r)", "letor"]
Ties = Literal["input", "document"]


@dataclass(frozen=True)
class Convention:
    """How a measure treats the cases that its formula leaves open; printed with every result.

    The presets are in :data:`CONVENTIONS`; make your own with ``dataclasses.replace``.

    >>> print(CONVENTIONS["letor4"])  # doctest: +ELLIPSIS
    letor4: gain 2^y−1; discount 1, 1, then 1/log2(r); ...; ERR over 2^(largest label)
    """

    name: str
    gain: Gain = "exponential"
    """``exponential`` is 2^y−1, ``linear`` is y."""
    discount: Discount = "log2(1+r)"
    """``letor`` is 1 at ranks 1 and 2, then 1/log2(r)."""
    empty: float = 0.0
    """The value of a measure that is 0/0 because a query has no relevant document (NDCG, AP, recall, …)."""
    short_is_zero: bool = False
    """DCG@l and NDCG@l of a list with fewer than l documents are 0."""
    precision_over_list: bool = False
    """P@l of a list with n < l documents divides by n."""
    ties: Ties = "input"
    """Equal scores keep their input order, or are sorted by document id, descending."""
    single_precision: bool = False
    """Scores are rounded to 32 bits before they are sorted."""
    relevant_from: float = 1.0
    """The smallest relevant label of binary measures."""
    err_maximum: float | None = None
    """Largest grade of ERR; None takes the largest label of the data."""

    def __str__(self) -> str:
        parts = [
            "gain 2^y−1" if self.gain == "exponential" else "gain y",
            "discount 1/log2(1+r)" if self.discount == "log2(1+r)" else "discount 1, 1, then 1/log2(r)",
            f"no relevant document: {self.empty:g}",
        ]
        if self.short_is_zero:
            parts.append("NDCG@l is 0 for l > n")
        if self.precision_over_list:
            parts.append("P@l divides by n when n < l")
        parts.append("ties in input order" if self.ties == "input" else "ties by document id, descending")
        if self.single_precision:
            parts.append("scores as 32-bit numbers")
        parts.append(f"relevant from grade {self.relevant_from:g}")
        top = "(largest label)" if self.err_maximum is None else f"{self.err_maximum:g}"
        parts.append(f"ERR over 2^{top}")
        return f"{self.name}: {'; '.join(parts)}"


CONVENTIONS: dict[str, Convention] = {
    "yahoo": Convention("yahoo", empty=1.0),
    "ranklib": Convention("ranklib", precision_over_list=True, err_maximum=4),
    "trec": Convention("trec", gain="linear", ties="document", single_precision=True, err_maximum=4),
    "letor3": Convention("letor3", discount="letor"),
    "letor4": Convention("letor4", discount="letor", short_is_zero=True),
    "mslr": Convention("mslr", discount="letor", short_is_zero=True, relevant_from=2),
}
"""The named presets."""


def convention(which: str | Convention) -> Convention:
    """The convention of this name; a :class:`Convention` is returned unchanged."""
    if isinstance(which, Convention):
        return which
    return lookup(CONVENTIONS, which, "convention")


def gain_function(rule: Gain) -> Callable[[NDArray[Any]], NDArray[np.float64]]:
    """Label → gain; the gain of a label below 0 ("not judged") is 0."""
    return _exponential if rule == "exponential" else _linear


def _linear(labels: NDArray[Any]) -> NDArray[np.float64]:
    gains: NDArray[np.float64] = np.maximum(labels, 0, dtype=np.float64)
    return gains


def _exponential(labels: NDArray[Any]) -> NDArray[np.float64]:
    gains = np.exp2(_linear(labels))
    gains -= 1.0
    return gains


def discounts(rule: Discount, length: int) -> NDArray[np.float64]:
    """The discount at ranks 1..length."""
    ranks = np.arange(1, length + 1, dtype=np.float64)
    return 1 / np.log2(1 + ranks) if rule == "log2(1+r)" else 1 / np.log2(np.maximum(ranks, 2))
