"""``topkit score``: score a data set with a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option


def score(
    model: Annotated[Path, Argument(help="A model file that topkit train wrote.")],
    data_file: Annotated[Path, Argument(metavar="DATA", help="LETOR text (.gz too) or Parquet.")],
    out: Annotated[Path, Option(help="The file to write.")],
    form: Annotated[
        str, Option("--format", help="scores (one number per line) or run (a TREC run).")
    ] = "scores",
) -> None:
    """Score or rank the documents of a data set with a model; the data may be larger than memory.

    Examples: `topkit score focused.model test.txt --out focused.scores`

    `topkit score focused.model test.parquet --format run --out focused.run`
    """
    from topkit.rankers import load_ranker
    from topkit.reporting.progress import busy
    from topkit.scale.score import score_file

    with busy("scoring") as show:
        score_file(
            load_ranker(model),
            data_file,
            out,
            form,
            progress=lambda documents: show(f"scored {documents:,} documents"),
        )
