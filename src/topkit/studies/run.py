"""Run a study: compute the cells that are not done yet, write each as its own file, then write the table.

The folder of a study holds ``study.toml`` (a copy of the study file), ``cells.json`` (all cells), ``cells/``
(one file per finished cell) and ``results.parquet``. A cell file is written completely or not at all, so an
interrupted study continues where it stopped, and its table equals that of an uninterrupted run.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topkit.compute import NotConverged, Report, run_cells, silent
from topkit.data import InputError
from topkit.data.files import text_writer
from topkit.data.frames_out import frame_of
from topkit.metrics import metric
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell, Outcome
from topkit.studies.kinds import KINDS
from topkit.studies.parts import Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.spec import Study
from topkit.studies.study_file import parse_study, read_study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOT_FACTORS_OF_A_ROW = ("fold", "seed", "draw")
"""Factors over which the progress display averages."""


class FinishedStudy(NamedTuple):
    """A study, its results, and the folder that holds both."""

    study: Study[Any]
    results: Results
    folder: Path

    def parts(self) -> list[Part]:
        """The headings, paragraphs, tables and plots of the report, in order."""
        return list(KINDS[self.study.kind].code.show(self.study, self.results))

    def tables(self) -> dict[str, ScoreTable]:
        """The tables by name; each has ``.table()`` (Markdown, LaTeX, HTML) and ``.to_frame()``."""
        return {part.name: part.scores for part in self.parts() if isinstance(part, TablePart)}

    def plots(self) -> dict[str, Figure]:
        """The plots by name, as matplotlib figures."""
        return {part.name: part.figure for part in self.parts() if isinstance(part, PlotPart)}

    def to_frame(self, backend: str | None = None) -> Any:
        """All values in one long data frame: factors of the cell, query, metric, value.

        backend: see :meth:`topkit.metrics.Evaluation.to_frame`.
        """
        return frame_of(self.results.columns(), backend)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables().values()))

    def _repr_html_(self) -> str:
        return "".join(table.table().html() for table in self.tables().values())


def run_study(
    file: str | PathLike[str],
    folder: str | PathLike[str],
    *,
    jobs: int = 1,
    dask: str | None = None,
    report: Report = silent,
) -> FinishedStudy:
    """Run the study in a file. Finished cells in the folder are kept and not computed again.

    ``jobs`` and ``dask`` are those of :func:`topkit.compute.run_cells`. ``report`` is called after each cell
    with the latest cell and the best row so far.
    """
    file, folder = Path(file), Path(folder)
    study = read_study(file)
    cells = list(KINDS[study.kind].code.cells(study))
    if not cells:
        raise InputError("the study has no cells", "add data sets, rankers or levels", file=file)
    _prepare_folder(file, folder, cells)
    outcomes = [_read_outcome(folder, cell) for cell in cells]
    standings = _Standings(study)
    for cell, outcome in zip(cells, outcomes, strict=True):
        if outcome is not None:
            standings.add(cell, outcome)
    todo = [place for place, outcome in enumerate(outcomes) if outcome is None]
    report(standings.text(), len(cells) - len(todo), len(cells), float("nan"))
    failures: list[tuple[Cell[Any], Exception]] = []
    descriptions = [cells[place].to_json() for place in todo]
    with closing(run_cells(compute_text, descriptions, jobs=jobs, dask=dask)) as finished:
        for number, text, error in finished:
            place = todo[number]
            if error is not None:
                failures.append((cells[place], error))
                continue
            with text_writer(_cell_file(folder, cells[place])) as stream:
                stream.write(text)
            outcome = outcomes[place] = _outcome(text)
            standings.add(cells[place], outcome)
            report(standings.text(cells[place]), standings.cells, len(cells), float("nan"))
    if failures:
        _raise_failure(failures, len(cells))
    results = Results(tuple(cells), tuple(outcome for outcome in outcomes if outcome is not None))
    results.write(folder / "results.parquet")
    return FinishedStudy(study, results, folder)


def _prepare_folder(file: Path, folder: Path, cells: Sequence[Cell[Any]]) -> None:
    (folder / "cells").mkdir(parents=True, exist_ok=True)
    for temporary in (folder / "cells").glob(".*"):  # left by a run that was killed while it wrote
        temporary.unlink(missing_ok=True)
    with text_writer(folder / "study.toml") as stream:
        stream.write(file.read_text(encoding="utf-8"))
    with text_writer(folder / "cells.json") as stream:
        json.dump([json.loads(cell.to_json()) for cell in cells], stream, indent=0)


def _raise_failure(failures: Sequence[tuple[Cell[Any], Exception]], total: int) -> None:
    cell, error = failures[0]
    if not isinstance(error, InputError):
        error.add_note(f"in the cell {cell.title}; finished cells are kept")
        raise error
    raise InputError(
        f"{len(failures)} of {total} cells failed; {cell.title}: {error}",
        "fix this and re-run: finished cells are kept",
    )


def compute_text(description: str) -> str:
    """The result of a cell, both as JSON; this is what workers run. Only ``seconds`` varies between runs."""
    record = json.loads(description)
    kind = KINDS[record["kind"]]
    cell = Cell.of_record(record, kind.code.work)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # recorded in the rankers' traces, and frequent
        outcome = kind.code.compute(cell)
    return json.dumps(
        {
            "cell": cell.title,
            "seconds": round(time.perf_counter() - start, 3),
            "columns": outcome.columns,
            "facts": outcome.facts,
        },
        ensure_ascii=False,
    )


def open_study(folder: str | PathLike[str]) -> FinishedStudy:
    """The finished study in a folder that ``topkit study run`` or :func:`run_study` wrote."""
    return read_finished(Path(folder))


def read_finished(folder: Path) -> FinishedStudy:
    """The study in a folder and its results; InputError if cells are missing."""
    for name in ("study.toml", "cells.json"):
        if not (folder / name).is_file():
            raise InputError(
                f"not a study folder: {name} is missing",
                "name a folder that 'topkit study run' wrote",
                file=folder,
            )
    study = parse_study((folder / "study.toml").read_text(encoding="utf-8"), folder / "study.toml")
    cells = _read_cells(folder / "cells.json", KINDS[study.kind].code.work)
    outcomes = [_read_outcome(folder, cell) for cell in cells]
    finished = [outcome for outcome in outcomes if outcome is not None]
    if len(finished) < len(cells):
        raise InputError(
            f"{len(cells) - len(finished)} of {len(cells)} cells are not done",
            "run the study again first",
            file=folder,
        )
    return FinishedStudy(study, Results(tuple(cells), tuple(finished)), folder)


def _read_cells(path: Path, work: type[Any]) -> list[Cell[Any]]:
    """The cells of a study as :meth:`Cell.to_json` described them."""
    try:
        return [Cell.of_record(record, work) for record in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            "the cells are not described as this version of topkit does; an older version wrote the folder",
            "run the study again, in a new folder",
            file=path,
        ) from None


def _cell_file(folder: Path, cell: Cell[Any]) -> Path:
    return folder / "cells" / f"{cell.key}.json"


def _read_outcome(folder: Path, cell: Cell[Any]) -> Outcome | None:
    """The outcome of a finished cell; None if its file is missing or damaged."""
    try:
        return _outcome(_cell_file(folder, cell).read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _outcome(text: str) -> Outcome:
    record = json.loads(text)
    return Outcome(record["columns"], {**record["facts"], "seconds": record["seconds"]})


class _Standings:
    """The headline value of each row of the study while cells come in, for the progress display."""

    def __init__(self, study: Study[Any]) -> None:
        self.headline = study.metrics[0] if study.metrics else ""
        self.cells = 0
        self.latest = ""
        self.rows: dict[str, list[float]] = {}

    def add(self, cell: Cell[Any], outcome: Outcome) -> None:
        """Include a finished cell."""
        self.cells += 1
        self.latest = ""
        values = [
            value
            for name, value in zip(outcome.columns["metric"], outcome.columns["value"], strict=True)
            if name == self.headline
        ]
        if values:
            row = " ".join(
                str(value) for name, value in cell.factors.items() if name not in NOT_FACTORS_OF_A_ROW
            )
            self.rows.setdefault(row, []).append(float(np.mean(values)))
            self.latest = f"{self.headline} {np.mean(values):.4f}"

    def text(self, cell: Cell[Any] | None = None) -> str:
        """The latest cell with its value, and the best row so far, on a line each."""
        latest = "" if cell is None else f"{cell.title} {self.latest}".strip()
        if not self.rows:
            return latest
        better = max if metric(self.headline).measure.greater_is_better else min
        means = {row: float(np.mean(values)) for row, values in self.rows.items()}
        best = better(means, key=lambda row: means[row])
        return f"{latest}\nbest so far: {best} {means[best]:.4f}".lstrip()
