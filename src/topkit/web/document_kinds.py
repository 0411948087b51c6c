"""Document templates: what a document looks like, given by the fields of the imported record.

======== ==================================================================== =============================
template fields                                                               stored body
======== ==================================================================== =============================
text     any text                                                             the text
html     ``html``                                                             the page
url      ``url`` and no text                                                  the URL
markdown ``markdown``                                                         the Markdown source
table    ``table``: CSV, or a JSON list of rows                               JSON: a list of rows
image    ``image``: the name of an uploaded picture, and optionally a text    JSON: image, text
product  ``price``, and optionally ``image``, ``text`` and any other fields   JSON: price, image, text, fields
======== ==================================================================== =============================
"""

from __future__ import annotations

import csv
import json
from typing import Any, Literal, NamedTuple, get_args

from topkit.data.errors import InputError

Kind = Literal["text", "html", "url", "markdown", "table", "image", "product"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LARGEST_TABLE = 2_000
"""Rows of a table; nobody reads more before judging."""


class Template(NamedTuple):
    """A document with a template of its own."""

    kind: Kind
    body: str


def read_template(key: str, fields: dict[str, str]) -> Template | None:
    """The template that the fields of a record ask for; None for text, HTML and URLs. Removes the fields.

    >>> read_template("d1", {"price": "9 €", "image": "cup.png", "text": "A cup.", "colour": "blue"}).kind
    'product'
    """
    markdown = fields.pop("markdown", "").strip()
    if markdown:
        return Template("markdown", markdown)
    table = fields.pop("table", "").strip()
    if table:
        return Template("table", json.dumps(_rows(key, table), ensure_ascii=False))
    image, price = fields.pop("image", "").strip(), fields.pop("price", "").strip()
    if not image and not price:
        return None
    text = fields.pop("text", "").strip()
    others = {name: value.strip() for name, value in fields.items() if value.strip()}
    if price:
        content: dict[str, Any] = {"price": price, "image": image, "text": text, "fields": others}
        return Template("product", json.dumps(content, ensure_ascii=False))
    text = "\n\n".join([text, *(f"{name}: {value}" for name, value in others.items())]).strip()
    return Template("image", json.dumps({"image": image, "text": text}, ensure_ascii=False))


def _rows(key: str, table: str) -> list[list[str]]:
    if table.startswith("["):
        try:
            content = json.loads(table)
        except (ValueError, RecursionError):
            raise InputError(
                f"the table of document {key!r} is not valid JSON", "give a list of rows"
            ) from None
        if not all(isinstance(row, list) for row in content):
            raise InputError(f"the table of document {key!r} is not a list of rows", "give [[…], […]]")
        rows = [[str(cell) for cell in row] for row in content]
    else:
        separator = max(",;\t", key=table.split("\n", 1)[0].count)
        rows = [row for row in csv.reader(table.splitlines(), delimiter=separator) if row]
    if len(rows) > LARGEST_TABLE:
        raise InputError(
            f"the table of document {key!r} has {len(rows):,} rows", f"at most {LARGEST_TABLE:,}"
        )
    return rows


def plain_text(kind: str, title: str, body: str) -> str:
    """The words of a document, for features and for language models."""
    if kind == "url":
        words = ""
    elif kind == "html":
        from topkit.web.viewing import text_of_html

        words = text_of_html(body)
    elif kind == "table":
        words = "\n".join(" ".join(row) for row in json.loads(body))
    elif kind in ("image", "product"):
        content = json.loads(body)
        fields = [f"{name}: {value}" for name, value in content.get("fields", {}).items()]
        words = "\n".join([content.get("price", ""), content["text"], *fields])
    else:
        words = body
    return f"{title}\n{words}".strip()
