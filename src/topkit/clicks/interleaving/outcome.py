"""What an interleaved page is, and what clicks on such pages say about the two rankers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from topkit.compute import Floats
from topkit.data import InputError

Z95 = 1.959963984540054


@dataclass(frozen=True)
class Interleaved:
    """A page of documents of two rankers, and what a click on each says: > 0 for A, < 0 for B."""

    docs: tuple[str, ...]
    credit: tuple[float, ...]

    def outcome(self, clicks: Iterable[bool]) -> float:
        """The sum of the credit of the clicked documents.

        >>> Interleaved(("x", "y"), (1.0, -1.0)).outcome([True, False])
        1.0
        """
        return float(sum(credit for credit, clicked in zip(self.credit, clicks, strict=True) if clicked))


@dataclass(frozen=True)
class Preference:
    """Which of two rankers users prefer, from the outcomes of interleaved pages."""

    pages: int
    wins_a: int
    wins_b: int
    ties: int
    mean: float
    """Mean outcome per page, with its interval of 95 %; positive for A."""
    low: float
    high: float
    p: float
    """Two-sided p-value of the sign test on the pages that have a winner."""

    def __str__(self) -> str:
        better = "A" if self.mean > 0 else "B"
        verdict = f"ranker {better} is better" if self.p < 0.05 else "no significant difference"
        return (
            f"{verdict}: A wins {self.wins_a:,}, B wins {self.wins_b:,}, {self.ties:,} ties on "
            f"{self.pages:,} pages; p = {self.p:.2g} (sign test); mean credit {self.mean:+.4f} "
            f"[{self.low:+.4f}, {self.high:+.4f}]"
        )


def interleaving_test(outcomes: Sequence[float] | Floats) -> Preference:
    """The preference of users and the sign test, from the outcome of each page.

    >>> interleaving_test([1.0, 1.0, 0.0, 2.0, -1.0, 1.0, 1.0]).p  # 5 of 6: 2·(1 + 6)/2⁶
    0.21875
    """
    values = np.asarray(outcomes, np.float64)
    if len(values) == 0:
        raise InputError("no outcomes of pages", "give at least one page")
    from scipy.stats import binomtest

    a, b = int((values > 0).sum()), int((values < 0).sum())
    p = float(binomtest(a, a + b).pvalue) if a + b else 1.0
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
    mean = float(values.mean())
    return Preference(len(values), a, b, len(values) - a - b, mean, mean - Z95 * error, mean + Z95 * error, p)
