"""Options that several commands share, declared once as the fields of a dataclass."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def option_group(group: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the parameter ``options`` of a command by one option per field of the dataclass ``group``.

    Typer reads the options of a command from its signature. The decorated command has the fields of the group
    in its signature, in the place of ``options``; the command itself gets a ``group`` of their values.
    """
    hints = get_type_hints(group, include_extras=True)
    fields = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in dataclasses.fields(group)
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_fields(**values: Any) -> None:
            options = group(**{field.name: values.pop(field.name) for field in fields})
            command(**values, options=options)

        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command, eval_str=True).parameters.values():
            named = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            parameters += fields if parameter.name == "options" else [named]
        with_fields.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return with_fields

    return decorate
