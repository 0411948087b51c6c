"""Options that several commands share, and what reads them: data set files, and ``--set name=value``."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

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


def option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command declare options as the fields of dataclasses.

    Typer reads the options of a command from its signature. In the signature of the decorated command, each
    parameter that is a dataclass is replaced by the fields of it; the command itself gets their values as one
    object.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind = parameter.annotation
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            groups[parameter.name] = kind
            parameters += _fields(kind)
        else:
            parameters.append(parameter)
    signature = inspect.Signature(parameters)

    @functools.wraps(command)
    def with_fields(*positional: Any, **named: Any) -> None:
        values = signature.bind(*positional, **named)
        values.apply_defaults()
        arguments = values.arguments
        for name, group in groups.items():
            fields = {field.name: arguments.pop(field.name) for field in dataclasses.fields(group)}
            arguments[name] = group(**fields)
        command(**arguments)

    with_fields.__signature__ = signature  # type: ignore[attr-defined]
    return with_fields


def _fields(group: Any) -> Iterator[inspect.Parameter]:
    """The fields of a dataclass as parameters of a function."""
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        yield inspect.Parameter(field.name, kind, default=default, annotation=hints[field.name])


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
    from topkit.data.writers import is_standard_output
    from topkit.reporting.words import counted

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
