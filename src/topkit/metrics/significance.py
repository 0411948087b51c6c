"""Paired significance tests of systems on the same queries, and corrections for multiple comparisons."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topkit.compute import Floats

SAMPLES = 10_000
"""Random draws of a randomised test: the standard error of p = 0.05 is 0.002."""
_BATCH = 4_000_000
"""Values drawn at a time, which bounds the memory."""


def paired_t(differences: Floats) -> float:
    """Two-sided p-value of Student's paired t-test; 1 if all differences are 0."""
    from scipy.stats import ttest_1samp

    if not differences.any():
        return 1.0
    if np.ptp(differences) == 0:  # constant and not 0: the formula divides by 0
        return 0.0 if len(differences) > 1 else 1.0
    return float(ttest_1samp(differences, 0.0).pvalue)


def wilcoxon(differences: Floats) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test; differences of 0 are dropped, 1 if none remain."""
    from scipy.stats import wilcoxon as signed_rank

    kept = differences[differences != 0]
    return float(signed_rank(kept).pvalue) if len(kept) else 1.0


def randomisation(differences: Floats, samples: int = SAMPLES, seed: int = 0) -> float:
    """Two-sided p-value of Fisher's randomisation test: the share of random signs with at least this |mean|.

    All 2^n sign flips are tried if there are at most ``samples``; otherwise they are drawn (seeded), and the
    observed one counts as one of them: (1 + larger)/(1 + samples). Smucker, Allan and Carterette, CIKM
    2007.

    >>> randomisation(np.array([1.0, 2.0, 3.0]))  # of 8 flips, +++ and −−− are as large
    0.25
    """
    n = len(differences)
    least = abs(differences.sum()) - 1e-12 * np.abs(differences).sum()
    if n < 63 and 2**n <= samples:
        sums = np.zeros(1)
        for difference in differences:
            sums = np.concatenate([sums + difference, sums - difference])
        return float(np.mean(np.abs(sums) >= least))
    rng = np.random.default_rng(seed)
    larger = 0
    step = max(1, _BATCH // n)
    for start in range(0, samples, step):
        signs = rng.integers(0, 2, (min(step, samples - start), n), np.int8)
        sums = differences.sum() - 2.0 * (signs @ differences)
        larger += int(np.count_nonzero(np.abs(sums) >= least))
    return (1 + larger) / (1 + samples)


def randomised_tukey(values: Floats, samples: int = SAMPLES, seed: int = 0) -> Floats:
    """p-values of all pairs of systems at once, corrected for their number: randomised Tukey HSD.

    ``values`` is (queries, systems). The values of each query are shuffled among the systems; p of a pair is
    the share of shuffles in which the largest difference of two means is at least that of the pair. The test
    is paired by query, unlike Tukey's classical test. Carterette, TOIS 2012; Sakai, Laboratory Experiments in
    Information Retrieval, 2018.
    """
    n, systems = values.shape
    means = values.mean(axis=0)
    observed = np.abs(means[:, None] - means[None, :])
    least = observed - 1e-12 * np.abs(values).mean()
    rng = np.random.default_rng(seed)
    larger = np.zeros((systems, systems), np.int64)
    step = max(1, _BATCH // values.size)
    for start in range(0, samples, step):
        count = min(step, samples - start)
        shuffled = rng.permuted(np.broadcast_to(values, (count, n, systems)), axis=2)
        spread = np.ptp(shuffled.mean(axis=1), axis=1)
        larger += np.count_nonzero(spread[:, None, None] >= least, axis=0)
    p = (1 + larger) / (1 + samples)
    np.fill_diagonal(p, 1.0)
    return p


def holm(p_values: Floats) -> Floats:
    """Holm's correction: the i-th smallest of m p-values times m − i + 1, at least the one before, at most 1.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * np.arange(len(p_values), 0, -1)
    corrected = np.empty_like(p_values)
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return corrected


def bonferroni(p_values: Floats) -> Floats:
    """Bonferroni's correction: each p-value times their number, at most 1.

    >>> bonferroni(np.array([0.01, 0.5]))
    array([0.02, 1.  ])
    """
    return np.minimum(p_values * len(p_values), 1.0)


TESTS: dict[str, str] = {
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "randomisation": "Fisher's randomisation test",
    "tukey": "randomised Tukey HSD",
}
"""The tests by name; ``tukey`` tests all systems together, the others test pairs."""

CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {"holm": holm, "bonferroni": bonferroni}
"""Corrections of p-values for the number of comparisons."""
