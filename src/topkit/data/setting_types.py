"""The types that a setting may have: their names in messages, conversion of values and parsing of texts.

Supported types: ``bool``, ``int``, ``float``, ``str``, ``None``, ``Literal`` words, tuples, tables
(mappings), functions, classes, and unions of these.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

REFUSED: Any = object()
"""Returned for a value that does not have the type; ``None`` cannot mark that, because it is a value."""

Kind = Any
"""A type annotation: a class, or a form of :mod:`typing`."""

_TEXT_ORDER: tuple[Kind, ...] = (types.NoneType, bool, int, float)
"""Types that accept fewer texts are tried first: ``none`` and ``true`` before a word."""


def origin(kind: object) -> Any:
    """``tuple`` for ``tuple[int, ...]``, ``Literal`` for ``Literal["a"]``; None for a class."""
    return get_origin(kind)


def alternatives(kind: Kind) -> tuple[Kind, ...]:
    """The members of a union, or the type itself."""
    return get_args(kind) if origin(kind) in (Union, types.UnionType) else (kind,)


def literal_words(kind: Kind) -> tuple[str, ...]:
    """The words of the ``Literal`` members of a type: ``Literal["a", "b"] | None`` → ``("a", "b")``."""
    literals = (member for member in alternatives(kind) if origin(member) is Literal)
    return tuple(str(word) for literal in literals for word in get_args(literal))


def in_text_order(kinds: Sequence[Kind]) -> list[Kind]:
    """The types in the order in which a text is tried against them."""

    def rank(kind: Kind) -> int:
        if kind in _TEXT_ORDER:
            return _TEXT_ORDER.index(kind)
        return len(_TEXT_ORDER) + (kind is str)

    return sorted(kinds, key=rank)


def is_list(kind: Kind) -> bool:
    """Whether values are tuples."""
    return kind is tuple or origin(kind) is tuple


def is_table(kind: Kind) -> bool:
    """Whether values are mappings."""
    return (origin(kind) or kind) in (Mapping, dict)


def words_for(kind: Kind) -> str:
    """The type in a message: ``an integer``, ``a list of names``."""
    if is_list(kind):
        item, length = _item_of(kind)
        plurals: dict[Kind, str] = {int: "integers", float: "numbers", str: "names"}
        return f"a list of {'' if length is None else f'{length} '}{plurals.get(item, 'values')}"
    if is_table(kind):
        return "a table of settings"
    if origin(kind) is Callable or kind is Callable:
        return "a function"
    names: dict[Kind, str] = {bool: "true or false", int: "an integer", float: "a number", str: "a word"}
    if kind in names:
        return names[kind]
    name = str(getattr(kind, "__name__", kind))
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def convert(value: Any, kind: Kind) -> Any:
    """The value in this type, or REFUSED. 3 is a float, [1, 2] is a tuple, 5 is a tuple of one item."""
    if is_list(kind):
        return _convert_items(value, kind)
    if is_table(kind):
        return dict(value) if isinstance(value, Mapping) else REFUSED
    if kind is types.NoneType:
        return None if value is None else REFUSED
    if kind is Any:
        return value
    if origin(kind) is Callable or kind is Callable:
        return value if callable(value) else REFUSED
    if hasattr(value, "dtype") and getattr(value, "ndim", None) == 0:
        value = value.item()  # a NumPy scalar
    if kind is bool or isinstance(value, bool):  # bool is a subclass of int, but True is not a number here
        return value if kind is bool and isinstance(value, bool) else REFUSED
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return REFUSED  # neither a float nor an integer of an array can hold it
    if kind is float and isinstance(value, int | float):
        return float(value)
    return value if isinstance(kind, type) and isinstance(value, kind) else REFUSED


def _convert_items(value: Any, kind: Kind) -> Any:
    if getattr(value, "ndim", 0) == 1:
        value = value.tolist()  # a NumPy array
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        value = (value,)
    item_kind, length = _item_of(kind)
    if length not in (None, len(value)):
        return REFUSED
    if item_kind is str:  # feature 7 and metric ndcg@10 are names, whatever object they are
        items = tuple(REFUSED if item is None else str(item) for item in value)
    else:
        items = tuple(convert(item, item_kind) for item in value)
    return REFUSED if any(item is REFUSED for item in items) else items


def from_text(text: str, kind: Kind) -> Any:
    """The value that a text means in this type, or REFUSED: ``32,16`` is a list, the empty text an empty one.

    Python's ``1_000`` is refused, as it is in data files.
    """
    if is_list(kind):
        item_kind, length = _item_of(kind)
        texts = [part.strip() for part in text.split(",")] if text else []
        items = [from_text(part, item_kind) for part in texts]
        wrong = any(item is REFUSED for item in items) or length not in (None, len(items))
        return REFUSED if wrong else tuple(items)
    if kind is types.NoneType:
        return None if text.lower() == "none" else REFUSED
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower(), REFUSED)
    if kind in (int, float) and "_" not in text:
        try:
            return convert(kind(text), kind)
        except ValueError:
            return REFUSED
    return text if kind is str else REFUSED


def brief(value: Any) -> str:
    """A value as a message shows it: its ``repr``, at most 60 characters of it.

    >>> brief([1, 2]), brief(10**5000)
    ('[1, 2]', 'a number of thousands of digits')
    """
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print such integers, because it would take too long
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:60]}…"


def show_value(value: Any) -> str:
    """A value as ``--set`` takes it: ``none``, ``true``, ``32,16``, ``0.05``.

    >>> [show_value(value) for value in (None, True, (32, 16), 0.05, 10.0, 1 / 3)]
    ['none', 'true', '32,16', '0.05', '10', '0.3333333333333333']
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(show_value(item) for item in value)
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)


def _item_of(kind: Kind) -> tuple[Kind, int | None]:
    """The type of a tuple's items, and how many there must be (None: any number)."""
    items = get_args(kind)
    if not items:
        return Any, None
    return items[0], None if Ellipsis in items else len(items)
