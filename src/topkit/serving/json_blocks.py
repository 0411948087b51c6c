"""Large JSON bodies, parsed block by block.

``json.loads`` holds Python's global lock until it has read the whole body, so that no other request is
answered meanwhile, and needs up to 25 bytes of memory per byte of the body. Here, at most a block of rows
exists as Python objects at a time, and other threads run between the blocks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from topkit.serving.candidates import Candidates, joined, matrix, with_missing
from topkit.serving.refusal import Limits, RefusedError, at_most

BLOCK = 1 << 16
"""Characters of the rows that are parsed at a time; this takes about a millisecond."""
LONGEST_NUMBER = 32
"""Characters per feature, with separators, that a row may have on average."""
SPACE = re.compile(r"[ \t\n\r]*")
END_OF_ROWS = re.compile(r"\][ \t\n\r]*\]")
LIST_IN_ROW = re.compile(r"\[[^\[\]]*\[")
BOOLEAN = re.compile("true|false")


def _no_constant(name: str) -> NoReturn:
    raise RefusedError(400, f"{name} is not JSON; write null for a missing feature")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise RefusedError(422, "a field appears twice")
    return record


DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_unique)


def decode(text: str) -> object:
    """The value of a JSON text; RefusedError with the reason for any other text."""
    try:
        return DECODER.decode(text)
    except RecursionError:
        raise RefusedError(422, "the body is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise RefusedError(400, f"the body is not JSON: {error}") from None
    except ValueError:  # Python's limit of digits
        raise RefusedError(422, "a number has too many digits: it is not a finite 32-bit number") from None


def text_of(body: bytes) -> str:
    """The body as text."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise RefusedError(400, "the body is not UTF-8") from None


def one_query(text: str, limits: Limits) -> Candidates:
    """As :func:`topkit.serving.json_bodies.one_query`."""
    reader = _Reader(text, limits)
    names, rows = None, None
    for field in reader.fields("features", "feature_names"):
        if field == "features":
            rows = reader.rows("features")
        else:
            names = reader.names()
    reader.end()
    if rows is None:
        raise RefusedError(422, "the body has no features")
    return joined([rows], _matching(names, rows.shape[1]), limits)


def many_queries(text: str, limits: Limits) -> Candidates:
    """As :func:`topkit.serving.json_bodies.many_queries`."""
    reader = _Reader(text, limits)
    names, parts = None, []
    for field in reader.fields("queries", "feature_names"):
        if field == "feature_names":
            names = reader.names()
            continue
        for number in reader.items("queries"):
            at_most(limits.queries, number, "queries")
            rows = [reader.rows(f"query {number}") for _ in reader.fields("features")]
            if not rows:
                raise RefusedError(422, f"query {number} must be an object with the field 'features' only")
            parts += rows
    reader.end()
    if not parts:
        raise RefusedError(422, "queries must be a non-empty list of objects with features")
    return joined(parts, _matching(names, parts[0].shape[1]), limits)


def _matching(names: tuple[str, ...] | None, width: int) -> tuple[str, ...] | None:
    if names is not None and len(names) != width:
        raise RefusedError(422, f"expected {width} feature names, got {len(names)}")
    return names


class _Reader:
    """A position in the text, which moves over one value after the other."""

    def __init__(self, text: str, limits: Limits) -> None:
        self.text, self.limits = text, limits
        self.at = 0
        self.candidates = 0

    def fields(self, *allowed: str) -> Iterator[str]:
        """The names of an object's fields; the caller reads each value before it takes the next name."""
        seen: set[str] = set()
        for _ in self._parts("{", "}", "an object with " + " and ".join(sorted(allowed))):
            self._expect('"')
            name = self._string()
            if name not in allowed:
                raise RefusedError(422, f"unknown field {name[:80]!r}; expected {', '.join(sorted(allowed))}")
            if name in seen:
                raise RefusedError(422, "a field appears twice")
            seen.add(name)
            self._expect(":")
            yield name

    def items(self, what: str) -> Iterator[int]:
        """The numbers 1, 2, … of a list's items; the caller reads each item before it takes the next."""
        return self._parts("[", "]", f"a list ({what})")

    def rows(self, where: str) -> NDArray[np.float32]:
        """A list of rows of numbers, block by block."""
        blocks: list[NDArray[np.float32]] = []
        count = 0
        for _ in self._parts("[", "]", f"a list ({where})"):
            block = self._block(where, count)
            if blocks and block.shape[1] != blocks[0].shape[1]:
                width, first = block.shape[1], blocks[0].shape[1]
                raise RefusedError(
                    422, f"{where}: candidate {count + 1} has {width} features, the first has {first}"
                )
            blocks.append(block)
            count += len(block)
            self.candidates += len(block)
            at_most(self.limits.candidates, self.candidates, "candidates")
            at_most(self.limits.features, block.shape[1], "features")
        if not blocks:
            raise RefusedError(422, f"{where} must be a list of at least one candidate")
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def names(self) -> tuple[str, ...] | None:
        """The feature names, or None for null."""
        if self._next() == "n" and self.text.startswith("null", self.at):
            self.at += 4
            return None
        names = []
        for number in self.items("feature_names"):
            at_most(self.limits.features, number, "feature names")
            if self._next() != '"':
                raise RefusedError(422, "feature_names must be a list of strings")
            self.at += 1
            names.append(self._string())
        return tuple(names)

    def end(self) -> None:
        """Raise if anything follows."""
        if self._next():
            raise self._not_json("expected the end")

    def _block(self, where: str, first: int) -> NDArray[np.float32]:
        """As many of the next rows as a block contains, but at least one."""
        start, limit = self.at, BLOCK + LONGEST_NUMBER * self.limits.features
        if self._next() != "[":
            raise RefusedError(422, f"{where}: candidate {first + 1} is not a list of numbers")
        last = END_OF_ROWS.search(self.text, start, start + BLOCK)
        stop = last.start() + 1 if last else self.text.rfind("]", start, start + BLOCK) + 1
        stop = stop or self.text.find("]", start, start + limit) + 1
        if not stop:
            raise RefusedError(
                422, f"{where}: candidate {first + 1} does not end within {limit} characters, or is nested"
            )
        text = self.text[start:stop]
        if LIST_IN_ROW.search(text):
            raise RefusedError(
                422, f"{where}: expected a number or null, got a list after candidate {first + 1}"
            )
        self.at = stop
        rows = decode(f"[{text}]")
        if BOOLEAN.search(text) and isinstance(rows, list):  # NumPy would convert true to 1
            with_missing(rows, where, first)
        return matrix(rows, where, first)

    def _parts(self, opening: str, closing: str, what: str) -> Iterator[int]:
        if self._next() != opening:
            raise RefusedError(422 if self._next() else 400, f"expected {what} at character {self.at}")
        self.at += 1
        number = 0
        if self._next() != closing:
            while True:
                number += 1
                self._next()
                yield number
                if self._next() != ",":
                    break
                self.at += 1
        self._expect(closing)

    def _next(self) -> str:
        """The next character that is not white space, or nothing at the end."""
        match = SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.text[self.at : self.at + 1]

    def _expect(self, character: str) -> None:
        if self._next() != character:
            raise self._not_json(f"expected {character}")
        self.at += 1

    def _string(self) -> str:
        """The string whose opening quotation mark was just read."""
        try:
            value, self.at = scanstring(self.text, self.at, True)
        except ValueError as error:
            raise RefusedError(400, f"the body is not JSON: {error}") from None
        return str(value)

    def _not_json(self, reason: str) -> RefusedError:
        return RefusedError(400, f"the body is not JSON: {reason} at character {self.at}")
