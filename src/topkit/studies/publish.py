"""What a study shows, written: tables as Markdown, LaTeX and CSV, plots as SVG, and one HTML report."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from pathlib import Path

from topkit.data.files import text_writer, written_whole
from topkit.studies.kind import Heading, Part, Plot, Table, Words
from topkit.studies.report import Report
from topkit.studies.results import Results
from topkit.studies.run import read_results
from topkit.studies.spec import Study
from topkit.studies.tables import as_csv, as_latex, as_markdown, as_text
from topkit.version import __version__

FILES = {"md": as_markdown, "tex": as_latex, "csv": as_csv}


def publish(folder: Path, bold: Callable[[str], str] = str) -> str:
    """Write tables, plots and ``report.html`` of a finished study; returns its tables as text."""
    from topkit.studies.kinds import KINDS

    study, results = read_results(folder)
    parts = list(KINDS[study.kind].show(study, results))
    report = Report(study.title)
    report.words(KINDS[study.kind].summary[0].upper() + KINDS[study.kind].summary[1:] + ".")
    texts: list[str] = []
    for part in parts:
        _write(part, folder)
        _add(part, report)
        if isinstance(part, Table):
            texts.append(as_text(part.table, bold))
        elif isinstance(part, Words):
            texts.append(part.text.replace("`", ""))
    _colophon(report, study, results, folder)
    report.write(folder / "report.html")
    return "\n\n".join(texts)


def file_name(name: str) -> str:
    """A part's name as a file's."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-").lower()


def _write(part: Part, folder: Path) -> None:
    if isinstance(part, Table):
        for ending, form in FILES.items():
            with text_writer(folder / f"table-{file_name(part.name)}.{ending}") as stream:
                stream.write(form(part.table) + "\n")
    elif isinstance(part, Plot):
        import matplotlib as mpl

        with (
            written_whole(folder / f"plot-{file_name(part.name)}.svg") as path,
            mpl.rc_context({"svg.hashsalt": "topkit"}),
        ):
            part.figure.savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None})


def _add(part: Part, report: Report) -> None:
    if isinstance(part, Heading):
        report.heading(part.text)
    elif isinstance(part, Words):
        report.words(part.text)
    elif isinstance(part, Table):
        report.table(part.table)
    else:
        report.figure(part.figure, part.caption)


def _colophon(report: Report, study: Study, results: Results, folder: Path) -> None:
    """What was run, with what, and how long it took."""
    seconds = [float(outcome.facts.get("seconds", 0.0)) for outcome in results.outcomes]
    longest = max(range(len(seconds)), key=seconds.__getitem__)
    report.heading("What was run")
    report.facts(
        {
            "cells": f"{len(seconds)}",
            "minutes of work": f"{sum(seconds) / 60:.1f}",
            f"seconds: {results.cells[longest].title}": f"{seconds[longest]:.1f}",
        }
    )
    report.words(
        f"topkit {__version__}, Python {platform.python_version()}. The file of the study follows; every "
        "value is in `results.parquet` beside this report."
    )
    report.code((folder / "study.toml").read_text(encoding="utf-8"))
