"""Commands of topkit as a user types them, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def topkit(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command; its messages are plain text, 200 columns wide."""
    command = [sys.executable, "-m", "topkit", *map(str, words)]
    environment = os.environ | {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd, check=False)


def said(*words: object) -> str:
    """What a command printed; it must succeed."""
    result = topkit(*words)
    assert result.returncode == 0, result.stderr
    return result.stdout
