"""A document as a page of its own for a sandboxed frame, with the words of the query marked."""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser

from topkit.features.analyser import Analyser

STYLE = (
    "body{font:16px/1.55 system-ui,sans-serif;margin:1rem;color:#1a1a1a;background:#fff}"
    "body{overflow-wrap:anywhere}"
    "mark{background:#ffe58a;color:inherit;padding:0 .1em}pre{white-space:pre-wrap;font:inherit;margin:0}"
    "h1{font-size:1.15rem;margin:0 0 .6rem}"
)
HEAD = f'<!doctype html><html lang="und"><head><meta charset="utf-8"><style>{STYLE}</style></head><body>'
WORD = re.compile(r"\w+")
SILENT = ("script", "style", "title", "textarea", "template", "noscript", "svg", "math", "select", "option")
"""Elements whose text is not read, or must not get elements inside."""


class Marker:
    """Marks the words whose stems are in the query.

    >>> Marker("cooling of wings")("Wings & <cool> things")
    '<mark>Wings</mark> &amp; &lt;<mark>cool</mark>&gt; things'
    """

    def __init__(self, query: str) -> None:
        self._analyser = Analyser()
        self._wanted = set(self._analyser.terms(query))

    def __call__(self, text: str) -> str:
        """The text as HTML with marks."""
        if not self._wanted:
            return escape(text)
        words = {word.lower() for word in WORD.findall(text)}
        terms = dict(zip(words, self._analyser.reduce(list(words)), strict=True))
        parts, end = [], 0
        for found in WORD.finditer(text):
            if terms[found[0].lower()] in self._wanted:
                parts += [escape(text[end : found.start()]), f"<mark>{escape(found[0])}</mark>"]
                end = found.end()
        return "".join([*parts, escape(text[end:])])


class _Page(HTMLParser):
    """Copies a page and marks words in its text. Whatever the page holds, its frame lets nothing run."""

    def __init__(self, mark: Marker) -> None:
        super().__init__(convert_charrefs=False)
        self._mark = mark
        self._silent = 0
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in SILENT
        self.parts.append(self.get_starttag_text() or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in SILENT and self._silent > 0
        self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.parts.append(data if self._silent else self._mark(data))

    def handle_entityref(self, name: str) -> None:
        self.parts.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.parts.append(f"&#{name};")


def document_page(kind: str, title: str, body: str, query: str) -> str:
    """The page of a document that is a text or HTML."""
    mark = Marker(query)
    if kind == "html":
        page = _Page(mark)
        page.feed(body)
        page.close()
        return HEAD + "".join(page.parts)
    head = f"<h1>{mark(title)}</h1>" if title else ""
    return f"{HEAD}{head}<pre>{mark(body)}</pre></body></html>"
