"""Documents as pages for a sandboxed frame, with the query terms highlighted."""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser

from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy.engine import RowMapping

from topkit.features.analyser import Analyser
from topkit.web.headers import DOCUMENT_POLICY

STYLE = (
    "body{font:16px/1.55 system-ui,sans-serif;margin:1rem;color:#1a1a1a;background:#fff}"
    "body{overflow-wrap:anywhere}"
    "mark{background:#ffe58a;color:inherit;padding:0 .1em}pre{white-space:pre-wrap;font:inherit;margin:0}"
    "h1{font-size:1.15rem;margin:0 0 .6rem}"
)
HEAD = f'<!doctype html><html lang="und"><head><meta charset="utf-8"><style>{STYLE}</style></head><body>'
WORD = re.compile(r"\w+")
UNMARKED = ("script", "style", "title", "textarea", "template", "noscript", "svg", "math", "select", "option")
"""Elements whose text is not displayed, or may not contain other elements."""


class Marker:
    """Highlights the words whose stems occur in the query.

    >>> Marker("cooling of wings")("Wings & <cool> things")
    '<mark>Wings</mark> &amp; &lt;<mark>cool</mark>&gt; things'
    """

    def __init__(self, query: str) -> None:
        self._analyser = Analyser()
        self._query_terms = set(self._analyser.terms(query))

    def __call__(self, text: str) -> str:
        """The text as HTML with highlighted words."""
        if not self._query_terms:
            return escape(text)
        words = {word.lower() for word in WORD.findall(text)}
        terms = dict(zip(words, self._analyser.reduce(list(words)), strict=True))
        parts, end = [], 0
        for word in WORD.finditer(text):
            if terms[word[0].lower()] in self._query_terms:
                parts += [escape(text[end : word.start()]), f"<mark>{escape(word[0])}</mark>"]
                end = word.end()
        return "".join([*parts, escape(text[end:])])


class _Page(HTMLParser):
    """Copies a page and highlights words in its text. Scripts are copied, but the sandbox blocks them."""

    def __init__(self, mark: Marker) -> None:
        super().__init__(convert_charrefs=False)
        self._mark = mark
        self._unmarked_depth = 0
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unmarked_depth += tag in UNMARKED
        self.parts.append(self.get_starttag_text() or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        self._unmarked_depth -= tag in UNMARKED and self._unmarked_depth > 0
        self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.parts.append(data if self._unmarked_depth else self._mark(data))

    def handle_entityref(self, name: str) -> None:
        self.parts.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.parts.append(f"&#{name};")


def document_page(kind: str, title: str, body: str, query: str) -> str:
    """A text or HTML document as a page."""
    mark = Marker(query)
    if kind == "html":
        page = _Page(mark)
        page.feed(body)
        page.close()
        return HEAD + "".join(page.parts)
    head = f"<h1>{mark(title)}</h1>" if title else ""
    return f"{HEAD}{head}<pre>{mark(body)}</pre></body></html>"


def document_response(row: RowMapping, query: str) -> Response:
    """A document as a page without scripts, or a redirect to its URL."""
    if row["kind"] == "url":
        return RedirectResponse(row["body"], 302)
    page = document_page(row["kind"], row["title"], row["body"], query)
    return HTMLResponse(page, headers={"content-security-policy": DOCUMENT_POLICY})
