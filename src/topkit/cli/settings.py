"""``--set name=value``: settings of rankers and of fusion methods, parsed by their declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting, such as k=10 or base_settings.passes=2. May be repeated."),
]


def ranker_settings(name: str, texts: Iterable[str]) -> dict[str, Any]:
    """The settings of a ranker, given as ``name=value`` texts."""
    from topkit import rankers
    from topkit.data.settings import split_assignments

    parse = getattr(rankers, "parse_settings", None)  # remove with _parse: the registry offers it
    if parse is not None:
        values: dict[str, Any] = parse(name, texts)
        return values
    assignments = split_assignments(texts)
    plain = {key: _parse(text, None) for key, text in assignments.items()}
    return _parse_all(rankers.settings_of(name, **plain), assignments, f"ranker {name!r}")


def fusion_settings(method: str, texts: Iterable[str]) -> dict[str, Any]:
    """The settings of a fusion method, given as ``name=value`` texts."""
    from topkit.data.settings import lookup, parse_settings, settings_of, split_assignments
    from topkit.fusion import AGGREGATORS
    from topkit.fusion import settings_of as defaults_of

    declared = settings_of(lookup(AGGREGATORS, method, "fusion method"))
    assignments = split_assignments(texts)
    owner = f"fusion method {method!r}"
    if declared:
        return parse_settings(declared, assignments, owner)
    return _parse_all(defaults_of(method), assignments, owner)  # remove when all settings are declared


# -- remove when all settings are declared -------------------------------------------------------------------
def _parse_all(defaults: Mapping[str, Any], assignments: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """Parse by the type of the default value."""
    from topkit.data import InputError
    from topkit.data.settings import suggestion

    for name in assignments:
        if name not in defaults:
            takes = f"it takes {', '.join(defaults) or 'none'}"
            raise InputError(f"the {owner} has no setting {name!r}", suggestion(name, defaults, takes))
    return {name: _parse(text, defaults[name]) for name, text in assignments.items()}


def _parse(text: Any, default: Any) -> Any:
    if isinstance(text, dict):
        return {name: _parse(value, None) for name, value in text.items()}
    if isinstance(default, str):
        return text
    parts = [_guess(part.strip()) for part in text.split(",")]
    return parts[0] if len(parts) == 1 else tuple(parts)


def _guess(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
