"""Lists of methods to choose from: ``topkit rankers``, ``losses``, ``measures``, ``clicks models`` and more.

Names come from the registries, descriptions from the docstrings and settings from their declarations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument

from topkit.cli.completion import names_of
from topkit.cli.output import Format, print_json, print_table

if TYPE_CHECKING:
    from topkit.data.settings import Setting

USE = "Use it "
"""How the paragraph of a docstring begins that says when to use a method and when not."""


NAME = "A name, to see its settings; without it, list all names."


@dataclass(frozen=True)
class Entry:
    """One method of a registry."""

    sentence: str
    settings: Mapping[str, Setting]
    remarks: tuple[str, ...] = ()
    """More lines, such as the truth that a measure needs."""
    use: str = ""
    """When to use it and when not."""
    text: str = ""
    """The rest of its documentation: formula, conventions, reference."""


def ranker_entries() -> dict[str, Entry]:
    """Rankers, with the settings of each."""
    from topkit.rankers import RANKERS, settings_of

    return {name: _entry(method, settings_of(name)) for name, method in RANKERS.items()}


def loss_entries() -> dict[str, Entry]:
    """Losses, with the settings of each."""
    from topkit.data.settings import settings_of
    from topkit.losses import LOSSES

    entries = {}
    for name, loss in LOSSES.items():
        accepted = [column.replace("_", " ") for column in getattr(loss, "accepts", ())]
        entries[name] = _entry(loss, settings_of(loss))
        if accepted:
            remark = f"also accepts: {', '.join(accepted)}"
            entries[name] = replace(entries[name], remarks=(remark,))
    return entries


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
            " ".join(use_of(measure.function).split()),
            text_of(measure.function),
        )
        for name, measure in METRICS.items()
    }


def strategy_entries() -> dict[str, Entry]:
    """Labelling strategies."""
    from topkit.data.settings import settings_of
    from topkit.labelling import STRATEGIES

    return {name: _entry(strategy, settings_of(strategy)) for name, strategy in STRATEGIES.items()}


def aggregator_entries() -> dict[str, Entry]:
    """Fusion methods, with the settings of each."""
    from topkit.data.settings import settings_of
    from topkit.fusion import AGGREGATORS

    return {name: _entry(method, settings_of(method)) for name, method in AGGREGATORS.items()}


def click_model_entries() -> dict[str, Entry]:
    """Click models, with the settings of each."""
    from topkit.clicks import CLICK_MODELS
    from topkit.data.settings import settings_of

    return {name: _entry(model, settings_of(model)) for name, model in CLICK_MODELS.items()}


ENTRIES: dict[str, Callable[[], dict[str, Entry]]] = {
    "ranker": ranker_entries,
    "loss": loss_entries,
    "measure": measure_entries,
    "strategy": strategy_entries,
    "fusion method": aggregator_entries,
    "click model": click_model_entries,
}
"""What it is → name → entry."""


def first_sentence(method: object) -> str:
    """The summary of a method, or else the first paragraph of its docstring on one line."""
    summary = getattr(method, "summary", "")  # one class can make many rankers, each with its own sentence
    return summary or " ".join((inspect.getdoc(method) or "").split("\n\n")[0].split())


def use_of(method: object) -> str:
    """When to use a method: its attribute ``use``, or the paragraph "Use it …" of its docstring."""
    use = getattr(method, "use", "")
    return use or next((text for text in _paragraphs(method) if text.startswith(USE)), "")


def text_of(method: object) -> str:
    """The docstring of a method without its examples and without the paragraph of :func:`use_of`."""
    kept = [text for text in _paragraphs(method) if not text.startswith((USE, ">>>"))]
    return "\n\n".join(kept)


def _paragraphs(method: object) -> list[str]:
    return (inspect.getdoc(method) or "").split("\n\n")


def _entry(method: object, settings: Mapping[str, Setting]) -> Entry:
    use = " ".join(use_of(method).split())
    return Entry(first_sentence(method), settings, use=use, text=text_of(method))


def setting_rows(entry: Entry) -> list[tuple[str, str, str, str]]:
    """Name, default, allowed values and meaning of each setting."""
    from topkit.data.settings import show_value

    return [
        (name, show_value(setting.default), setting.expected, setting.meaning)
        for name, setting in entry.settings.items()
    ]


SETTING_COLUMNS = ("setting", "default", "allowed values", "meaning")


def _show(what: str, name: str | None, form: str) -> None:
    """Print all names with a sentence each, or one with its settings."""
    from topkit.data.settings import lookup
    from topkit.data.table import Table

    entries = ENTRIES[what]()
    if name is None:
        rows = [(name, entry.sentence) for name, entry in entries.items()]
        print_table(Table((what, "description"), rows, align="ll"), form)
        return
    entry = lookup(entries, name, what)
    settings = Table(SETTING_COLUMNS, setting_rows(entry), align="llll")
    if form == "json":
        import json

        rows_of_settings = json.loads(settings.json())["rows"]
        print_json(
            {
                what: name,
                "description": entry.sentence,
                "notes": entry.remarks,
                "use": entry.use,
                "settings": rows_of_settings,
            }
        )
    elif form == "table":
        lines = [f"{name}: {entry.sentence}", *filter(None, (*entry.remarks, entry.use))]
        typer.echo("\n".join([*lines, "\n" + settings.text() if entry.settings else "no settings"]))
    else:
        print_table(settings, form)


def _command(what: str, sentence: str, names: str, example: str) -> Callable[..., None]:
    """The command that lists the methods of a registry, or shows one of them."""

    def command(name: str | None = None, form: Format = "table") -> None:
        _show(what, name, form)

    # not in the signature, where an annotation is text that is evaluated without the parameters of _command
    command.__annotations__["name"] = Annotated[
        str | None, Argument(help=NAME, autocompletion=names_of(what))
    ]
    command.__doc__ = f"{sentence}\n\nExamples: `topkit {names}`\n\n`topkit {names} {example}`"
    return command


rankers = _command("ranker", "List the rankers, or show one with its settings.", "rankers", "focusednet")
losses = _command("loss", "List the losses, or show one with its settings.", "losses", "topk-listmle")
measures = _command("measure", "List the measures, or show one with its settings.", "measures", "ndcg")
strategies = _command("strategy", "List the labelling strategies, or show one.", "strategies", "adaptive")
aggregators = _command(
    "fusion method", "List the methods that fuse runs, or show one.", "aggregators", "mallows"
)
click_models = _command(
    "click model", "List the click models, or show one with its settings.", "clicks models", "dbn"
)
