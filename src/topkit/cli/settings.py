"""``--set name=value``: settings of rankers and of fusion methods, parsed by their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from typer import Option

Settings = Annotated[
    list[str] | None,
    Option("--set", help="A setting, such as k=10 or base_settings.passes=2. May be repeated."),
]


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
