"""Options and functions for data set files that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from topkit.data import Dataset

Regroup = Annotated[
    bool, typer.Option("--regroup", help="Group the documents of a query that are not contiguous.")
]
TruthName = Annotated[str, typer.Option("--truth", help="What the labels mean: graded, order or top-K.")]
Seed = Annotated[int, typer.Option(help="Seed of all random numbers.")]
FILES = "LETOR or SVMlight text, CSV, TSV, JSON Lines or Parquet; .gz too."
Source = Annotated[Path, typer.Argument(help=FILES)]


def read_dataset(path: Path, *, regroup: bool = False, truth: str = "graded") -> Dataset:
    """A data set in the format of its file name."""
    from topkit.data.formats import read_dataset

    return read_dataset(path, regroup=regroup, truth=truth)


def write_dataset(data: Dataset, path: Path) -> None:
    """Write a data set in the format of the file name."""
    from topkit.data.formats import write_dataset

    write_dataset(data, path)


def print_size(data: Dataset, path: Path) -> None:
    """Print the size of a data set that was written."""
    from topkit.reporting.words import counted

    sizes = [
        counted(data.n_queries, "query"),
        counted(len(data), "document"),
        counted(data.n_features, "feature"),
    ]
    typer.echo(f"{path}: {', '.join(sizes)}, {data.truth}")
