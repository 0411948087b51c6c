"""Options that several commands share, and what reads them: data set files, and ``--set name=value``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

if TYPE_CHECKING:
    from topkit.data import Dataset

Regroup = Annotated[bool, Option("--regroup", help="Group the documents of a query that are not contiguous.")]
TruthName = Annotated[str, Option("--truth", help="What the labels mean: graded, order or top-K.")]
Seed = Annotated[int, Option(help="Seed of all random numbers.")]
Settings = Annotated[
    list[str] | None,
    Option("--set", help="A setting, such as k=10 or base_settings.passes=2. May be repeated."),
]
FILES = "LETOR or SVMlight text, CSV, TSV, JSON Lines or Parquet; compressed too."
Source = Annotated[Path, Argument(help=FILES)]


def read_dataset(path: Path, *, regroup: bool = False, truth: str = "graded") -> Dataset:
    """A data set in the format of its file name."""
    from topkit.data.formats import read_dataset

    return read_dataset(path, regroup=regroup, truth=truth)


def write_dataset(data: Dataset, path: Path) -> None:
    """Write a data set in the format of the file name."""
    from topkit.data.formats import write_dataset

    write_dataset(data, path)


def save_dataset(data: Dataset, path: Path) -> None:
    """Write a data set and print its size; to standard error if the data goes to standard output."""
    from topkit.data.words import counted
    from topkit.data.writers import is_standard_output

    write_dataset(data, path)
    sizes = [
        counted(data.n_queries, "query"),
        counted(len(data), "document"),
        counted(data.n_features, "feature"),
    ]
    typer.echo(f"{path}: {', '.join(sizes)}, {data.truth}", err=is_standard_output(path))


def ranker_settings(name: str, texts: Iterable[str]) -> dict[str, Any]:
    """The settings of a ranker, given as ``name=value`` texts."""
    from topkit.rankers import parse_settings

    return parse_settings(name, texts)


def fusion_settings(method: str, texts: Iterable[str]) -> dict[str, Any]:
    """The settings of a fusion method, given as ``name=value`` texts."""
    from topkit.data.settings import lookup, parse_settings, settings_of, split_assignments
    from topkit.fusion import AGGREGATORS

    known = settings_of(lookup(AGGREGATORS, method, "fusion method"))
    return parse_settings(known, split_assignments(texts), f"fusion method {method!r}")
