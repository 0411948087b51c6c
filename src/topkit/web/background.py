"""Work beside the requests: a thread that delivers webhooks and writes scheduled exports."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

log = logging.getLogger(__name__)
INTERVAL = 5.0
"""Seconds between two rounds."""


class Background:
    """Calls functions again and again in a thread of its own. A function that fails is tried again."""

    def __init__(self, jobs: Sequence[Callable[[], object]], interval: float = INTERVAL) -> None:
        self._jobs, self._interval = jobs, interval
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="background", daemon=True)

    def start(self) -> None:
        """Start the thread; the first round begins after the interval."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the present job."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._interval):
            for job in self._jobs:
                if self._stop.is_set():
                    return
                try:
                    job()
                except Exception:  # the other jobs, and the next round, must not suffer
                    log.exception("a background job failed")
