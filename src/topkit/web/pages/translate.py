"""The interface in several languages: one JSON file per language in the folder ``languages``.

Templates are written in English. When a template is loaded for another language, each text between two tags
and each label in an attribute is replaced by its translation; a text that the file does not contain stays
English. So a new language is a new file, and a new page needs no marks. A file has three parts: ``texts``
(pages; values such as ``{{ name }}`` stay as they are), ``script`` (messages of the scripts and the API, with
values such as ``{count}``), and ``plurals`` (the word for one and for several).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, select_autoescape
from jinja2.ext import Extension
from starlette.requests import Request

from topkit.data.words import counted

HERE = Path(__file__).parent.parent
COOKIE = "language"
ENGLISH = "en"
TAG = re.compile(r"(<(?:\"[^\"]*\"|\{\{.*?\}\}|\{%.*?%\}|[^<>\"])*>|\{%.*?%\}|\{#.*?#\})", re.DOTALL)
LABEL = re.compile(r"""(\s(?:aria-label|placeholder|title)=")([^"{]+)(")""")
VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
MARKED = re.compile(r"""_\("((?:[^"\\]|\\.)+)"[,)]""")
"""A text inside an expression of a template, or in a script: ``_("…")``."""
TOOL_NAMES = {"pairs": "two documents", "grades": "five grades", "both": "both tools"}


class Language(NamedTuple):
    """A language of the interface."""

    code: str
    name: str
    texts: dict[str, str]
    script: dict[str, str]
    plurals: dict[str, list[str]]

    def text(self, english: str) -> str:
        """The translation; English if there is none."""
        return self.texts.get(english, english)

    def with_noun(self, number: int, word: str) -> str:
        """A number with its noun: "1 judgment", "3 Urteile"."""
        forms = self.plurals.get(word)
        return counted(number, word) if forms is None else f"{number} {forms[number != 1]}"


@cache
def languages() -> dict[str, Language]:
    """All languages by code; English first."""
    languages = {ENGLISH: Language(ENGLISH, "English", {}, {}, {})}
    for path in sorted((HERE / "languages").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        languages[path.stem] = Language(
            path.stem, content["name"], content["texts"], content["script"], content["plurals"]
        )
    return languages


def language_of(request: Request) -> Language:
    """The language that the person chose, else the first one that the browser accepts and that exists."""
    known = languages()
    chosen = request.cookies.get(COOKIE, "")
    if chosen in known:
        return known[chosen]
    for part in request.headers.get("accept-language", "")[:200].split(","):
        code = part.split(";")[0].strip().lower().split("-")[0]
        if code in known:
            return known[code]
    return known[ENGLISH]


def texts_of_template(source: str) -> Iterator[str]:
    """The texts of a template that can be translated."""
    texts: list[str] = []

    def note(text: str) -> str:
        texts.append(text)
        return text

    _replaced(source, note)
    yield from texts
    yield from MARKED.findall(source)


def _replaced(source: str, translate: Callable[[str], str]) -> str:
    """The source of a template with all its texts and labels replaced."""
    parts = TAG.split(source)
    for i, part in enumerate(parts):
        if part.startswith("<"):
            parts[i] = LABEL.sub(lambda label: label[1] + translate(label[2]) + label[3], part)
        elif not part.startswith(("{%", "{#")) and re.search(r"[^\W\d_]", VALUE.sub("", part)):
            text = part.strip()
            start = part.index(text)
            parts[i] = part[:start] + translate(" ".join(text.split())) + part[start + len(text) :]
    return "".join(parts)


@cache
def environment(code: str) -> Environment:
    """The templates in a language."""
    language = languages()[code]

    class Translate(Extension):
        def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
            return _replaced(source, language.text)

    extensions: list[Any] = [] if code == ENGLISH else [Translate]
    created = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=select_autoescape(), extensions=extensions
    )
    names = {key: language.text(name) for key, name in TOOL_NAMES.items()}
    created.globals.update(_=language.text, tool_names=names, language=language, languages=languages())
    created.filters.update(counted=language.with_noun)
    return created
