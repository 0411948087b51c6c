"""``topkit export``: write a model in a format that another program reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option


def export(
    model: Annotated[Path, Argument(help="A model file that topkit train wrote.")],
    to: Annotated[str, Option(help="onnx, elasticsearch, elasticsearch-ranklib, solr or json.")],
    out: Annotated[Path, Option(help="The file to write.")],
) -> None:
    """Write a model for another program: ONNX runtimes, Elasticsearch, OpenSearch, Solr, or plain JSON.

    Example: `topkit export focused.model --to onnx --out focused.onnx`
    """
    from topkit.data.writers import is_standard_output
    from topkit.export import write_export
    from topkit.rankers import load_ranker

    ranker = load_ranker(model)
    write_export(ranker, to, out)
    typer.echo(f"{out}: {ranker.name} as {to}", err=is_standard_output(out))
