"""Scoring a file of any size: read, score and write some queries at a time."""

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


def score_file(
    ranker: Learner,
    path: str | PathLike[str],
    out: str | PathLike[str],
    form: str = "scores",
    *,
    rows: int = 1 << 16,
    progress: Callable[[int], None] = lambda documents: None,
) -> int:
    """Write the scores (a number a line) or the run of a data file; how many documents it had.

    The file may be larger than memory: about ``rows`` documents of it are held at once.
    """
    if form not in FORMS:
        raise InputError(f"unknown format {form!r}", "choose scores or run")
    done = 0
    with text_writer(out) as stream:
        for data in _fitting(ranker, path, rows):
            if form == "run":
                stream.writelines(run_lines(ranker.rank(data)))
            else:
                stream.writelines(f"{score!r}\n" for score in ranker.score(data).tolist())
            done += len(data)
            progress(done)
    return done


def _fitting(ranker: Learner, path: str | PathLike[str], rows: int) -> Iterator[Dataset]:
    """The file in parts; parts of text that leave out the last features get zeros for them.

    A file whose every part leaves some out was made for something else, which is told at its end.
    """
    width = len(ranker.preparation.names) if ranker.preparation else 0
    text, widest = Path(path).suffix != ".parquet", 0
    for data in stream_dataset(path, rows):
        widest = max(widest, data.n_features)
        yield widened(data, width) if text else data
    if widest < width:
        raise InputError(
            f"the ranker was trained on {width} features, the data has {widest}",
            "give data made by the same feature extraction",
            file=path,
        )
