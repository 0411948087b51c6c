"""Propensities from documents that were shown at two positions: swaps, and interventions between rankers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topkit.clicks.log import Cells, ClickLog
from topkit.clicks.models.em import EM
from topkit.clicks.models.product import fit_product
from topkit.clicks.pairs import totals
from topkit.compute import Floats, Ints


@dataclass(frozen=True)
class Interventions:
    """For two positions, counted from 0, the click rates at both of the documents shown at both."""

    first: Ints
    second: Ints
    weight: Floats
    """Sum over documents of the weight n₁·n₂/(n₁ + n₂) for n₁ and n₂ impressions."""
    clicks_first: Floats
    """Weighted sum of the click rates at the first position."""
    clicks_second: Floats


def interventions(log: ClickLog) -> Interventions:
    """The documents shown at two positions, added up by pair of positions.

    A document has the same weight at both positions, so its relevance cancels in the ratio of the rates; the
    weight n₁·n₂/(n₁ + n₂) is the inverse of the variance of their difference.
    """
    cells = log.cells()
    size = log.n_positions
    shape = size * size
    weight, rate_first, rate_second = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    rate = cells.clicks / cells.impressions
    for step in range(1, size):  # cells of a pair are contiguous and in the order of positions
        same = np.flatnonzero(cells.pair[step:] == cells.pair[:-step])
        if len(same) == 0:
            break
        later = same + step
        n, m = cells.impressions[same], cells.impressions[later]
        w = n * m / (n + m)
        key = cells.bucket[same] * size + cells.bucket[later]
        weight += totals(key, w, shape)
        rate_first += totals(key, w * rate[same], shape)
        rate_second += totals(key, w * rate[later], shape)
    keys = np.flatnonzero(rate_first + rate_second)  # pairs of positions without clicks cannot be compared
    return Interventions(keys // size, keys % size, weight[keys], rate_first[keys], rate_second[keys])


def swap(log: ClickLog) -> Floats:
    """Examination of position k: its click rate over that of position 1, for documents shown at both.

    Joachims, Swaminathan & Schnabel, WSDM 2017.
    """
    sets, values = interventions(log), np.full(log.n_positions, np.nan)
    values[0] = 1.0
    pivot = sets.first == 0
    values[sets.second[pivot]] = sets.clicks_second[pivot] / np.maximum(sets.clicks_first[pivot], 1e-300)
    return values


def adjacent(log: ClickLog) -> Floats:
    """The product of the ratios of neighbouring positions. Agarwal et al., WSDM 2019."""
    sets, values = interventions(log), np.full(log.n_positions, np.nan)
    shown = np.unique(log.position).astype(np.int64) - 1
    ratio = {
        (int(a), int(b)): float(later / max(earlier, 1e-300))
        for a, b, earlier, later in zip(
            sets.first, sets.second, sets.clicks_first, sets.clicks_second, strict=True
        )
    }
    values[shown[0]] = 1.0
    for a, b in zip(shown[:-1].tolist(), shown[1:].tolist(), strict=True):
        values[b] = values[a] * ratio[a, b]
    return values


def all_pairs(log: ClickLog) -> Floats:
    """Maximum likelihood over all pairs of positions, with one relevance per pair of positions.

    Agarwal, Zaitsev, Wang, Li, Najork & Joachims, WSDM 2019, equation 7.
    """
    sets = interventions(log)
    number = np.arange(len(sets.first))
    cells = Cells(
        np.concatenate([number, number]),
        np.concatenate([sets.first, sets.second]),
        np.concatenate([sets.weight, sets.weight]),
        np.concatenate([sets.clicks_first, sets.clicks_second]),
    )
    em = EM(smoothing=0.0, max_steps=2000, tolerance=1e-12)
    _, values, _, _ = fit_product(cells, len(number), log.n_positions, em)
    return values


def randomised(log: ClickLog) -> Floats:
    """Click rate of each position over that of the first one; valid if the order of pages was random."""
    cells, size = log.cells(), log.n_positions
    shown = totals(cells.bucket, cells.impressions, size)
    clicks = totals(cells.bucket, cells.clicks, size)
    rate = np.divide(clicks, shown, out=np.full(size, np.nan), where=shown > 0)
    return np.asarray(rate / max(rate[np.isfinite(rate)][0], 1e-300))
