"""The tutorial, executed: files are written, commands run and examples checked in the order of the page."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.support.pages import run_commands

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"


@pytest.mark.slow
def test_every_step_of_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKIT_THREADS", "1")  # studies then run in this process
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    commands = 0
    for language, text in blocks:
        if language == "console":
            commands += run_commands(text)
        elif language == "toml":
            name = text.splitlines()[0].removeprefix("# ")
            Path(name).write_text(text)
        elif language == "python":
            test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
            assert doctest.DocTestRunner().run(test).failed == 0
        else:
            raise AssertionError(language)
    assert commands == 9
    for folder in ("demo", "mine.study", "budget.study"):
        assert (tmp_path / folder / "report.html").stat().st_size > 10_000
