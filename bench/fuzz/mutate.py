"""Mutations of bytes: of single bytes, of lines, of numbers, and the insertion of words that break readers."""
# ruff: noqa: E501 - the lists of words are easier to read in long lines

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

NUMBERS = (
    *(b"0 -0 1 -1 0.5 1e39 -1e39 1e400 1e-400 nan NaN inf -inf Infinity NULL null none true false".split()),
    *(b"2147483647 2147483648 4294967296 1000000000 18446744073709551616 -9223372036854775809".split()),
    *(b"1_0 0x10 1e 1. .5 +1 1,5 1e5 00012 1e1000000000".split()),
    b"9" * 400,
    b"7" * 5000,
    "١٢".encode(),
)
WORDS = (
    *(
        b" ;\t;\n;\r;\r\n;\n\n;\0;\x0b;\x0c;\x1c;\x1a;\xff;\xfe;\xc3;\xe2\x82;\xed\xa0\x80;\xf4\x90\x80\x80".split(
            b";"
        )
    ),
    *(b":;,;#;=;\";';[;];{;};<;>;/;\\;..;../x;-;--;*;%;@;(;);|;&;\x1b[31m;<!--;]]>;&amp;;NaN".split(b";")),
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\x1f\x8b",
    b"PK\x03\x04",
    b"PAR1",
    b";",
    *(text.encode() for text in ("\u2028", "\x85", "\xa0", "é", "\u202e", "🙂", "\ufeff", "İ", "ﬀ")),
    b"\\ud800",
    b"[" * 3000,
    b'{"a":' * 2000,
    b"a" * 3000,
    b'"' + b"x" * 140_000,
)
_NUMBER = re.compile(rb"[-+]?\d+(?:\.\d+)?")


def mutate(rng: Random, content: bytes, words: Sequence[bytes] = ()) -> bytes:
    """The content after one to four random changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        content = rng.choice(_CHANGES)(rng, content, words)
    return content[:400_000]


def number(rng: Random) -> bytes:
    """A number, or what looks like one; the longest are rare because they are slow to make."""
    return rng.choice(NUMBERS[: -3 if rng.random() < 0.9 else len(NUMBERS)])


def _place(rng: Random, content: bytes) -> int:
    return rng.randrange(len(content) + 1)


def _span(rng: Random, content: bytes) -> tuple[int, int]:
    first = _place(rng, content)
    return first, min(len(content), first + int(rng.expovariate(1 / 12)) + 1)


def _flip(rng: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    if not content:
        return bytes([rng.randrange(256)])
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]


def _replace_byte(rng: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    place = _place(rng, content)
    return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]


def _delete(rng: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    first, last = _span(rng, content)
    return content[:first] + content[last:]


def _repeat(rng: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    first, last = _span(rng, content)
    return content[:last] + content[first:last] * rng.choice((1, 1, 2, 50)) + content[last:]


def _truncate(rng: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    return content[: _place(rng, content)] if rng.random() < 0.7 else content[_place(rng, content) :]


def _insert(rng: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    place = rng.choice((0, len(content), _place(rng, content), _place(rng, content), _place(rng, content)))
    if words and rng.random() < 0.5:
        word = rng.choice(words)
    else:
        word = rng.choice(WORDS[: -4 if rng.random() < 0.95 else len(WORDS)])
    return content[:place] + word + content[place:]


def _change_number(rng: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return _insert(rng, content, words)
    match = rng.choice(found)
    return content[: match.start()] + number(rng) + content[match.end() :]


def _change_lines(rng: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(4)
    if change == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif change == 1:
        lines.insert(i, lines[j])
    elif change == 2:
        del lines[i]
    else:
        lines[i] = lines[i].rstrip(b"\n")
    return b"".join(lines)


def _change_fields(rng: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    """Repeat, drop or swap the fields of a line."""
    lines = content.split(b"\n")
    i = rng.randrange(len(lines))
    separator = rng.choice((b" ", b"\t", b",", b":"))
    fields = lines[i].split(separator)
    a, b = rng.randrange(len(fields)), rng.randrange(len(fields))
    change = rng.randrange(3)
    if change == 0:
        fields[a], fields[b] = fields[b], fields[a]
    elif change == 1:
        fields.insert(a, fields[b])
    else:
        del fields[a]
    lines[i] = separator.join(fields)
    return b"\n".join(lines)


_CHANGES: tuple[Callable[[Random, bytes, Sequence[bytes]], bytes], ...] = (
    _flip,
    _replace_byte,
    _delete,
    _repeat,
    _truncate,
    _insert,
    _insert,
    _change_number,
    _change_number,
    _change_lines,
    _change_fields,
)
