"""Scoring a file of any size: read, score and write part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path

from topkit.data import Dataset, InputError
from topkit.data.files import text_writer
from topkit.data.streaming import stream_dataset, widened
from topkit.data.trec import run_lines
from topkit.rankers import Learner

FORMS = ("scores", "run")
"""Output formats."""


def score_file(
    ranker: Learner,
    path: str | PathLike[str],
    out: str | PathLike[str],
    form: str = "scores",
    *,
    rows: int = 1 << 16,
    progress: Callable[[int], None] = lambda documents: None,
) -> int:
    """Write the scores (one number per line) or the run of a data file; returns the number of documents.

    The file may be larger than memory: about ``rows`` documents are held at once.
    """
    if form not in FORMS:
        raise InputError(f"unknown format {form!r}", f"choose from {', '.join(FORMS)}")
    done = 0
    with text_writer(out) as stream:
        for data in _parts(ranker, path, rows):
            if form == "run":
                stream.writelines(run_lines(ranker.rank(data)))
            else:
                stream.writelines(f"{score!r}\n" for score in ranker.score(data).tolist())
            done += len(data)
            progress(done)
    return done


def _parts(ranker: Learner, path: str | PathLike[str], rows: int) -> Iterator[Dataset]:
    """The file in parts; parts of a text file that omit the last features get zeros for them.

    If every part omits some, the file has too few features; only the end of the file can tell.
    """
    width = len(ranker.fitted()[1].names)
    text, widest = Path(path).suffix != ".parquet", 0
    for data in stream_dataset(path, rows):
        widest = max(widest, data.n_features)
        yield widened(data, width) if text else data
    if widest < width:
        raise InputError(
            f"the ranker was trained on {width} features, the data has {widest}",
            "use data from the same feature extraction",
            file=path,
        )
