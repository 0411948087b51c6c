"""Settings: declared once, with the parameter they describe.

A method is a function or a dataclass. Each of its parameters carries a :class:`Setting`::

    K = Annotated[int, Setting("Number of documents at the top whose order counts.", low=1)]

    def topk_listmle(k: K = 10) -> Loss: ...

Everything else derives from that declaration: the check of a value and its error message, the parsing of
``--set k=10``, study templates, the space that tuning searches, and the reference pages.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_type_hints

from topkit.data.errors import InputError
from topkit.data.setting_types import (
    REFUSED,
    alternatives,
    brief,
    convert,
    from_text,
    in_text_order,
    is_list,
    is_table,
    literal_words,
    origin,
    show_value,
    words_for,
)
from topkit.data.words import lookup, suggestion

__all__ = [
    "Search",
    "Setting",
    "Space",
    "Span",
    "check_fields",
    "check_settings",
    "lookup",
    "parse_settings",
    "search_space",
    "settings_of",
    "show_value",
    "split_assignments",
    "suggestion",
]


@dataclass(frozen=True)
class Span:
    """A range of numbers that a search draws from: evenly spaced, or by even factors with ``log``."""

    low: float
    high: float
    log: bool = False
    whole: bool = False
    """Integers only."""


Search = Span | tuple[object, ...]
"""What a search may try for one setting: a range, or a list of values."""

Space = Mapping[str, Search]
"""Setting name → what a search may try."""


@dataclass(frozen=True)
class Setting:
    """The meaning of a parameter, the values it allows, and what a search may try.

    The limits apply to a number, and to each number of a list. Numbers must be finite; infinity is allowed
    only by ``high=math.inf``. ``name``, ``type``, ``default`` and ``required`` are read from the signature by
    :func:`settings_of`, and so are ``choices`` if the type is a ``Literal``.
    """

    meaning: str
    """One sentence for the reference page."""
    low: float | None = None
    """Smallest allowed value."""
    high: float | None = None
    """Largest allowed value."""
    above: float | None = None
    """Values must be greater than this."""
    choices: tuple[str, ...] = ()
    """Allowed words; empty allows any."""
    search: Search | None = None
    """What tuning may try; None keeps the default."""
    name: str = ""
    type: Any = str
    default: Any = None
    required: bool = False
    """Whether there is no default."""

    @property
    def expected(self) -> str:
        """The allowed values in words: ``a number from 0 to 1``, ``one of linear, mlp, trees``."""
        parts = [self._words(kind) for kind in alternatives(self.type) if kind is not NoneType]
        words = " or ".join(dict.fromkeys(parts))
        return f"{words}, or none" if self.optional else words

    @property
    def optional(self) -> bool:
        """Whether ``None`` is allowed."""
        return NoneType in alternatives(self.type)

    def check(self, value: Any) -> Any:
        """The value in the declared type; InputError if it is not allowed."""
        for kind in alternatives(self.type):
            converted = convert(value, kind)
            if converted is not REFUSED and self._allows(converted):
                return converted
        raise self._error(value)

    def parse(self, text: str) -> Any:
        """The value that a text means, as in ``--set name=text``."""
        for kind in in_text_order(alternatives(self.type)):
            value = from_text(text.strip(), kind)
            if value is not REFUSED and self._allows(value):
                return value
        raise self._error(text)

    def _error(self, value: Any) -> InputError:
        remedy = suggestion(value, self.choices, "") if isinstance(value, str) else ""
        if any(is_table(kind) for kind in alternatives(self.type)):
            remedy = f"set its entries one by one: {self.name}.NAME=VALUE"
        return InputError(f"{self.name} must be {self.expected}, got {brief(value)}", remedy)

    def _words(self, kind: Any) -> str:
        words = words_for(kind)
        items = get_args(kind)[:1] if is_list(kind) else (kind,)
        if self.choices and str in items:
            allowed = ", ".join(self.choices)
            return f"a list of names from {allowed}" if is_list(kind) else f"one of {allowed}"
        limits = self._limits() if items and items[0] in (int, float) else ""
        if not limits:
            return words
        return f"{words}, each {limits}" if is_list(kind) else f"{words} {limits}"

    def _limits(self) -> str:
        high = None if self.high == math.inf else self.high
        if self.low is not None and high is not None:
            return f"from {self.low:g} to {high:g}"
        parts = [] if self.above is None else [f"greater than {self.above:g}"]
        parts += [] if self.low is None else [f"of at least {self.low:g}"]
        parts += [] if high is None else [f"of at most {high:g}"]
        return " and ".join(parts)

    def _allows(self, value: Any) -> bool:
        items = value if isinstance(value, tuple) else (value,)
        return all(self._allows_item(item) for item in items)

    def _allows_item(self, item: Any) -> bool:
        if self.choices and isinstance(item, str):
            return item in self.choices
        if not isinstance(item, int | float) or isinstance(item, bool):
            return True
        return (
            (math.isfinite(item) or (item == math.inf and self.high == math.inf))
            and (self.low is None or item >= self.low)
            and (self.high is None or item <= self.high)
            and (self.above is None or item > self.above)
        )


def settings_of(method: Callable[..., Any]) -> dict[str, Setting]:
    """The declared settings of a function or dataclass, in order; other parameters are left out.

    >>> from typing import Annotated
    >>> def rrf(runs: list[str], offset: Annotated[int, Setting("Rank offset.", low=0)] = 60) -> None: ...
    >>> settings_of(rrf)["offset"].default, settings_of(rrf)["offset"].expected
    (60, 'an integer of at least 0')
    """
    return dict(_declared(method))


@cache
def _declared(method: Callable[..., Any]) -> tuple[tuple[str, Setting], ...]:
    hints = get_type_hints(method, include_extras=True)
    settings = []
    for parameter in inspect.signature(method).parameters.values():
        hint = hints.get(parameter.name)
        declared = [extra for extra in getattr(hint, "__metadata__", ()) if isinstance(extra, Setting)]
        if declared:
            kind = get_args(hint)[0]
            required = parameter.default is parameter.empty
            complete = dataclasses.replace(
                declared[-1],
                name=parameter.name,
                type=_words_as_strings(kind),
                choices=declared[-1].choices or literal_words(kind),
                default=None if required else _default(method, parameter),
                required=required,
            )
            settings.append((parameter.name, complete))
    return tuple(settings)


def _words_as_strings(kind: Any) -> Any:
    """The type with ``str`` for each ``Literal``, whose words become choices."""
    members = [str if origin(member) is Literal else member for member in alternatives(kind)]
    union = members[0]
    for member in members[1:]:
        union |= member
    return union


def _default(method: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """The default of a parameter; that of a dataclass field may come from a factory."""
    if dataclasses.is_dataclass(method):
        for field in dataclasses.fields(method):
            if field.name == parameter.name and field.default_factory is not dataclasses.MISSING:
                return field.default_factory()
    return parameter.default


def check_settings(known: Mapping[str, Setting], values: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """The values in their declared types; InputError for an unknown name or a value that is not allowed.

    ``owner`` names the method in messages: ``ranker 'listnet'``.
    """
    _check_names(known, values, owner)
    return {name: known[name].check(value) for name, value in values.items()}


def parse_settings(known: Mapping[str, Setting], texts: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """The values of settings given as text, each parsed by its declaration; tables are checked, not parsed.

    The entries of a table stay texts: only the method that takes the table knows what they mean.
    """
    _check_names(known, texts, owner)
    return {
        name: known[name].parse(text) if isinstance(text, str) else known[name].check(text)
        for name, text in texts.items()
    }


def _check_names(known: Mapping[str, Setting], names: Iterable[str], owner: str) -> None:
    for name in names:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InputError(f"the {owner} has no setting {name!r}", suggestion(name, known, takes))


def check_fields(method: Any) -> None:
    """Check the fields of a frozen dataclass against their declarations; call it in ``__post_init__``."""
    for name, setting in settings_of(type(method)).items():
        object.__setattr__(method, name, setting.check(getattr(method, name)))


def split_assignments(texts: Iterable[str]) -> dict[str, Any]:
    """``["k=10", "base_settings.passes=2"]`` → ``{"k": "10", "base_settings": {"passes": "2"}}``.

    Hyphens in names become underscores. If a name is assigned twice, the last value counts.
    """
    values: dict[str, Any] = {}
    for text in texts:
        path, equals, value = text.partition("=")
        *tables, name = names = [part.strip().replace("-", "_") for part in path.split(".")]
        if not equals or not all(names):
            raise InputError(f"invalid setting {text!r}", "write it as name=value")
        table = values
        for part in tables:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise _both(part, text)
        if isinstance(table.get(name), dict):
            raise _both(name, text)
        table[name] = value.strip()
    return values


def _both(name: str, text: str) -> InputError:
    return InputError(f"{text!r}: {name!r} is already set", "give it a value or entries, not both")


def search_space(known: Mapping[str, Setting]) -> dict[str, Search]:
    """What a search may try, for the settings that declare it."""
    return {name: setting.search for name, setting in known.items() if setting.search is not None}
