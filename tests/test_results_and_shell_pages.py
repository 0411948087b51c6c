"""The code blocks of docs/results.md run in order, and so do the commands of docs/shell.md."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path

import pytest

import topkit as tk
from tests.support.pages import run_page
from topkit.rankers.checks import easy_data

DOCS = Path(__file__).parent.parent / "docs"
BLOCKS = re.findall(r"```console\n(.*?)```", (DOCS / "shell.md").read_text(), re.DOTALL)
COMMANDS = re.findall(r"^\$ (.*)$", "".join(BLOCKS), re.MULTILINE)


def test_code_blocks_of_the_results_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("narwhals")
    monkeypatch.chdir(tmp_path)
    run_page((DOCS / "results.md").read_text(encoding="utf-8"), "results.md")
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "results.svg").exists()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the commands name."""
    folder = tmp_path_factory.mktemp("shell")
    train, test = easy_data(12), easy_data(8, seed=1)
    train.to_letor(folder / "train.txt")
    test.to_letor(folder / "test.txt")
    (folder / "train.txt.gz").write_bytes(gzip.compress((folder / "train.txt").read_bytes()))
    for name, column in (("old", 0), ("new", 1)):
        tk.write_scores(test.X[:, column], folder / f"{name}.scores")
    tk.ranker("listnet").fit(train).save(folder / "old.model")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_shell_page(command: str, folder: Path) -> None:
    line = f'set -o pipefail; topkit() {{ "{sys.executable}" -m topkit "$@"; }}; {command}'
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout or ">" in command


def test_the_defaults_on_the_page_are_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    from typer.main import get_command

    from topkit import cli
    from topkit.cli.defaults import read_defaults

    (text,) = re.findall(r"```toml\n(.*?)```", (DOCS / "shell.md").read_text(), re.S)
    (tmp_path / "topkit.toml").write_text(text)
    commands = get_command(cli.command_line()).commands  # type: ignore[attr-defined]
    path = str(tmp_path / "topkit.toml")
    train = read_defaults(path, cli.COMMANDS, "train", commands["train"])
    assert train == {"train": {"settings": ["k=10", "seed=1"], "quiet": True}}
    for name in ("eval", "label"):
        assert read_defaults(path, cli.COMMANDS, name, commands[name])[name]
