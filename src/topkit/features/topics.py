"""TREC topics: ``<top>`` records with unclosed tags, and the XML of later tracks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import zip_longest

from topkit.data import InputError
from topkit.data.files import FilePath
from topkit.features.lines import Lines

MARK = re.compile(r"<(/?)top(?:ic)?(?:\s([^<>]*))?>", re.IGNORECASE)
"""The start or the end of a topic."""
TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)[^<>]*>")
NUMBER = re.compile(r"\b(?:number|id|qid)\s*=\s*[\"']?([^\"'\s]+)", re.IGNORECASE)
LABEL = re.compile(r"\s*(?:Number|Topic|Description|Narrative|Domain|Summary)\s*:", re.IGNORECASE)
"""What old topics write after a tag: ``<num> Number: 301``."""
ALIASES = {"description": "desc", "narrative": "narr", "number": "num"}
FORM = "topics look like <top> <num> Number: 301 <title> … </top>"


def topics(numbered: Lines, path: FilePath) -> Iterator[tuple[int, str, dict[str, str]]]:
    """The line, the number and the fields (title, desc, narr, query, …) of each topic."""
    record: list[str] = []
    attributes, opened = "", 0
    for number, text in numbered:
        at = 0
        for mark in MARK.finditer(text):
            if mark[1]:  # a closing tag
                if opened:
                    record.append(text[at : mark.start()])
                    yield (opened, *_topic("\n".join(record), attributes, path, opened))
                opened = 0
            elif opened:
                raise _unclosed(path, opened)
            else:
                opened, attributes, record = number, mark[2] or "", []
            at = mark.end()
        if opened:
            record.append(text[at:])
    if opened:
        raise _unclosed(path, opened)


def _unclosed(path: FilePath, line: int) -> InputError:
    problem = "the topic that starts here has no </top>"
    return InputError(problem, "the file may be truncated; close it or remove it", file=path, line=line)


def _topic(text: str, attributes: str, path: FilePath, line: int) -> tuple[str, dict[str, str]]:
    fields: dict[str, str] = {}
    tags = list(TAG.finditer(text))
    for tag, after in zip_longest(tags, tags[1:]):
        if tag[1]:
            continue
        name = ALIASES.get(tag[2].lower(), tag[2].lower())
        content = LABEL.sub("", text[tag.end() : None if after is None else after.start()], count=1)
        # A tag may occur more than once, such as <subtopic>; the first is the one of the topic itself.
        fields.setdefault(name, " ".join(unescape(content).split()))
    named = NUMBER.search(attributes)
    number = fields.pop("num", "") or (named[1] if named else "")
    if not number:
        raise InputError("the topic has no number", FORM, file=path, line=line)
    return number.split()[0], fields
