"""Servers of the labelling app that start in a tenth of a second, for ``bench.web_kills``.

``topkit label serve`` spends most of its start on imports. A parent process imports the app once and forks
a process per server. The fork does what the command does after its imports, with its own connections, event
loop, threads and listening socket, and is killed as a whole. Nothing that it has done survives in the parent.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from importlib import import_module
from typing import NoReturn

MODULES = (
    "topkit.web.serve",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)
"""What a server imports; uvicorn chooses some of its modules when it starts."""


class ForkedServer:
    """``topkit label serve``, forked from a process that has imported it."""

    def __init__(self, database: str) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "bench.web_forks", database],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.process_id = self.port = 0
        self.start()

    def start(self, port: int = 0) -> None:
        """Fork a server; returns when it listens."""
        assert self._parent.stdin is not None
        self._parent.stdin.write(f"{port}\n")
        self._parent.stdin.flush()
        self.process_id = int(self._line_with(r"process (\d+) starts"))
        self.port = int(self._line_with(r"serving on http://[\w.]+:(\d+)"))

    def kill(self) -> None:
        """Kill the server with SIGKILL; returns when it is gone."""
        os.kill(self.process_id, signal.SIGKILL)
        ended = int(self._line_with(rf"process {self.process_id} ended by signal (\d+)"))
        assert ended == signal.SIGKILL, f"the server had ended before, by signal {ended}"

    def close(self) -> None:
        """End the parent, after the server was killed."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.close()
        self._parent.wait()
        self._parent.stdout.close()

    def _line_with(self, pattern: str) -> str:
        """The group of the next line that matches; other lines, such as the admin link, are skipped."""
        assert self._parent.stdout is not None
        for line in self._parent.stdout:
            found = re.search(pattern, line)
            if found is not None:
                return found[1]
        raise AssertionError(f"the server ended before it printed {pattern!r}")


def main(database: str) -> None:
    """Import the app; then fork one server per line of standard input, which contains its port."""
    for module in MODULES:
        import_module(module)
    from topkit.web.pages.render import compile_templates
    from topkit.web.settings import Settings
    from topkit.web.store import open_store

    open_store(Settings(database)).close()  # imports the driver and the migrations; no connection stays open
    compile_templates()
    for line in sys.stdin:
        process_id = os.fork()
        if process_id == 0:
            _serve(database, int(line))
        _, status = os.waitpid(process_id, 0)
        print(f"process {process_id} ended by signal {os.WTERMSIG(status)}", flush=True)


def _serve(database: str, port: int) -> NoReturn:
    from topkit.web.serve import serve
    from topkit.web.settings import Settings

    print(f"process {os.getpid()} starts", flush=True)
    serve(Settings(database), "127.0.0.1", port, "admin", lambda text: print(text, flush=True))
    sys.exit()


if __name__ == "__main__":
    main(sys.argv[1])
