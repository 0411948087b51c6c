"""The model in service: loaded from a file, and replaced as a whole by a newer one while requests run."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.rankers import Learner, load_ranker
from topkit.serving.candidates import Candidates
from topkit.serving.refusal import RefusedError

log = logging.getLogger("topkit.serving")

Stamp = tuple[int, int, int]
"""Modification time, size and inode of a file."""


@dataclass(frozen=True)
class Served:
    """A loaded model. It is immutable, so a reload does not affect requests that already use it."""

    ranker: Learner
    sha256: str
    stamp: Stamp

    def score(self, candidates: Candidates) -> NDArray[np.float64]:
        """Scores of all candidates. Rankers that only order documents give n, n−1, … 1 within each query."""
        try:
            scores = self.ranker.ordering_scores(candidates.dataset())
        except InputError as error:
            raise RefusedError(422, str(error)) from None
        if not np.isfinite(scores).all():
            raise RefusedError(422, "the features are too large: a score is not a finite number")
        return scores

    @property
    def width(self) -> int:
        """Number of features per candidate."""
        return len(self.ranker.preparation.names) if self.ranker.preparation else 0


class ModelFile:
    """A model file that may be replaced at any time; ``current`` is always a complete model."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.current = self._load()
        self.reloads = 0
        self.failures = 0
        self.problem: str | None = None
        """Why the present content of the file is not in service, or None."""
        self._last_stamp = self.current.stamp

    def refresh(self) -> bool:
        """Load the file if it has changed since the last call; True if a new model is in service.

        If the file cannot be loaded, the old model stays in service, and the next change is tried again.
        """
        try:
            stamp = _stamp(self.path)
        except OSError as error:
            self.problem = f"cannot read the model file ({error.strerror})"
            return False
        if stamp == self._last_stamp:
            return False
        self._last_stamp = stamp
        try:
            loaded = self._load()
        except (InputError, OSError) as error:
            self.failures += 1
            self.problem = str(error)
            log.warning("kept the old model: %s", error)
            return False
        changed = loaded.sha256 != self.current.sha256
        if changed and loaded.width != self.current.width:
            log.warning("the new model expects %d features, the old %d", loaded.width, self.current.width)
        self.current, self.problem = loaded, None  # one assignment: a request uses the old or the new model
        self.reloads += changed
        return changed

    def _load(self) -> Served:
        stamp = _stamp(self.path) if self.path.exists() else (0, 0, 0)
        ranker = load_ranker(self.path)
        served = Served(ranker, hashlib.sha256(self.path.read_bytes()).hexdigest(), stamp)
        # The first call of a model is slow; do it here, before a request waits for it.
        served.score(Candidates(np.zeros((1, served.width), np.float32), np.array([0, 1])))
        return served


def _stamp(path: Path) -> Stamp:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino
