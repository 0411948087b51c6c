"""Score files: one number per line, in the order of the data set's documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.data.errors import InputError
from topkit.data.files import NUMBER, FilePath, numbered_lines, shown, text_writer

FORM = "write one number per line, one line per document of the data set"


def read_scores(path: FilePath, expected: int | None = None) -> NDArray[np.float64]:
    """Read scores (compressed too); with ``expected``, any other number of scores is an error."""
    scores: list[float] = []
    for line, text in numbered_lines(path):
        text = text.strip()
        if not NUMBER.fullmatch(text) or np.isinf(float(text)):
            raise InputError(f"{shown(text)!r} is not a finite number", FORM, file=path, line=line)
        scores.append(float(text))
    if not scores:
        raise InputError("the file has no scores", FORM, file=path)
    if expected is not None and len(scores) != expected:
        problem = f"expected {expected} scores, one per document, got {len(scores)}"
        raise InputError(problem, "the score file does not match the data set", file=path)
    return np.array(scores)


def write_scores(scores: ArrayLike, path: FilePath) -> None:
    """Write scores so that they read back exactly."""
    with text_writer(path) as stream:
        stream.writelines(f"{value!r}\n" for value in np.asarray(scores, np.float64).tolist())
