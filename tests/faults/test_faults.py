"""Faults while a command writes: its target is the old or the new whole file, and there is no traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fault_commands import COMMANDS as ALL_COMMANDS
from tests.support.fault_commands import Command, Finished, files_in, make_inputs, run, start

pytestmark = pytest.mark.slow

EVERYTHING = os.environ.get("TOPKIT_FAULTS") == "all"
"""Whether every writing command is tested (six minutes); by default three that write in different ways."""

QUICK = ("convert", "train", "split")
COMMANDS = {name: command for name, command in ALL_COMMANDS.items() if EVERYTHING or name in QUICK}

OLD = b"the old file\n"
FILES = [name for name, command in COMMANDS.items() if not command.makes_folder and name != "study new"]
"""Commands that write one file, which may exist already; ``study new`` refuses to replace a file."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    make_inputs(folder)
    return folder


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system without free space that holds an old file; skipped where mounting is not allowed."""
    folder = tmp_path / "full"
    folder.mkdir()
    with _mounted(folder):
        (folder / "old").write_bytes(OLD)
        yield folder


class _mounted:  # noqa: N801 - used like a function
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        command = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(self.folder)]
        if (
            shutil.which("mount") is None
            or subprocess.run(command, capture_output=True, check=False).returncode
        ):
            pytest.skip("mounting a file system is not allowed here")

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", "-l", str(self.folder)], check=True)


def _fill(folder: Path) -> None:
    """Write until the disk is full."""
    with (folder / "filler").open("wb", buffering=0) as stream:
        try:
            while stream.write(b"x" * 4096) == 4096:
                pass
        except OSError:
            return


def _line(command: Command, out: Path) -> str:
    return command.line.format(out=out)


def _says_why(finished: Finished) -> None:
    assert finished.code in (1, 2), finished.output
    assert "Traceback" not in finished.output, finished.output
    assert finished.output.strip()


@pytest.mark.parametrize("name", FILES)
def test_a_command_that_is_killed_leaves_the_old_file_and_can_be_run_again(
    name: str, inputs: Path, tmp_path: Path
) -> None:
    target = tmp_path / COMMANDS[name].file
    target.write_bytes(OLD)
    assert run(_line(COMMANDS[name], target), inputs, "kill").code == -9
    if name != "features":  # its index takes its place first
        assert target.read_bytes() == OLD
    run(_line(COMMANDS[name], target), inputs, check=True)
    assert target.read_bytes() != OLD


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if command.makes_folder])
def test_a_command_that_fills_a_folder_and_is_killed_can_be_run_again(
    name: str, inputs: Path, tmp_path: Path
) -> None:
    target = tmp_path / COMMANDS[name].file
    run(_line(COMMANDS[name], target), inputs, "kill")
    run(_line(COMMANDS[name], target), inputs, check=True)
    assert not [path for path in target.rglob("*") if path.is_file() and path.stat().st_size == 0]


@pytest.mark.parametrize("name", COMMANDS)
def test_out_of_memory_leaves_the_old_file_and_no_other(name: str, inputs: Path, tmp_path: Path) -> None:
    target = tmp_path / COMMANDS[name].file
    if name in FILES:
        target.write_bytes(OLD)
    _says_why(run(_line(COMMANDS[name], target), inputs, "memory"))
    assert not target.is_file() or target.read_bytes() == OLD
    assert not _leftovers(tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_a_folder_as_target_is_refused(name: str, inputs: Path, tmp_path: Path) -> None:
    target = tmp_path / COMMANDS[name].file
    target.mkdir()
    _says_why(run(_line(COMMANDS[name], target), inputs))
    assert target.is_dir()
    assert not files_in(target)
    assert not _leftovers(tmp_path)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_leaves_the_old_file_and_no_other(name: str, inputs: Path, full_disk: Path) -> None:
    target = full_disk / COMMANDS[name].file
    if name in FILES:
        target.write_bytes(OLD)
    _fill(full_disk)
    _says_why(run(_line(COMMANDS[name], target), inputs))
    if name in FILES:
        assert target.read_bytes() == OLD
    assert not _leftovers(full_disk)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_read_only_disk_keeps_the_old_file(name: str, inputs: Path, full_disk: Path) -> None:
    target = full_disk / COMMANDS[name].file
    if name in FILES:
        target.write_bytes(OLD)
    before = files_in(full_disk)
    subprocess.run(["mount", "-o", "remount,ro", str(full_disk)], check=True)
    _says_why(run(_line(COMMANDS[name], target), inputs))
    assert files_in(full_disk) == before


@pytest.mark.parametrize("name", FILES)
def test_commands_that_write_one_file_at_the_same_time_all_succeed(
    name: str, inputs: Path, tmp_path: Path
) -> None:
    target = tmp_path / COMMANDS[name].file
    processes = [start(_line(COMMANDS[name], target), inputs) for _ in range(4)]
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, outputs
    assert target.stat().st_size > 0
    assert not _leftovers(tmp_path)


def _leftovers(folder: Path) -> list[str]:
    """Temporary files: hidden ones, and those that are still being written."""
    return [
        name
        for name in files_in(folder)
        if any(part.startswith(".") for part in name.split(os.sep)) or name.endswith((".part", ".tmp"))
    ]
