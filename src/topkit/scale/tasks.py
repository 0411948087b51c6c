"""Independent fits as tasks on a cluster: the trials of a search, and the members of a mixture.

Each task needs all training data in the memory of its worker, which reads the file itself and keeps it for
its next tasks. This divides time among workers, not memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from os import PathLike, fspath
from typing import Any

from topkit.compute import Trace
from topkit.compute.cluster import Cluster
from topkit.data import Dataset, InputError
from topkit.data.formats import read_dataset
from topkit.rankers import Learner, ranker
from topkit.rankers.by_name import space_of
from topkit.rankers.files import describe, provenance
from topkit.rankers.mixture.members import Trained
from topkit.rankers.mixture.split import CalibrationSplit
from topkit.rankers.tune_and_mix import TuneAndMix
from topkit.rankers.tuning import Trial, grid_cells
from topkit.scorers import Model, Report, silent


def tune_on(
    cluster: Cluster,
    name: str,
    path: str | PathLike[str],
    valid: Dataset,
    *,
    trials: int = 20,
    **settings: Any,
) -> tuple[Learner, list[Trial]]:
    """:func:`topkit.rankers.tuning.tune` with a grid, one trial per task; every worker must see the file.

    The first of equal trials wins, so the result is that of one process.
    """
    if trials < 1:
        raise InputError(f"trials must be at least 1, got {trials}")
    space = space_of(name, **settings)
    cells: list[dict[str, Any]] = [{}]
    if space:
        cells += grid_cells(space, trials - 1, int(settings.get("seed", 0)))
    fitted = cluster.map(_trial, cells, name, settings, fspath(path), valid)
    best = max(range(len(fitted)), key=lambda i: (fitted[i][0], -i))
    return fitted[best][1], [Trial(cell, value) for cell, (value, _) in zip(cells, fitted, strict=True)]


def _trial(
    chosen: Mapping[str, Any], name: str, settings: Mapping[str, Any], path: str, valid: Dataset
) -> tuple[float, Learner]:
    learner = ranker(name, **{**settings, **chosen}).fit(_kept(path), valid)
    return learner.measure_on(valid), learner


def mixture_on(
    cluster: Cluster,
    name: str,
    path: str | PathLike[str],
    valid: Dataset | None = None,
    *,
    report: Report = silent,
    **settings: Any,
) -> Learner:
    """Fit ``tune-and-mix`` with one member source per task; this process calibrates and mixes them."""
    learner = ranker(name, **settings)
    method = _mixture(learner)
    train = read_dataset(path)

    def trained(split: CalibrationSplit) -> list[Trained]:
        numbers = range(len(method.tasks(split)))
        report("sources", 0, len(numbers), 0.0)
        return cluster.map(_member, numbers, learner, fspath(path), valid)

    preparation, job = learner.job(train, valid, report=report)
    model: Model
    traces: list[Trace]
    model, traces = method.mixed(CalibrationSplit.of(job, method.share), trained)
    return learner.install(preparation, model, traces, provenance(model, describe(train), valid))


def _member(number: int, learner: Learner, path: str, valid: Dataset | None) -> Trained:
    """One source of a mixture; the split into training and calibration queries depends on the seed only."""
    method = _mixture(learner)
    _, job = learner.job(_kept(path), valid)
    return method.tasks(CalibrationSplit.of(job, method.share))[number]()


def _mixture(learner: Learner) -> TuneAndMix:
    if not isinstance(learner.method, TuneAndMix):
        raise TypeError(f"{learner.name} is not a mixture")
    return learner.method


@lru_cache(maxsize=1)
def _kept(path: str) -> Dataset:
    """The data set of a file, read once per worker."""
    return read_dataset(path)
