"""Settings: declared once, beside the parameter they describe.

A method is a function or a dataclass. Each of its parameters carries a :class:`Setting`::

    K = Annotated[int, Setting("Number of documents at the top whose order counts.", low=1)]

    def topk_listmle(k: K = 10) -> Loss: ...

Everything else derives from that declaration: the check of a value and its error message, the parsing of
``--set k=10``, study templates, the space that tuning searches, and the reference pages.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from topkit.data.errors import InputError

T = TypeVar("T")


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

    ``name``, ``type`` and ``default`` are read from the signature by :func:`settings_of`.
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

    @property
    def expected(self) -> str:
        """The allowed values in words: ``a number from 0 to 1``, ``one of linear, mlp, trees``."""
        if self.choices:
            words = f"one of {', '.join(self.choices)}"
            return f"{words}, or none" if self.optional else words
        parts = [_words(kind) for kind in self._kinds if kind is not types.NoneType]
        words = " or ".join(dict.fromkeys(parts))
        if self.above is not None:
            words += f" greater than {self.above:g}"
        if self.low is not None and self.high is not None:
            words += f" from {self.low:g} to {self.high:g}"
        elif self.low is not None:
            words += f" of at least {self.low:g}"
        elif self.high is not None:
            words += f"{' and' if self.above is not None else ''} of at most {self.high:g}"
        return f"{words}, or none" if self.optional else words

    @property
    def optional(self) -> bool:
        """Whether ``None`` is allowed."""
        return types.NoneType in self._kinds

    @property
    def _kinds(self) -> tuple[Any, ...]:
        return _alternatives(self.type)

    def check(self, value: Any) -> Any:
        """The value in the declared type; InputError if it is not allowed."""
        for kind in self._kinds:
            converted = _convert(value, kind)
            if converted is not _REFUSED and self._allows(converted):
                return converted
        raise InputError(f"{self.name} must be {self.expected}, got {value!r}")

    def parse(self, text: str) -> Any:
        """The value that a text means, as in ``--set name=text``."""
        for kind in sorted(self._kinds, key=_text_order):
            value = _from_text(text.strip(), kind)
            if value is not _REFUSED and self._allows(value):
                return value
        raise InputError(f"{self.name} must be {self.expected}, got {text!r}")

    def _allows(self, value: Any) -> bool:
        if value is None:
            return True
        items = value if isinstance(value, tuple) else (value,)
        return all(self._allows_item(item) for item in items)

    def _allows_item(self, item: Any) -> bool:
        if self.choices and isinstance(item, str):
            return item in self.choices
        if not isinstance(item, int | float) or isinstance(item, bool):
            return True
        return (
            item == item  # NaN is never allowed
            and (self.low is None or item >= self.low)
            and (self.high is None or item <= self.high)
            and (self.above is None or item > self.above)
        )


_REFUSED: Any = object()
"""Marks a value that does not have a type; ``None`` is a value."""


def settings_of(method: Callable[..., Any]) -> dict[str, Setting]:
    """The declared settings of a function or dataclass, in order; parameters without a Setting are not one.

    >>> from typing import Annotated
    >>> def rrf(runs: list[str], offset: Annotated[int, Setting("Rank offset.", low=0)] = 60) -> None: ...
    >>> settings_of(rrf)["offset"].default, settings_of(rrf)["offset"].expected
    (60, 'an integer of at least 0')
    """
    return dict(_declared(method))


@cache
def _declared(method: Callable[..., Any]) -> tuple[tuple[str, Setting], ...]:
    hints = get_type_hints(method, include_extras=True)
    found = []
    for parameter in inspect.signature(method).parameters.values():
        hint = hints.get(parameter.name)
        declared = [extra for extra in getattr(hint, "__metadata__", ()) if isinstance(extra, Setting)]
        if declared:
            default = None if parameter.default is parameter.empty else parameter.default
            complete = dataclasses.replace(
                declared[-1], name=parameter.name, type=get_args(hint)[0], default=default
            )
            found.append((parameter.name, complete))
    return tuple(found)


def check_settings(known: Mapping[str, Setting], values: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """The values in their declared types; InputError for an unknown name or a value that is not allowed.

    ``owner`` names the method in messages: ``ranker 'listnet'``.
    """
    for name in values:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InputError(f"the {owner} has no setting {name!r}", suggestion(name, known, takes))
    return {name: known[name].check(value) for name, value in values.items()}


def check_fields(method: Any) -> None:
    """Check the fields of a frozen dataclass against their declarations; call it in ``__post_init__``."""
    for name, setting in settings_of(type(method)).items():
        object.__setattr__(method, name, setting.check(getattr(method, name)))


def split_assignments(texts: Iterable[str]) -> dict[str, Any]:
    """``["k=10", "base_settings.passes=2"]`` → ``{"k": "10", "base_settings": {"passes": "2"}}``."""
    values: dict[str, Any] = {}
    for text in texts:
        path, equals, value = text.partition("=")
        *tables, name = (part.strip().replace("-", "_") for part in path.split("."))
        if not equals or not name:
            raise InputError(f"the setting {text!r} has no value", "write it as name=value")
        table = values
        for part in tables:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise InputError(f"the setting {part!r} is given both a value and a table", f"see {text!r}")
        table[name] = value.strip()
    return values


def parse_settings(known: Mapping[str, Setting], texts: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """The values of settings given as text, each parsed by its own declaration."""
    values = {}
    for name, text in texts.items():
        if name not in known:
            check_settings(known, {name: text}, owner)
        values[name] = known[name].parse(text) if isinstance(text, str) else known[name].check(text)
    return values


def search_space(known: Mapping[str, Setting]) -> dict[str, Search]:
    """What a search may try, for the settings that declare it."""
    return {name: setting.search for name, setting in known.items() if setting.search is not None}


def lookup(registry: Mapping[str, T], name: str, what: str) -> T:
    """``registry[name]``, or an InputError that suggests the nearest name: ``unknown ranker 'lisnet'``."""
    if name not in registry:
        raise InputError(
            f"unknown {what} {name!r}", suggestion(name, registry, f"choose from {', '.join(registry)}")
        )
    return registry[name]


def suggestion(word: str, names: Iterable[str], otherwise: str) -> str:
    """``did you mean 'listnet'?`` if a name is near the word, else ``otherwise``."""
    near = get_close_matches(str(word), list(names), 1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def show_value(value: Any) -> str:
    """A value as ``--set`` takes it: ``none``, ``true``, ``32,16``, ``0.05``."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(show_value(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


