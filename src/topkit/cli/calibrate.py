"""``topkit calibrate``: scores of a model as expected grades or probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from topkit.cli.shared import TruthName, read_dataset


def calibrate(
    model: Annotated[Path, Argument(help="A model file that topkit train wrote.")],
    data_file: Annotated[
        Path, Argument(metavar="DATA", help="Labelled data that the model was not trained on.")
    ],
    out: Annotated[Path, Option(help="The model file to write.")],
    method: Annotated[
        Literal["isotonic", "platt"], Option(help="A rising step function, or one sigmoid per grade.")
    ] = "isotonic",
    relevant: Annotated[
        float | None,
        Option(help="Scores become the probability of a label of at least this, not expected grades."),
    ] = None,
    truth: TruthName = "graded",
    quiet: Annotated[bool, Option("--quiet", help="Print only errors.")] = False,
) -> None:
    """Calibrate a model: its scores become expected grades or probabilities, its order stays the same.

    Examples: `topkit calibrate listnet.model vali.txt --out expected-grade.model`

    `topkit calibrate listnet.model vali.txt --method platt --relevant 1 --out probability.model`
    """
    from topkit.data.writers import is_standard_output
    from topkit.metrics import evaluate
    from topkit.rankers import calibrate_scores, load_ranker

    ranker, data = load_ranker(model), read_dataset(data_file, truth=truth)
    calibrated = calibrate_scores(ranker, data, method=method, relevant=relevant)
    calibrated.save(out)
    if not quiet:
        metric = "ece" if relevant is None else f"ece(rel={relevant:g})"
        errors = [evaluate(data, each.score(data), metric).mean[metric] for each in (ranker, calibrated)]
        typer.echo(
            f"{out}: {ranker.name}, calibrated ({method}); {metric} on this data {errors[0]:.4f} before, "
            f"{errors[1]:.4f} after",
            err=is_standard_output(out),
        )
