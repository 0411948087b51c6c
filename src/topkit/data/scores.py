"""Score files: one number a line, in the order of the data set's documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.data.errors import InputError
from topkit.data.files import FilePath, line_chunks, text_writer
from topkit.data.letor import NUMBER

FORM = "write one number a line, a line for each document of the data set"


def read_scores(path: FilePath, expected: int | None = None) -> NDArray[np.float64]:
    """Read scores (``.gz`` too); with ``expected``, refuse any other count."""
    texts: list[bytes] = []
    for chunk, first_line in line_chunks(path):
        for line, text in enumerate(chunk.split(b"\n")[:-1], first_line):
            text = text.strip()
            if not NUMBER.fullmatch(text) or np.isinf(float(text)):
                shown = text[:40].decode("utf-8", "replace")
                raise InputError(f"{shown!r} is not a number", FORM, file=path, line=line)
            texts.append(text)
    if not texts:
        raise InputError("the file holds no scores", FORM, file=path)
    if expected is not None and len(texts) != expected:
        problem = f"{len(texts)} scores for {expected} documents"
        raise InputError(problem, "give the scores of this very data set", file=path)
    return np.array([float(text) for text in texts])


def write_scores(scores: ArrayLike, path: FilePath) -> None:
    """Write scores so that they read back exactly."""
    with text_writer(path) as stream:
        stream.writelines(f"{value!r}\n" for value in np.asarray(scores, np.float64).tolist())
