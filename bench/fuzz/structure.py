"""Damage to JSON that stays JSON: other values, other types, missing and repeated keys."""
# ruff: noqa: E501 - the lists of words are easier to read in long lines

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 1.5, -0.0, 1e39, 1e308, 2**31, 2**40, 2**63, 2**64, 10**25,
    float("nan"), float("inf"), "", "x", "1", "../x", "\ud800", "é", "\0", "a" * 300, [], {}, [1], [[1, 2], [3]], {"a": 1},
    [None], ["a"], [[]], [1, "a"], "nan", "trees", "linear", "none", "order", "top-10",
)  # fmt: skip


def places(value: Any) -> list[tuple[Any, Any]]:
    """(container, key) of every value inside a value."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        container = waiting.pop()
        if isinstance(container, dict | list):
            keys = list(container) if isinstance(container, dict) else list(range(len(container)))
            found += [(container, key) for key in keys]
            waiting += [container[key] for key in keys]
    return found


def damage_value(rng: Random, value: Any) -> None:
    """Change one value inside a JSON value, in place."""
    found = places(value)
    if not found:
        return
    container, key = rng.choice(found)
    change = rng.randrange(6)
    if change == 0:
        del container[key]
    elif change == 1 and isinstance(container, list):
        container.insert(key, container[key])
    elif change == 2:
        other, place = rng.choice(found)
        container[key] = json.loads(json.dumps(other[place]))
    elif change == 3 and isinstance(container[key], int | float):
        container[key] = container[key] * rng.choice((-1, 2, 10, 1e10)) + rng.choice((-1, 0, 1))
    elif change == 4 and isinstance(container, dict):
        container[rng.choice(("x", "", "kind", "version", "columns"))] = deepcopy(rng.choice(VALUES))
    else:
        container[key] = deepcopy(rng.choice(VALUES))


def damaged_json(rng: Random, content: bytes) -> bytes:
    """A JSON text with one to three changed values."""
    value = json.loads(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        try:
            damage_value(rng, value)
        except (KeyError, IndexError, ValueError, TypeError, OverflowError):
            continue
    return json.dumps(value).encode()
