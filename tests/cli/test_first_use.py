"""What a newcomer meets first: missing extras are named before the work starts, help texts are complete."""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from topkit.cli import command_line
from topkit.compute.extras import MissingExtraError

PEOPLE = "query,a,b,answer,assessor\nq1,d1,d2,a,ann\nq1,d1,d2,a,bob\n"
STUDY = 'kind = "compare"\nrankers = ["bestfeature"]\n[[data]]\nname = "demo"\nfiles = "demo"\n'


@pytest.fixture
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def found(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "matplotlib" else find(name, package)

    monkeypatch.setattr("topkit.compute.extras.find_spec", found)


@pytest.mark.usefixtures("no_matplotlib")
@pytest.mark.parametrize(
    ("words", "extra"),
    [
        ("study run study.toml --out results", "plots"),
        ("label audit-judge people.csv --simulate flips=0.1 --out results", "plots"),
        ("label simulate --sizes 4:2 --orders 1 --plot results", "plots"),
        ("diagnose test.txt old.scores new.scores --out results", "plots"),
        ("demo --out results", "plots,text"),
    ],
)
def test_a_report_without_matplotlib_is_refused_before_the_work_starts(
    words: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY)
    Path("people.csv").write_text(PEOPLE)
    Path("test.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.1\n")
    Path("old.scores").write_text("1\n0\n")
    Path("new.scores").write_text("0\n1\n")
    done = CliRunner().invoke(command_line(), words.split())
    assert isinstance(done.exception, MissingExtraError), done.output
    assert f"pip install 'topkit[{extra}]'" in str(done.exception)
    assert not done.stdout
    assert not Path("results").exists()


@pytest.mark.parametrize("command", ["diagnose", "features build"])
def test_help_shows_the_form_of_a_query_file(command: str) -> None:
    shown = CliRunner().invoke(command_line(), [*command.split(), "--help"]).stdout
    assert "id, tab, text" in " ".join(shown.replace("│", " ").split())


def test_agreement_of_one_assessor_says_that_two_are_needed(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("query,a,b,answer,assessor,seconds\nq1,d1,d2,a,ann,5\nq1,d2,d3,b,ann,4\n")
    done = CliRunner().invoke(command_line(), ["label", "agreement", str(file), "--assessors"])
    assert done.exit_code == 0, done.output
    assert "no pair was judged by two assessors" in done.stdout
    assert "nan" not in done.stdout


def test_the_format_of_judgments_has_the_same_name_in_both_commands() -> None:
    for command in ("features build", "eval"):
        shown = CliRunner().invoke(command_line(), [*command.split(), "--help"], env={"COLUMNS": "200"})
        assert "--qrels-format" in shown.stdout
