"""Progress is shown on a terminal only; a study also writes lines to a log."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from topkit.compute import silent
from topkit.reporting.progress import busy, counter, progress, stepper


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_shown_if_quiet_or_not_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("Training") as report:
        report("loss", 1, 2, 0.5)
    with progress("Training", quiet=True, lines=True) as report:
        assert report is silent
    with busy("reading") as show:
        show("more")
    assert capsys.readouterr() == ("", "")


def test_lines_for_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("cells", lines=True) as report:
        for step in range(101):
            report("latest\nbest", step, 100, float("nan"))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11
    assert lines[1] == "cells: 10 of 100; latest; best"


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with progress("Training") as report:
        report("loss", 3, 10, 0.25)
    assert "Training" in terminal.getvalue()
    assert "3/10" in terminal.getvalue()
    assert "loss 0.25" in terminal.getvalue()


def test_counters_without_values() -> None:
    steps: list[tuple[str, int, int]] = []

    def report(what: str, step: int, total: int, value: float) -> None:
        assert value != value
        steps.append((what, step, total))

    counter(report, "files")(2, 5)
    advance = stepper(report, 3)
    advance()
    advance()
    assert steps == [("files", 2, 5), ("", 1, 3), ("", 2, 3)]


def test_rich_is_imported_only_for_a_terminal() -> None:
    script = (
        "import sys; from topkit.reporting.progress import progress\n"
        "with progress('x') as report: report('', 1, 2, 0.0)\n"
        "print('rich' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "False"
