"""The files of a finished study: tables as Markdown, LaTeX and CSV, plots as SVG, and one HTML report."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from pathlib import Path

from topkit.data.files import text_writer
from topkit.reporting.html import Page
from topkit.reporting.plots import save_figure
from topkit.reporting.tables import FORMATS
from topkit.studies.kinds import KINDS
from topkit.studies.parts import Heading, Paragraph, Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.run import FinishedStudy
from topkit.version import __version__

ENDINGS = {"md": "markdown", "tex": "latex", "csv": "csv"}
"""File name ending → format of a table."""


def publish(finished: FinishedStudy, emphasise: Callable[[str], str] = str) -> str:
    """Write tables, plots and ``report.html`` to the study's folder; returns tables and texts to print.

    ``emphasise`` wraps the best values in the returned text.
    """
    study, results, folder = finished
    kind = KINDS[study.kind]
    page = Page(study.title)
    page.paragraph(kind.summary[0].upper() + kind.summary[1:] + ".")
    texts: list[str] = []
    for part in finished.parts():
        _write(part, folder)
        _add(part, page)
        if isinstance(part, TablePart):
            texts.append(part.scores.table().text(emphasise))
        elif isinstance(part, Paragraph):
            texts.append(part.text.replace("`", ""))
    _add_provenance(page, results, folder)
    page.write(folder / "report.html")
    return "\n\n".join(texts)


def file_name(name: str) -> str:
    """A part's name with only letters, digits, dots and hyphens."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-").lower()


def _write(part: Part, folder: Path) -> None:
    if isinstance(part, TablePart):
        for ending, form in ENDINGS.items():
            with text_writer(folder / f"table-{file_name(part.name)}.{ending}") as stream:
                stream.write(FORMATS[form](part.scores) + "\n")
    elif isinstance(part, PlotPart):
        save_figure(part.figure, folder / f"plot-{file_name(part.name)}.svg")


def _add(part: Part, page: Page) -> None:
    if isinstance(part, Heading):
        page.heading(part.text)
    elif isinstance(part, Paragraph):
        page.paragraph(part.text)
    elif isinstance(part, TablePart):
        page.table(part.scores.table())
    else:
        page.plot(part.figure, part.caption)


def _add_provenance(page: Page, results: Results, folder: Path) -> None:
    """What was run, with which versions, and how long it took."""
    seconds = [float(outcome.facts.get("seconds", 0.0)) for outcome in results.outcomes]
    longest = max(range(len(seconds)), key=seconds.__getitem__)
    page.heading("What was run")
    page.figures(
        {
            "cells": f"{len(seconds)}",
            "minutes of computing": f"{sum(seconds) / 60:.1f}",
            f"seconds for the longest cell, {results.cells[longest].title}": f"{seconds[longest]:.1f}",
        }
    )
    page.paragraph(
        f"topkit {__version__}, Python {platform.python_version()}. The study file follows; all values are "
        "in `results.parquet` next to this report."
    )
    page.code((folder / "study.toml").read_text(encoding="utf-8"))
