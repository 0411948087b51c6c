"""Running a study: cells that are not done yet, each written as its own file when it is, then the table.

The folder of a study holds ``study.toml`` (a copy of what was run), ``cells.json`` (all cells), ``cells/`` (a
file for each finished one) and ``results.parquet``. Cell files appear whole or not at all, so a study that
was interrupted or killed goes on where it was, and its table is the same as that of an uninterrupted one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topkit.compute import Finished, run_cells
from topkit.compute.cluster import ClusterError
from topkit.data import InputError
from topkit.data.files import text_writer
from topkit.studies.kind import Cell, Outcome
from topkit.studies.results import Results
from topkit.studies.spec import Study, parse_study, read_study


@dataclass(frozen=True)
class Progress:
    """How far a study is, told after each cell."""

    done: int
    total: int
    kept: int
    """Cells that were done before this run."""
    latest: str = ""
    """The latest cell and its headline value."""
    best: str = ""
    """The best row so far, by the headline measure."""


Tell = Callable[[Progress], object]


def run_study(
    file: Path, folder: Path, *, jobs: int = 1, dask: str | None = None, tell: Tell = lambda progress: None
) -> Results:
    """Run the study in a file; results go to the folder, which may hold those of an interrupted run."""
    study = read_study(file)
    from topkit.studies.kinds import KINDS

    cells = list(KINDS[study.kind].cells(study))
    if not cells:
        raise InputError("the study has no cells", "give it data sets, rankers or levels", file=file)
    (folder / "cells").mkdir(parents=True, exist_ok=True)
    for left_behind in (folder / "cells").glob(".*"):  # of a run that was killed while it wrote
        left_behind.unlink(missing_ok=True)
    with text_writer(folder / "study.toml") as stream:
        stream.write(file.read_text(encoding="utf-8"))
    with text_writer(folder / "cells.json") as stream:
        json.dump([json.loads(cell.to_json()) for cell in cells], stream, indent=0)
    done = {cell.key: _read_cell(folder, cell) for cell in cells}
    todo = [cell for cell in cells if done[cell.key] is None]
    watch = _Watch(study, len(cells), len(cells) - len(todo), tell)
    for cell in cells:
        if (outcome := done[cell.key]) is not None:
            watch.add(cell, outcome)
    tell(watch.progress(""))
    failed: list[tuple[Cell, Exception]] = []
    with closing(
        run_cells(compute_text, [cell.to_json() for cell in todo], jobs=jobs, dask=dask)
    ) as finished:
        for cell, text, error in _each(finished, todo):
            if error is not None:
                failed.append((cell, error))
                continue
            with text_writer(_cell_file(folder, cell)) as stream:
                stream.write(text)
            watch.add(cell, _outcome(json.loads(text)))
            tell(watch.progress(cell.title))
    if failed:
        cell, error = failed[0]
        if not isinstance(error, InputError):
            error.add_note(f"in the cell {cell.title}; the cells that are done are kept")
            raise error
        raise InputError(
            f"{len(failed)} of {len(cells)} cells failed; {cell.title}: {error}",
            "mend this and run again: the cells that are done are kept",
        )
    results = read_results(folder)[1]
    results.write(folder / "results.parquet")
    return results


def _each(finished: Iterable[Finished], todo: list[Cell]) -> Iterable[tuple[Cell, str, Exception | None]]:
    try:
        for place, text, error in finished:
            yield todo[place], text, error
    except ClusterError as error:
        raise InputError(str(error)) from None


def compute_text(description: str) -> str:
    """The result of a cell, both as JSON; what workers run. All of it but ``seconds`` is determined."""
    import warnings

    from topkit.compute import NotConverged
    from topkit.studies.kinds import KINDS

    cell = Cell.from_json(description)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # rankers say so in their traces, and there are many
        outcome = KINDS[cell.kind].compute(cell)
    return json.dumps(
        {
            "cell": cell.title,
            "seconds": round(time.perf_counter() - start, 3),
            "columns": outcome.columns,
            "facts": outcome.facts,
        },
        ensure_ascii=False,
    )


def read_results(folder: Path) -> tuple[Study, Results]:
    """The study of a folder and its results; an error if cells are missing."""
    for name in ("study.toml", "cells.json"):
        if not (folder / name).is_file():
            raise InputError(
                f"there is no {name}: this is no folder of a study",
                "name one that 'topkit study run' made",
                file=folder,
            )
    study = parse_study((folder / "study.toml").read_text(encoding="utf-8"), folder / "study.toml")
    cells = [Cell(**record) for record in json.loads((folder / "cells.json").read_text(encoding="utf-8"))]
    found = [_read_cell(folder, cell) for cell in cells]
    outcomes = [outcome for outcome in found if outcome is not None]
    if len(outcomes) < len(cells):
        raise InputError(
            f"{len(cells) - len(outcomes)} of {len(cells)} cells are not done",
            "run the study again first",
            file=folder,
        )
    return study, Results(tuple(cells), tuple(outcomes))


def _cell_file(folder: Path, cell: Cell) -> Path:
    return folder / "cells" / f"{cell.key}.json"


def _read_cell(folder: Path, cell: Cell) -> Outcome | None:
    """The outcome of a finished cell; None where there is none that can be read."""
    try:
        return _outcome(json.loads(_cell_file(folder, cell).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _outcome(record: dict[str, Any]) -> Outcome:
    return Outcome(record["columns"], {**record["facts"], "seconds": record["seconds"]})


class _Watch:
    """Keeps the headline value of each row of the study while cells come in."""

    def __init__(self, study: Study, total: int, kept: int, tell: Tell) -> None:
        self.study, self.total, self.kept = study, total, kept
        self.done = 0
        self.latest = ""
        self.rows: dict[str, list[float]] = {}

    def add(self, cell: Cell, outcome: Outcome) -> None:
        self.done += 1
        if not self.study.metrics:
            return
        headline = self.study.metrics[0]
        values = [
            value
            for name, value in zip(outcome.columns["metric"], outcome.columns["value"], strict=True)
            if name == headline
        ]
        self.latest = ""
        if values:
            row = " ".join(
                str(value) for name, value in cell.factors.items() if name not in ("fold", "seed", "draw")
            )
            self.rows.setdefault(row, []).append(float(np.mean(values)))
            self.latest = f"{headline} {np.mean(values):.4f}"

    def progress(self, latest: str) -> Progress:
        best = ""
        if self.rows:
            row, values = max(self.rows.items(), key=lambda item: float(np.mean(item[1])))
            best = f"best so far: {row} {np.mean(values):.4f}"
        return Progress(self.done, self.total, self.kept, f"{latest} {self.latest}".strip(), best)
