"""Commands of topkit as a user types them, each in a process of its own or in this one."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from topkit import cli

PLAIN = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
"""Settings for plain text, 200 columns wide."""


def topkit(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command; its messages are plain text, 200 columns wide."""
    command = [sys.executable, "-m", "topkit", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, env=os.environ | PLAIN, cwd=cwd, check=False
    )


def topkit_here(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The same in this process, which saves a second per command; for what does not depend on the process."""
    output, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code = 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")  # a command prints warnings; pytest would raise them
        patch.setattr(sys, "argv", ["topkit", *map(str, words)])
        for name, value in PLAIN.items():
            patch.setenv(name, value)
        patch.chdir(cwd or Path.cwd())
        try:
            cli.main()
        except SystemExit as exit_:
            code = int(exit_.code or 0)
    texts = []
    for stream in (output, errors):
        stream.flush()
        stream.seek(0)
        texts.append(stream.read())
    return subprocess.CompletedProcess(list(map(str, words)), code, *texts)


def said(*words: object) -> str:
    """What a command printed in this process; it must succeed."""
    result = topkit_here(*words)
    assert result.returncode == 0, result.stderr
    return result.stdout


def run_here(captured: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run a command in this process, which is quicker: its exit code, output and messages."""
    captured.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["topkit", *map(str, words)])
        for name, value in PLAIN.items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as exit_:
            cli.main()
    output, errors = captured.readouterr()
    return int(exit_.value.code or 0), output, errors
