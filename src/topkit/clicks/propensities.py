"""Propensities: how much a click at a position says about relevance, and whether a log can tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from topkit.clicks.conditional import PositionEffects, conditional, drawn_to_power
from topkit.clicks.harvest import adjacent, all_pairs, randomised, swap
from topkit.clicks.identify import check_adjacent, check_connected, check_first
from topkit.clicks.log import ClickLog
from topkit.clicks.models.pbm import pbm
from topkit.clicks.models.trust import trust
from topkit.compute import Floats, Ints
from topkit.data import InputError
from topkit.data.csv_rows import csv_rows
from topkit.data.files import numbered_lines
from topkit.data.settings import lookup
from topkit.data.table import Table
from topkit.data.writers import text_writer


@dataclass(frozen=True, eq=False)
class Propensities:
    """P(click at a position) = examination·relevance + offset, relative to the first position.

    Relevance is the click rate at the first position, so the examination is 1 and the offset 0 there. The
    offset is 0 everywhere unless users trust high positions. Positions beyond the last one are like the last.

    >>> Propensities([1, 0.5, 0.25]).at(np.array([1, 3, 9])).tolist()
    [1.0, 0.25, 0.25]
    """

    examination: Floats
    offset: Floats
    method: str = "given"
    error: Floats | None = None
    """The relative standard error of each examination, if the method has one."""

    def __init__(
        self,
        examination: ArrayLike,
        offset: ArrayLike | None = None,
        method: str = "given",
        error: ArrayLike | None = None,
    ) -> None:
        slope = np.array(examination, np.float64)
        if slope.ndim != 1 or not len(slope) or not np.isfinite(slope).all() or not (slope > 0).all():
            raise InputError("propensities must be finite and greater than 0", "give one number per position")
        shift = np.zeros(len(slope)) if offset is None else np.array(offset, np.float64)
        if shift.shape != slope.shape or not np.isfinite(shift).all():
            raise InputError(f"expected {len(slope)} finite offsets, one per position")
        object.__setattr__(self, "examination", slope)
        object.__setattr__(self, "offset", shift)
        object.__setattr__(self, "method", method)
        object.__setattr__(self, "error", None if error is None else np.array(error, np.float64))

    def __len__(self) -> int:
        """Number of positions."""
        return len(self.examination)

    def at(self, position: ArrayLike) -> Floats:
        """The examination of positions, counted from 1."""
        values: Floats = self.examination[self._place(position)]
        return values

    def offset_at(self, position: ArrayLike) -> Floats:
        """The click rate of irrelevant documents at positions, counted from 1."""
        values: Floats = self.offset[self._place(position)]
        return values

    def _place(self, position: ArrayLike) -> Ints:
        return np.minimum(np.asarray(position, np.int64), len(self)) - 1

    def table(self) -> Table:
        """A row per position."""
        columns: dict[str, list[str] | list[float]] = {
            "position": [str(place) for place in range(1, len(self) + 1)],
            "examination": self.examination.tolist(),
            "offset": self.offset.tolist(),
        }
        if self.error is not None:
            columns["relative error"] = self.error.tolist()
        rows = list(zip(*columns.values(), strict=True))
        return Table(tuple(columns), rows, (f"method {self.method}",))

    def save(self, path: str | PathLike[str]) -> None:
        """Write CSV with the columns position, examination and offset."""
        with text_writer(path) as stream:
            stream.write(self.table().csv() + "\n")


def read_propensities(path: str | PathLike[str]) -> Propensities:
    """Read the CSV that :meth:`Propensities.save` writes; the column ``offset`` is optional."""
    lines = ((number, text.decode("utf-8", "replace").rstrip("\r")) for number, text in numbered_lines(path))
    rows = csv_rows(lines, path)
    names = next(rows, (1, [""]))[1]
    names[0] = names[0].removeprefix("\ufeff")
    form = "write the columns position and examination"
    examination, offset = [], []
    for place, (line, fields) in enumerate(rows, 1):
        row = dict(zip(names, fields, strict=False))
        try:
            if int(row["position"]) != place:
                raise InputError(f"expected position {place}", "list them from 1", file=path, line=line)
            examination.append(float(row["examination"]))
            offset.append(float(row.get("offset") or 0.0))
        except (KeyError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError("expected a position and its examination", form, file=path, line=line) from None
    if not examination:
        raise InputError("the file has no positions", form, file=path)
    try:
        return Propensities(examination, offset, "file")
    except InputError as error:
        raise InputError(error.problem, error.remedy, file=path) from None


def _of_pbm(log: ClickLog) -> Propensities:
    check_connected(log)
    model = pbm(log, smoothing=0.0, max_steps=500, tolerance=1e-9)
    return _filled(model.by_position, "pbm")


def _of_trust(log: ClickLog) -> Propensities:
    check_connected(log)
    model = trust(log, smoothing=0.0)
    if not (model.slope > 0).all():
        place = int(np.argmin(model.slope)) + 1
        raise InputError(
            f"relevant documents are not clicked more than others at position {place}",
            "use a longer log, or the method pbm",
        )
    return Propensities(model.slope, model.offset, "trust")


def _of_conditional(log: ClickLog) -> Propensities:
    check_connected(log)
    return _with_errors(conditional(log), "conditional")


def _of_smoothed(log: ClickLog) -> Propensities:
    check_connected(log)
    return _with_errors(drawn_to_power(conditional(log)), "smoothed")


def _with_errors(effects: PositionEffects, method: str) -> Propensities:
    estimate = _filled(effects.examination, method)
    return replace(estimate, error=effects.error)


def _of_swap(log: ClickLog) -> Propensities:
    check_first(log)
    return _filled(swap(log), "swap")


def _of_adjacent(log: ClickLog) -> Propensities:
    check_adjacent(log)
    return _filled(adjacent(log), "adjacent")


def _of_all_pairs(log: ClickLog) -> Propensities:
    check_connected(log)
    return _filled(all_pairs(log), "all-pairs")


def _of_randomised(log: ClickLog) -> Propensities:
    return _filled(randomised(log), "randomised")


def _filled(examination: Floats, method: str) -> Propensities:
    """Propensities in which a position without data is like the one before it."""
    values = examination.copy()
    for place in range(1, len(values)):
        if np.isnan(values[place]):
            values[place] = values[place - 1]
    if not (values > 0).all():
        place = int(np.argmin(values)) + 1
        raise InputError(
            f"position {place} has no clicks that tell its examination", "use a longer log or shorter pages"
        )
    return Propensities(values, None, method)


PROPENSITIES: dict[str, Callable[[ClickLog], Propensities]] = {
    "pbm": _of_pbm,
    "trust": _of_trust,
    "conditional": _of_conditional,
    "smoothed": _of_smoothed,
    "all-pairs": _of_all_pairs,
    "adjacent": _of_adjacent,
    "swap": _of_swap,
    "randomised": _of_randomised,
}
"""Name → how propensities are estimated from a log."""


def estimate_propensities(log: ClickLog, method: str = "pbm") -> Propensities:
    """The examination of each position, estimated from a log; InputError if the log cannot tell.

    - ``pbm``: maximum likelihood of the position-based model, which uses every document.
    - ``trust``: the same with trust bias; it has an offset, too.
    - ``conditional``: maximum likelihood of how the clicks of each document divide among its positions. It
      has standard errors, and no bias for documents with few clicks, so it is better for short logs.
    - ``smoothed``: the same, drawn to a power of the position as far as its errors allow: for logs that are
      too short for anything else, if the examination falls about like p^−η.
    - ``all-pairs``, ``adjacent``: from documents that several rankers showed at two positions (intervention
      harvesting): all pairs of positions together, or a chain of neighbours.
    - ``swap``: from documents shown at the first position and at another one.
    - ``randomised``: click rates of pages whose order was random; the caller knows whether it was.

    >>> from topkit.data import Page
    >>> shown = [Page("q", ("a", "b"), (True, False)), Page("q", ("b", "a"), (True, True))] * 5
    >>> estimate_propensities(ClickLog.of_pages(shown), "swap").examination.tolist()
    [1.0, 0.5]
    """
    return lookup(PROPENSITIES, method, "way to estimate propensities")(log)


def named_propensities(name: str) -> Propensities | str:
    """The name of a method, checked, or the propensities of the CSV file of this name."""
    if name.endswith(".csv"):
        return read_propensities(name)
    lookup(PROPENSITIES, name, "way to estimate propensities")
    return name
