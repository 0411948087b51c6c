"""The user browsing model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.models.base import ClickModel
from topkit.clicks.models.em import EM
from topkit.clicks.models.product import fit_product
from topkit.compute import Bools, Floats, Ints, fields_as_parameters


@dataclass(frozen=True, eq=False, repr=False)
class UserBrowsing(ClickModel):
    """P(click | clicks above) = attraction × examination of (place on the page, place of the last click)."""

    name: ClassVar[str] = "ubm"
    by_distance: Floats = field(default_factory=lambda: np.ones((1, 1)))
    """Row: place on the page from 0. Column: place of the last click from 1, 0 without one."""

    def _table(self, places: int) -> Floats:
        """The examinations for pages of up to this many places; unseen ones are those of the place before."""
        table = np.ones((max(places, len(self.by_distance)),) * 2)
        table[: len(self.by_distance), : len(self.by_distance)] = self.by_distance
        table[len(self.by_distance) :] = table[len(self.by_distance) - 1]
        for column in range(1, table.shape[1]):
            missing = np.isnan(table[:, column])
            table[missing, column] = table[missing, column - 1]
        return np.where(np.isnan(table), 0.0, table)

    def conditional(self, log: ClickLog) -> Floats:
        place, last = places_and_last_clicks(log)
        seen = self._table(int(place.max()) + 1)[place, last]
        return np.minimum(self.attractions(log) * seen, 1.0)

    def marginal(self, log: ClickLog) -> Floats:
        """Sums over the place of the last click: quadratic in the length of a page."""
        attraction, values = self.attractions(log), np.zeros(len(log.pair))
        longest = int(np.diff(log.bounds).max())
        table = self._table(longest)
        last = np.zeros((len(log), longest + 1))  # P(the last click so far was at this place)
        last[:, 0] = 1.0
        for place, (pages, rows) in enumerate(log.by_place()):
            clicked = last[pages, : place + 1] * np.minimum(
                table[place, : place + 1] * attraction[rows, None], 1.0
            )
            values[rows] = clicked.sum(axis=1)
            last[pages, : place + 1] -= clicked
            last[pages, place + 1] = values[rows]
        return values

    def draw(self, log: ClickLog, rng: np.random.Generator) -> Bools:
        attraction, clicks = self.attractions(log), np.zeros(len(log.pair), np.bool_)
        table = self._table(int(np.diff(log.bounds).max()))
        last = np.zeros(len(log), np.int64)
        for place, (pages, rows) in enumerate(log.by_place()):
            clicks[rows] = rng.random(len(rows)) < attraction[rows] * table[place, last[pages]]
            last[pages] = np.where(clicks[rows], place + 1, last[pages])
        return clicks


def places_and_last_clicks(log: ClickLog) -> tuple[Ints, Ints]:
    """The place of each row on its page, from 0, and the place of the last click above it, from 1; 0 if none.

    >>> from topkit.data import Page
    >>> places_and_last_clicks(ClickLog.of_pages([Page("q", ("a", "b", "c"), (False, True, False))]))[1]
    array([0, 0, 2])
    """
    starts = np.repeat(log.bounds[:-1], np.diff(log.bounds))
    place = np.arange(len(log.pair)) - starts
    clicked = np.where(log.clicks, np.arange(len(log.pair)), -1)
    running = np.maximum.accumulate(clicked)
    before = np.concatenate([[-1], running[:-1]])
    return place, np.where(before >= starts, before - starts + 1, 0)


@fields_as_parameters(EM)
def ubm(log: ClickLog, em: EM) -> UserBrowsing:
    """User browsing: P(click | clicks above) = attraction·examination(place, place of the last click).

    The clicks above a document are known, so it is fitted like the position-based model, with one
    examination for each place and place of the last click. Dupret & Piwowarski, SIGIR 2008.

    Use it for the best predictions of clicks on long pages. Not for logs of counts, and not for propensities:
    its examinations depend on clicks.
    """
    place, last = places_and_last_clicks(log)
    places = int(place.max()) + 1
    cells = log.cells(place * places + last, places * places)
    a, g, average, trace = fit_product(cells, len(log.pairs), places * places, em)
    return UserBrowsing(log.pairs, a, average, trace, g.reshape(places, places))
