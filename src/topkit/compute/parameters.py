"""Functions that take a dataclass and are called with its fields."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, get_type_hints

R = TypeVar("R")


def fields_as_parameters(*groups: type) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Replace each parameter whose type is one of these dataclasses by the fields of the dataclass.

    Settings and options of the command line are read from signatures. Functions that share some of them, or
    have many, declare them as the fields of a dataclass and get their values as one object.

    >>> @dataclasses.dataclass
    ... class Steps:
    ...     first: int = 1
    ...     last: int = 3
    >>> @fields_as_parameters(Steps)
    ... def listed(name: str, steps: Steps) -> str:
    ...     return f"{name} {steps.first}..{steps.last}"
    >>> listed("a", last=2), str(inspect.signature(listed))
    ('a 1..2', '(name: str, first: int = 1, last: int = 3)')
    """

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        parameters: list[inspect.Parameter] = []
        grouped: dict[str, Any] = {}
        for parameter in inspect.signature(function, eval_str=True).parameters.values():
            if parameter.annotation in groups:
                grouped[parameter.name] = parameter.annotation
                parameters += _fields(parameter.annotation)
            else:
                parameters.append(parameter)
        signature = inspect.Signature(parameters)

        @functools.wraps(function)
        def with_fields(*positional: Any, **named: Any) -> R:
            values = signature.bind(*positional, **named)
            values.apply_defaults()
            for name, group in grouped.items():
                fields = dataclasses.fields(group)
                values.arguments[name] = group(**{f.name: values.arguments.pop(f.name) for f in fields})
            return function(**values.arguments)

        with_fields.__signature__ = signature  # type: ignore[attr-defined]
        with_fields.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return with_fields

    return decorate


def _fields(group: Any) -> Iterator[inspect.Parameter]:
    """The fields of a dataclass as parameters of a function."""
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        yield inspect.Parameter(field.name, kind, default=default, annotation=hints[field.name])
