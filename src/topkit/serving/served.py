"""The model in service: loaded from its file, and swapped for a newer one as a whole while requests run."""

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


@dataclass(frozen=True)
class Served:
    """A loaded model; immutable, so a request that holds one is not touched by a swap."""

    ranker: Learner
    sha256: str
    stamp: Stamp

    def score(self, candidates: Candidates) -> NDArray[np.float64]:
        """Scores of all candidates; rankers with an order only give n, n−1, … 1 within each query."""
        try:
            data = candidates.dataset()
            scores = self.ranker.ordering_scores(data)
        except InputError as error:
            raise RefusedError(422, str(error)) from None
        if not np.isfinite(scores).all():
            raise RefusedError(422, "the features are so large that a score is not a finite number")
        return scores

    @property
    def width(self) -> int:
        """Features that a candidate must have."""
        return len(self.ranker.preparation.names) if self.ranker.preparation else 0


class ModelFile:
    """A model file that may be replaced at any time; ``current`` is always a whole model."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.current = self._load()
        self.seen = self.current.stamp
        self.reloads = 0
        self.failures = 0
        self.problem: str | None = None
        """Why the file as it is now is not in service, or None."""

    def refresh(self) -> bool:
        """Load the file if it has changed since it was last looked at; True if a new model is in service.

        A file that cannot be loaded leaves the old model in service, and is tried again when it changes.
        """
        try:
            stamp = _stamp(self.path)
        except OSError as error:
            self.problem = f"the model file cannot be seen ({error.strerror})"
            return False
        if stamp == self.seen:
            return False
        self.seen = stamp
        try:
            fresh = self._load()
        except (InputError, OSError) as error:
            self.failures += 1
            self.problem = str(error)
            log.warning("kept the model in service: %s", error)
            return False
        changed = fresh.sha256 != self.current.sha256
        if changed and fresh.width != self.current.width:
            log.warning("the new model wants %d features, the old %d", fresh.width, self.current.width)
        self.current, self.problem = fresh, None  # one assignment: a request sees the old or the new
        self.reloads += changed
        return changed

    def _load(self) -> Served:
        stamp = _stamp(self.path) if self.path.exists() else (0, 0, 0)
        ranker = load_ranker(self.path)
        loaded = Served(ranker, hashlib.sha256(self.path.read_bytes()).hexdigest(), stamp)
        # the first use of a model costs more than the others; it is made here, before anybody waits
        loaded.score(Candidates(np.zeros((1, loaded.width), np.float32), np.array([0, 1])))
        return loaded


def _stamp(path: Path) -> Stamp:
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino
