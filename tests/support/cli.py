"""Commands of topkit as a user types them, each in a process of its own or in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from topkit import cli


def topkit(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command; its messages are plain text, 200 columns wide."""
    command = [sys.executable, "-m", "topkit", *map(str, words)]
    environment = os.environ | {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd, check=False)


def topkit_here(*words: object) -> subprocess.CompletedProcess[str]:
    """The same in this process, which saves starting one; an error that the user can fix is exit code 1."""
    from typer.testing import CliRunner

    from topkit.cli import command_line
    from topkit.data import InputError

    done = CliRunner().invoke(command_line([str(words[0])]), [str(word) for word in words])
    error = f"topkit: {done.exception}" if isinstance(done.exception, InputError) else done.stderr
    if done.exception is not None and not isinstance(done.exception, InputError | SystemExit):
        raise done.exception
    code = 1 if isinstance(done.exception, InputError) else done.exit_code
    return subprocess.CompletedProcess([str(word) for word in words], code, done.stdout, error)


def said(*words: object) -> str:
    """What a command printed; it must succeed."""
    result = topkit(*words)
    assert result.returncode == 0, result.stderr
    return result.stdout


def run_here(captured: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run a command in this process, which is quicker: its exit code, output and messages."""
    captured.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["topkit", *map(str, words)])
        patch.setenv("COLUMNS", "200")
        patch.setenv("NO_COLOR", "1")
        patch.setenv("TERM", "dumb")
        with pytest.raises(SystemExit) as exit_:
            cli.main()
    output, errors = captured.readouterr()
    return int(exit_.value.code or 0), output, errors
