"""Commands that write files: what happens to --out when it is a dash, a folder, full, or interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import topkit as tk
from topkit import cli
from topkit.rankers.checks import easy_data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    data = easy_data(6)
    data.to_letor(folder / "data.txt")
    fitted = tk.ranker("listnet").fit(data)
    fitted.save(folder / "model")
    for name in ("a.run", "b.run"):
        tk.write_run(fitted.rank(data), folder / name)
    return folder


WRITING = {
    "train": ("train", "listnet", "--train", "data.txt", "--set", "max_steps=2", "--out"),
    "score": ("score", "model", "data.txt", "--out"),
    "fuse": ("fuse", "a.run", "b.run", "--method", "borda", "--out"),
    "export": ("export", "model", "--to", "json", "--out"),
    "convert": ("data", "convert", "data.txt"),
}


Captured = pytest.CaptureFixture[bytes]


def topkit(captured: Captured, *words: str) -> tuple[int, bytes, str]:
    """The exit code, the standard output and the standard error of a command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["topkit", *words])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
    output, errors = captured.readouterr()
    return int(exit_.value.code or 0), output, errors.decode()


@pytest.mark.parametrize("name", WRITING)
def test_a_dash_writes_the_content_and_nothing_else_to_standard_output(
    name: str, folder: Path, capfdbinary: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(os.listdir(folder))
    assert topkit(capfdbinary, *WRITING[name], "written")[0] == 0
    code, output, errors = topkit(capfdbinary, *WRITING[name], "-")
    assert code == 0, errors
    written = (folder / "written").read_bytes()
    (folder / "written").unlink()
    assert output == written
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("name", WRITING)
def test_a_full_disk_or_a_folder_is_one_line_and_exit_code_1(
    name: str, folder: Path, capfdbinary: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(os.listdir(folder))
    for out, message in (("/dev/full", "the disk is full"), (".", "this is a folder, not a file")):
        code, output, errors = topkit(capfdbinary, *WRITING[name], out)
        assert (code, output) == (1, b"")
        assert errors.splitlines()[-1].startswith("topkit: ")
        assert message in errors.splitlines()[-1]
    assert sorted(os.listdir(folder)) == before


INTERRUPTED_WHILE_WRITING = """
import os, signal, sys
from topkit.scale import score
parts = score._parts
def interrupted(*arguments):
    for part in parts(*arguments):
        yield part
        os.kill(os.getpid(), signal.SIGINT)
score._parts = interrupted
sys.argv = ["topkit", *sys.argv[1:]]
from topkit.__main__ import run
run()
"""
INTERRUPTED_AT_THE_START = """
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
from topkit.__main__ import run
run()
"""


@pytest.mark.parametrize("script", [INTERRUPTED_WHILE_WRITING, INTERRUPTED_AT_THE_START])
def test_an_interrupt_is_one_line_and_exit_code_130(script: str, folder: Path) -> None:
    before = sorted(os.listdir(folder))
    command = [sys.executable, "-c", script, *WRITING["score"], "scores"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert (result.returncode, result.stderr) == (130, "topkit: interrupted\n")
    assert sorted(os.listdir(folder)) == before