# -- types -------------------------------------------------------------------------------------------------
def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _words(kind: Any) -> str:
    if get_origin(kind) is tuple:
        plural = {int: "integers", float: "numbers", str: "names"}
        return f"a list of {plural.get(get_args(kind)[0], 'values')}"
    if get_origin(kind) is Mapping or kind is dict:
        return "a table of settings"
    names: dict[Any, str] = {bool: "true or false", int: "an integer", float: "a number", str: "a word"}
    return names.get(kind, f"a {getattr(kind, '__name__', kind)}")


def _convert(value: Any, kind: Any) -> Any:
    """The value in this type, or _REFUSED; 3 is a float, [1, 2] a tuple, 5 a list of one."""
    if get_origin(kind) is tuple and value is not None:
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
            value = (value,)
        item_kind = get_args(kind)[0]
        items = tuple(str(item) if item_kind is str else _convert(item, item_kind) for item in value)
        return _REFUSED if _REFUSED in items else items
    if get_origin(kind) is Mapping or kind is dict:
        return dict(value) if isinstance(value, Mapping) else _REFUSED
    if kind is types.NoneType:
        return None if value is None else _REFUSED
    if hasattr(value, "item") and hasattr(value, "dtype") and value.ndim == 0:
        value = value.item()  # a NumPy scalar is a number
    if kind is bool or isinstance(value, bool):
        return value if kind is bool and isinstance(value, bool) else _REFUSED
    if kind is float and isinstance(value, int | float):
        return float(value)
    if kind in (int, str):
        return value if isinstance(value, kind) else _REFUSED
    return value if isinstance(kind, type) and isinstance(value, kind) else _REFUSED


def _from_text(text: str, kind: Any) -> Any:
    if get_origin(kind) is tuple:
        items = [_from_text(part.strip(), get_args(kind)[0]) for part in text.split(",")]
        return _REFUSED if _REFUSED in items else tuple(items)
    if kind is types.NoneType:
        return None if text.lower() == "none" else _REFUSED
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower(), _REFUSED)
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            return _REFUSED
    return text if kind is str else _REFUSED


def _text_order(kind: Any) -> int:
    """Types that accept fewer texts are tried first: ``none`` and ``true`` before a word."""
    order = (types.NoneType, bool, int, float)
    return order.index(kind) if kind in order else len(order) + (kind is str)
