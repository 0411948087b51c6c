"""``--set name=value``: settings of rankers and of fusion methods, parsed by their declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from topkit.data.settings import Setting

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting, such as k=10 or base_settings.passes=2. May be repeated."),
]


def ranker_settings(name: str, texts: Iterable[str]) -> dict[str, Any]:
    """The settings of a ranker, given as ``name=value`` texts."""
    from topkit import rankers
    from topkit.data.settings import parse_settings, split_assignments

    parse = getattr(rankers, "parse_settings", None)  # remove the rest when the registry offers it
    if parse is not None:
        values: dict[str, Any] = parse(name, texts)
        return values
    assignments = split_assignments(texts)
    guesses = {key: _guess(text) for key, text in assignments.items()}
    tables = {key: value for key, value in guesses.items() if isinstance(value, dict)}
    known = undeclared(rankers.settings_of(name, **guesses))
    return parse_settings(known, {**assignments, **tables}, f"ranker {name!r}")


def fusion_settings(method: str, texts: Iterable[str]) -> dict[str, Any]:
    """The settings of a fusion method, given as ``name=value`` texts."""
    from topkit.data.settings import lookup, parse_settings, settings_of, split_assignments
    from topkit.fusion import AGGREGATORS
    from topkit.fusion import settings_of as defaults_of

    known = settings_of(lookup(AGGREGATORS, method, "fusion method"))
    known = known or undeclared(defaults_of(method))
    return parse_settings(known, split_assignments(texts), f"fusion method {method!r}")


# -- remove when all settings are declared -------------------------------------------------------------------
def undeclared(defaults: Mapping[str, Any]) -> dict[str, Setting]:
    """Settings that are known by their default only, with the type of the default."""
    from topkit.data.settings import Setting

    def kind(default: Any) -> Any:
        if default is None:
            return int | float | tuple[float, ...] | dict | str | None
        return tuple[int, ...] if isinstance(default, tuple) else type(default)

    return {
        name: default
        if isinstance(default, Setting)
        else Setting("", name=name, type=kind(default), default=default)
        for name, default in defaults.items()
    }


def _guess(text: Any) -> Any:
    """A value of unknown type; tables of values too."""
    if isinstance(text, dict):
        return {name: _guess(value) for name, value in text.items()}
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
