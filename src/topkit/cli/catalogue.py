"""``topkit rankers``, ``losses``, ``measures``, ``strategies``, ``aggregators``: the methods to choose from.

Names come from the registries, descriptions from the docstrings and settings from their declarations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from topkit.data.settings import Setting

Name = Annotated[str | None, typer.Argument(help="A name, to see its settings; without it, list all names.")]


@dataclass(frozen=True)
class Entry:
    """One method of a registry."""

    sentence: str
    settings: Mapping[str, Setting]
    remarks: tuple[str, ...] = ()
    """More lines, such as the truth that a measure needs."""


def ranker_entries() -> dict[str, Entry]:
    """Rankers, with the settings of each."""
    from topkit.rankers import RANKERS, settings_of

    return {name: Entry(first_sentence(method), settings_of(name)) for name, method in RANKERS.items()}


def loss_entries() -> dict[str, Entry]:
    """Losses, with the settings of each."""
    from topkit.data.settings import settings_of
    from topkit.losses import LOSSES

    return {name: Entry(first_sentence(loss), settings_of(loss)) for name, loss in LOSSES.items()}


def measure_entries() -> dict[str, Entry]:
    """Measures, with the settings of each and the truth it needs."""
    from topkit.metrics import METRICS

    return {
        name: Entry(
            measure.title,
            measure.settings,
            (
                f"truth needed: {measure.needs}",
                f"{'greater' if measure.greater_is_better else 'smaller'} values are better",
                f"depth: {'optional, as in ' + name + '@10' if measure.depth == 'optional' else 'none'}",
            ),
        )
        for name, measure in METRICS.items()
    }


def strategy_entries() -> dict[str, Entry]:
    """Labelling strategies."""
    from topkit.data.settings import settings_of
    from topkit.labelling import STRATEGIES

    return {
        name: Entry(first_sentence(strategy), settings_of(strategy)) for name, strategy in STRATEGIES.items()
    }


def aggregator_entries() -> dict[str, Entry]:
    """Fusion methods, with the settings of each."""
    from topkit.data.settings import settings_of
    from topkit.fusion import AGGREGATORS

    return {name: Entry(first_sentence(method), settings_of(method)) for name, method in AGGREGATORS.items()}


ENTRIES: dict[str, Callable[[], dict[str, Entry]]] = {
    "ranker": ranker_entries,
    "loss": loss_entries,
    "measure": measure_entries,
    "strategy": strategy_entries,
    "fusion method": aggregator_entries,
}
"""What it is → name → entry."""


def first_sentence(method: object) -> str:
    """The summary of a method, or else the first paragraph of its docstring on one line."""
    summary = getattr(method, "summary", "")  # one class can make many rankers, each with its own sentence
    return summary or " ".join((inspect.getdoc(method) or "").split("\n\n")[0].split())


def setting_rows(entry: Entry) -> list[tuple[str, str, str, str]]:
    """Name, default, allowed values and meaning of each setting."""
    from topkit.data.settings import show_value

    return [
        (name, show_value(setting.default), setting.expected, setting.meaning)
        for name, setting in entry.settings.items()
    ]


SETTING_COLUMNS = ("setting", "default", "allowed values", "meaning")


def _show(what: str, name: str | None) -> None:
    """Print all names with a sentence each, or one with its settings."""
    from topkit.data.settings import lookup
    from topkit.reporting.tables import Table

    entries = ENTRIES[what]()
    if name is None:
        rows = [(name, entry.sentence) for name, entry in entries.items()]
        typer.echo(Table((what, "description"), rows, align="ll").text())
        return
    entry = lookup(entries, name, what)
    typer.echo(f"{name}: {entry.sentence}")
    for remark in entry.remarks:
        typer.echo(remark)
    if entry.settings:
        typer.echo("\n" + Table(SETTING_COLUMNS, setting_rows(entry), align="llll").text())
    else:
        typer.echo("no settings")


def rankers(name: Name = None) -> None:
    """List the rankers, or show one with its settings.

    Examples: `topkit rankers`

    `topkit rankers focusednet`
    """
    _show("ranker", name)


def losses(name: Name = None) -> None:
    """List the losses, or show one with its settings.

    Examples: `topkit losses`

    `topkit losses topk-listmle`
    """
    _show("loss", name)


def measures(name: Name = None) -> None:
    """List the measures, or show one with its settings.

    Examples: `topkit measures`

    `topkit measures ndcg`
    """
    _show("measure", name)


def strategies(name: Name = None) -> None:
    """List the labelling strategies, or show one.

    Examples: `topkit strategies`

    `topkit strategies adaptive`
    """
    _show("strategy", name)


def aggregators(name: Name = None) -> None:
    """List the methods that fuse runs, or show one with its settings.

    Examples: `topkit aggregators`

    `topkit aggregators mallows`
    """
    _show("fusion method", name)
