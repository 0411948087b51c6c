"""Documents as pages for a sandboxed frame, with the query terms highlighted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser

from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markdown_it import MarkdownIt
from sqlalchemy.engine import RowMapping

from topkit.features.analyser import Analyser
from topkit.web.headers import DOCUMENT_POLICY

STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.55 system-ui,sans-serif;margin:1rem;color:#1a1a1a;background:#fff}"
    "body{overflow-wrap:anywhere}"
    "mark{background:#ffe58a;color:#1a1a1a;padding:0 .1em}"
    "pre.text{white-space:pre-wrap;font:inherit;margin:0;unicode-bidi:plaintext}"
    "h1{font-size:1.15rem;margin:0 0 .6rem}img{max-width:100%;height:auto}"
    "table{border-collapse:collapse}th,td{border:1px solid #9aa4b2;padding:.3rem .6rem;text-align:start}"
    "td,th,p,li,dd{unicode-bidi:plaintext}"
    ".price{font-size:1.3rem;font-weight:700;margin:.4rem 0}"
    "dl{display:grid;grid-template-columns:auto 1fr;gap:.2rem 1rem}dt{font-weight:600}dd{margin:0}"
    "@media(prefers-color-scheme:dark){body{color:#e6eaf0;background:#141a22}mark{background:#6b5200;color:#fff}"
    "a{color:#9dbcff}}"
)
WORD = re.compile(r"\w+")
UNMARKED = ("script", "style", "title", "textarea", "template", "noscript", "svg", "math", "select", "option")
"""Elements whose text is not displayed, or may not contain other elements."""
Pictures = Callable[[str], str | None]
"""The data URL of an uploaded picture by its name, or None."""


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
    """Copies a page and highlights words in its text. Scripts are copied, but the sandbox blocks them.

    Links to other sites open in a new tab: in the frame they would replace the document. Links to anywhere
    else than the web or this page lose their address.
    """

    def __init__(self, mark: Marker) -> None:
        super().__init__(convert_charrefs=False)
        self._mark = mark
        self._unmarked_depth = 0
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unmarked_depth += tag in UNMARKED
        self.parts.append(_link(tag, attrs) if tag in ("a", "area") else self.get_starttag_text() or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append(_link(tag, attrs) if tag in ("a", "area") else self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        self._unmarked_depth -= tag in UNMARKED and self._unmarked_depth > 0
        self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.parts.append(data if self._unmarked_depth else self._mark(data))

    def handle_entityref(self, name: str) -> None:
        self.parts.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.parts.append(f"&#{name};")


def _link(tag: str, attrs: list[tuple[str, str | None]]) -> str:
    kept = [(name, value or "") for name, value in attrs if name not in ("target", "rel", "ping", "download")]
    address = dict(kept).get("href", "").strip()
    if address.lower().startswith(("http://", "https://")):
        kept += [("target", "_blank"), ("rel", "noopener noreferrer")]
    elif not address.startswith("#"):
        kept = [(name, value) for name, value in kept if name != "href"]
    return f"<{tag}" + "".join(f' {name}="{escape(value)}"' for name, value in kept) + ">"


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style", "template")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style", "template") and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def text_of_html(page: str) -> str:
    """The words of a page without tags, scripts and styles."""
    words = _Words()
    words.feed(page)
    words.close()
    return " ".join(" ".join(words.parts).split())


def markdown_html(text: str, pictures: Pictures = lambda _: None) -> str:
    """Markdown as HTML. HTML in it is shown as text; pictures come from uploads only, never from the network.

    >>> markdown_html("*so* <b>")
    '<p><em>so</em> &lt;b&gt;</p>\\n'
    """
    parser = MarkdownIt("js-default", {"html": False})

    def picture(_: object, tokens: list[object], i: int, *options: object) -> str:
        token = tokens[i]
        name, alt = str(token.attrs.get("src", "")), escape(token.content)  # type: ignore[attr-defined]
        data = pictures(name)
        return f"[{alt or escape(name)}]" if data is None else f'<img src="{data}" alt="{alt}">'

    parser.add_render_rule("image", picture)
    return str(parser.render(text))


def document_page(kind: str, title: str, body: str, query: str, pictures: Pictures = lambda _: None) -> str:
    """A document as a page."""
    mark = Marker(query)
    heading = f'<h1 dir="auto">{mark(title)}</h1>' if title else ""
    if kind == "html":
        content = _marked(body, mark)
    elif kind == "markdown":
        content = heading + _marked(markdown_html(body, pictures), mark)
    elif kind == "table":
        content = heading + _table(json.loads(body), mark)
    elif kind in ("image", "product"):
        content = heading + _card(json.loads(body), title, mark, pictures)
    else:
        content = f'{heading}<pre class="text" dir="auto">{mark(body)}</pre>'
    head = f'<meta charset="utf-8"><title>{escape(title) or "Document"}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="und"><head>{head}</head><body dir="auto">{content}'


def _marked(page: str, mark: Marker) -> str:
    copy = _Page(mark)
    copy.feed(page)
    copy.close()
    return "".join(copy.parts)


def _table(rows: list[list[str]], mark: Marker) -> str:
    """A table; the first row contains the headings."""
    head = "".join(f'<th scope="col">{mark(cell)}</th>' for cell in rows[0]) if rows else ""
    body = "".join("<tr>" + "".join(f"<td>{mark(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _card(content: dict[str, object], title: str, mark: Marker, pictures: Pictures) -> str:
    """A picture with a text, or a product: picture, price, text and fields."""
    parts = []
    name = str(content.get("image", ""))
    if name:
        data = pictures(name)
        alt = escape(title or name)
        missing = f"<p>[The picture {escape(name)} was not uploaded]</p>"
        parts.append(missing if data is None else f'<p><img src="{data}" alt="{alt}"></p>')
    if content.get("price"):
        parts.append(f'<p class="price">{mark(str(content["price"]))}</p>')
    if content.get("text"):
        parts.append(f'<pre class="text" dir="auto">{mark(str(content["text"]))}</pre>')
    fields = content.get("fields") or {}
    assert isinstance(fields, dict)  # noqa: S101 - written by the import
    rows = "".join(f"<dt>{mark(str(n))}</dt><dd>{mark(str(v))}</dd>" for n, v in fields.items())
    return "".join(parts) + (f"<dl>{rows}</dl>" if rows else "")


def document_response(row: RowMapping, query: str, pictures: Pictures = lambda _: None) -> Response:
    """A document as a page without scripts, or a redirect to its URL."""
    if row["kind"] == "url":
        return RedirectResponse(row["body"], 302)
    page = document_page(row["kind"], row["title"], row["body"], query, pictures)
    return HTMLResponse(page, headers={"content-security-policy": DOCUMENT_POLICY})
