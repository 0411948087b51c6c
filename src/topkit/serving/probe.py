"""A trial of a model file in a separate process.

Tree models are read and scored by LightGBM, whose native code can crash or loop for ever on a damaged file
that passes all checks. The service tries such a file here first, so that only this process ends.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from topkit.data import Dataset, InputError
from topkit.rankers import load_ranker
from topkit.rankers.files import read_model

SECONDS = 60.0
"""How long the trial may take. It takes about a second, most of it for starting Python."""
PROBE_VALUES = (0.0, 1e30, -1e30, np.nan)
"""Feature values of the rows that are scored: they take different paths through the trees."""


def check_in_other_process(path: Path) -> None:
    """Raise InputError if loading and scoring the model crashes or does not end.

    Models without trees run in NumPy, which raises exceptions instead, so they need no process. Files with
    other faults pass; loading them gives a better message.
    """
    if not read_model(path)[1].texts:
        return
    command = [sys.executable, "-m", "topkit.serving.probe", str(path)]
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"the model does not score within {SECONDS:g} seconds", "train it again") from None
    if done.returncode < 0:
        raise InputError(
            f"the model file is damaged: scoring crashes with signal {-done.returncode}", "train it again"
        )


def try_model(path: Path) -> None:
    """Load the model and score a few rows."""
    ranker = load_ranker(path)
    width = len(ranker.preparation.names) if ranker.preparation else 0
    rows = np.repeat(np.array(PROBE_VALUES, np.float32)[:, None], width, axis=1)
    ranker.ordering_scores(Dataset.build(rows, np.zeros(len(rows)), ["q"] * len(rows)))


if __name__ == "__main__":
    try:
        try_model(Path(sys.argv[1]))
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")
