"""Makes a failing input smaller: drops ever smaller pieces of it while the failure stays the same."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from bench.fuzz.child import KILL_SECONDS, kind_of, outcome_of
from bench.fuzz.target import Prepared

MOST_SECONDS = 3.0


def failure_of(prepared: Prepared, content: bytes, valid: bool) -> str:
    """The kind of failure of an input, found in a process of its own; empty if there is none."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        signal.alarm(KILL_SECONDS)
        outcome, signature = outcome_of(prepared, content, valid)
        os.write(writer, (f"{outcome} {kind_of(signature)}" if signature else "").encode()[:4000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        answer = stream.read().decode("utf-8", "replace")
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    return answer


def make_smaller(prepared: Prepared, path: Path, seconds: float = MOST_SECONDS) -> None:
    """Replace the input in a file by a smaller one that fails in the same way."""
    content = path.read_bytes()
    valid = path.suffix == ".valid"
    failure = failure_of(prepared, content, valid)
    if not failure:
        print("the input does not fail on its own", file=sys.stderr)
        return
    end = time.monotonic() + seconds
    size = max(1, len(content) // 2)
    while size and time.monotonic() < end:
        place = 0
        while place < len(content) and time.monotonic() < end:
            shorter = content[:place] + content[place + size :]
            if failure_of(prepared, shorter, valid) == failure:
                content = shorter
            else:
                place += size
        size //= 2
    path.write_bytes(content)
