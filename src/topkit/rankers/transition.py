"""Transitional: settings of methods whose parameters do not declare a Setting yet."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_type_hints

from topkit.data.settings import Setting
from topkit.data.settings import settings_of as declared_settings

SEARCHES: dict[str, Any] = {"beta": tuple(round(0.1 * i, 1) for i in range(1, 10))}


def settings_of(method: Callable[..., Any]) -> dict[str, Setting]:
    declared = declared_settings(method)
    parameters = inspect.signature(method).parameters
    if len(declared) == len(parameters):
        return declared
    hints = get_type_hints(method)
    space = getattr(method, "space", SEARCHES)
    return {
        name: declared.get(name)
        or replace(
            Setting("", search=space.get(name)),
            name=name,
            type=hints[name],
            default=None if parameter.default is parameter.empty else parameter.default,
        )
        for name, parameter in parameters.items()
    }


def adopt_method(method: Any) -> Any:
    """Declare ``learns_from`` for a method that does not do it itself yet."""
    if not hasattr(method, "learns_from"):
        clicks = ("clicks",) if getattr(method, "learns_from_clicks", False) else ()
        pairs = ("preferences",) if method.__name__ in ("QBRank", "IsoRank") else ()
        method.learns_from = ("labels", *pairs, *clicks)
    return method
