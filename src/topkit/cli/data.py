"""``topkit data``: look at data sets, convert, normalise and split them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from topkit.data import Dataset

app = typer.Typer(help="Look at data sets, convert, normalise and split them.", no_args_is_help=True)

Regroup = Annotated[bool, typer.Option("--regroup", help="Gather documents of a query that stand apart.")]
TruthName = Annotated[str, typer.Option("--truth", help="What the labels mean: graded, order or top-K.")]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]


def read_dataset(path: Path, *, regroup: bool = False, truth: str = "graded") -> Dataset:
    """A data set by the ending of its name: Parquet, or LETOR text, plain or gzip."""
    from topkit.data import read_letor, read_parquet

    if path.suffix == ".parquet":
        return read_parquet(path)
    return read_letor(path, regroup=regroup, truth=truth)


def write_dataset(data: Dataset, path: Path) -> None:
    """Write by the ending of the name, as :func:`read_dataset` reads."""
    if path.suffix == ".parquet":
        data.to_parquet(path)
    else:
        data.to_letor(path)


def _said(data: Dataset, path: Path) -> None:
    typer.echo(
        f"{path}: {data.n_queries} queries, {len(data)} documents, {data.n_features} features, {data.truth}"
    )


@app.command(no_args_is_help=True)
def info(
    files: Annotated[list[Path], typer.Argument(help="LETOR text (.gz too) or Parquet.")],
    regroup: Regroup = False,
) -> None:
    """Sizes, labels and features of data sets.

    Example: `topkit data info train.txt vali.txt.gz`
    """
    from topkit.data.describe import describe

    for path in files:
        facts = describe(read_dataset(path, regroup=regroup))
        labels = ", ".join(f"{label:g} ({count:,})" for label, count in facts.labels)
        constant = f", {facts.constant} of them constant" if facts.constant else ""
        missing = f", {facts.missing:.1%} of the values missing" if facts.missing else ""
        typer.echo(f"{path}")
        typer.echo(f"  queries    {facts.queries:,}, {facts.single_label:,} with one label only")
        typer.echo(
            f"  documents  {facts.documents:,}; a query has {facts.shortest} to {facts.longest}, "
            f"half of them up to {facts.median:g}"
        )
        typer.echo(f"  labels     {labels}")
        typer.echo(f"  features   {facts.features}{constant}{missing}")


@app.command(no_args_is_help=True)
def convert(
    source: Annotated[Path, typer.Argument(help="LETOR text (.gz too) or Parquet.")],
    target: Annotated[Path, typer.Argument(help="File to write: .parquet, .gz or plain text.")],
    to: Annotated[str | None, typer.Option(help="Convert the truth: order or top-K, such as top-10.")] = None,
    regroup: Regroup = False,
    truth: TruthName = "graded",
    seed: Seed = 0,
) -> None:
    """Convert between LETOR text and Parquet, and between kinds of truth.

    Examples: `topkit data convert train.txt train.parquet`

    `topkit data convert train.txt top10.parquet --to top-10 --seed 1`
    """
    from topkit.data import InputError, Truth

    data = read_dataset(source, regroup=regroup, truth=truth)
    if to is not None:
        wanted = Truth.parse(to)
        if wanted.kind == "graded":
            raise InputError("an order cannot be turned into grades", "convert to order or top-K")
        data = data.as_order(seed) if wanted.k is None else data.top_k(wanted.k, seed)
    write_dataset(data, target)
    _said(data, target)


@app.command(no_args_is_help=True)
def normalise(
    source: Annotated[Path, typer.Argument(help="LETOR text (.gz too) or Parquet.")],
    target: Annotated[Path, typer.Argument(help="File to write.")],
    method: Annotated[str, typer.Option(help="min-max, z-score or sortnet.")] = "min-max",
    mode: Annotated[str, typer.Option(help="replace the features, or append next to them.")] = "replace",
    regroup: Regroup = False,
) -> None:
    """Normalise features within each query.

    Example: `topkit data normalise train.txt train-norm.txt --method z-score`
    """
    from topkit.data import InputError, normalise

    if mode not in ("replace", "append"):
        raise InputError(f"unknown mode {mode!r}", "choose replace or append")
    chosen: Literal["replace", "append"] = "append" if mode == "append" else "replace"
    data = normalise(read_dataset(source, regroup=regroup), method, chosen)
    write_dataset(data, target)
    _said(data, target)


@app.command(no_args_is_help=True)
def split(
    source: Annotated[Path, typer.Argument(help="LETOR text (.gz too) or Parquet.")],
    folder: Annotated[Path, typer.Argument(help="Folder to write to; made if need be.")],
    folds: Annotated[int | None, typer.Option(help="This many folds: FoldN/train, vali, test.")] = None,
    shares: Annotated[str, typer.Option(help="Or shares of train, vali, test.")] = "0.6,0.2,0.2",
    ending: Annotated[str, typer.Option(help="Ending of the files: txt, txt.gz or parquet.")] = "txt",
    regroup: Regroup = False,
    seed: Seed = 0,
) -> None:
    """Split the queries into folds, or into train, vali and test.

    Examples: `topkit data split all.txt folds/ --folds 5`

    `topkit data split all.txt parts/ --shares 0.8,0.1,0.1`
    """
    from topkit.data import InputError, query_folds, split_queries

    data = read_dataset(source, regroup=regroup)
    names = ("train", "vali", "test")
    if folds is not None:
        parts = {f"Fold{i}": tuple(fold) for i, fold in enumerate(query_folds(data, folds, seed), 1)}
    else:
        try:
            numbers = [float(share) for share in shares.split(",")]
        except ValueError:
            raise InputError(f"{shares!r} are not shares", "for example --shares 0.6,0.2,0.2") from None
        if len(numbers) != 3:
            raise InputError(f"{len(numbers)} shares where 3 belong", "give those of train, vali and test")
        parts = {".": tuple(split_queries(data, numbers, seed))}
    for place, sets in parts.items():
        (folder / place).mkdir(parents=True, exist_ok=True)
        for name, part in zip(names, sets, strict=True):
            path = folder / place / f"{name}.{ending}"
            write_dataset(part, path)
            _said(part, path)
