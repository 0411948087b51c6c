"""The model in service: loaded from a file, and replaced as a whole by a newer one while requests run."""

from __future__ import annotations

import hashlib
import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.rankers import Learner, load_ranker
from topkit.serving.candidates import Candidates
from topkit.serving.probe import check_in_other_process
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
        self._last_stamp: Stamp | None = self.current.stamp

    def refresh(self) -> bool:
        """Load the file if it has changed since the last call; True if a new model is in service.

        Whatever goes wrong, the old model stays in service, ``problem`` says why, and the next change is
        tried again. Faults of the machine rather than of the file are tried again without a change.
        """
        try:
            stamp = _stamp(self.path)
        except OSError as error:
            self.fail(f"cannot read the model file ({error.strerror})")
            return False
        if stamp == self._last_stamp:
            if stamp == self.current.stamp:  # for example, the file was moved away and back
                self.problem = None
            return False
        self._last_stamp = stamp
        try:
            loaded = self._load()
        except Exception as error:
            if isinstance(error, (OSError, MemoryError)):
                self._last_stamp = None
            self.failures += self.fail(_reason(error))
            return False
        return self._put_in_service(loaded)

    def fail(self, problem: str) -> bool:
        """Record why the file is not in service; a new problem is logged, and gives True."""
        is_new = problem != self.problem
        if is_new:
            log.warning("kept the old model: %s", problem)
        self.problem = problem
        return is_new

    def _put_in_service(self, loaded: Served) -> bool:
        changed = loaded.sha256 != self.current.sha256
        if changed and loaded.width != self.current.width:
            log.warning("the new model expects %d features, the old %d", loaded.width, self.current.width)
        self.current, self.problem = loaded, None  # one assignment: a request uses the old or the new model
        self.reloads += changed
        return changed

    def _load(self) -> Served:
        """The model of a copy of the file: what is checked, hashed and loaded is then the same content."""
        with tempfile.TemporaryDirectory(prefix="topkit-") as folder:
            copy = Path(folder) / "model"
            try:
                stamp = _stamp(self.path)
                copy.write_bytes(self.path.read_bytes())
            except OSError:
                load_ranker(self.path)  # raises InputError with the reason if the file is missing or a folder
                raise
            try:
                check_in_other_process(copy)
                served = Served(load_ranker(copy), hashlib.sha256(copy.read_bytes()).hexdigest(), stamp)
            except InputError as error:
                raise InputError(error.problem, error.remedy, file=self.path, line=error.line) from None
        # The first call of a model is slow; do it here, before a request waits for it.
        try:
            served.score(Candidates(np.zeros((1, served.width), np.float32), np.array([0, 1])))
        except RefusedError as error:
            raise InputError(f"the model cannot score: {error.reason}", file=self.path) from None
        return served


def _stamp(path: Path) -> Stamp:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _reason(error: Exception) -> str:
    """One line that says why a file was not loaded."""
    if isinstance(error, InputError):
        return " ".join(str(error).split())
    if isinstance(error, OSError):
        return f"cannot read the model file ({error.strerror or type(error).__name__})"
    return f"cannot load the model file ({type(error).__name__}: {' '.join(str(error).split())})"
