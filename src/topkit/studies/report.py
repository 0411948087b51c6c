"""A report as one HTML file: tables, SVG plots and words, with nothing to fetch from elsewhere."""

from __future__ import annotations

import io
import re
from html import escape
from os import PathLike
from typing import TYPE_CHECKING

from topkit.data.files import text_writer
from topkit.studies.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """
:root { color-scheme: light dark;
        --ink: #1b1f24; --paper: #fff; --soft: #f3f5f7; --line: #d5dae0; --key: #0b6bcb; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --paper: #15181c; --soft: #20252b; --line: #3a424c; --key: #6cb2ff; }
  figure { background: #fff; border-radius: 6px; }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 60rem; margin: 0 auto; padding: 1.5rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
.facts { display: flex; flex-wrap: wrap; gap: .8rem; padding: 0; list-style: none; }
.facts li { background: var(--soft); border-radius: 8px; padding: .6rem 1rem; }
.facts b { display: block; font-size: 1.5rem; color: var(--key); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; } .note { font-size: .85rem; margin: .3rem 0 1.5rem; }
th, td { padding: .35rem .8rem; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums;
         border-bottom: 1px solid var(--line); }
th[scope=row] { text-align: left; font-weight: normal; position: sticky; left: 0; background: var(--paper); }
@media (max-width: 40rem) { body { padding: 1rem; } th, td { padding: .3rem .25rem; font-size: .8rem; }
  th[scope=row] { white-space: normal; min-width: 5.5rem; } }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; } figcaption { font-size: .85rem; }
pre { background: var(--soft); padding: .8rem; border-radius: 8px; overflow-x: auto; font-size: .85rem; }
code { background: var(--soft); padding: .1rem .3rem; border-radius: 4px; }
"""


class Report:
    """Collects parts in order; everything given as text is escaped.

    >>> report = Report("Two systems")
    >>> report.words("Both were tried on 29 queries.")
    >>> "<p>Both were tried on 29 queries.</p>" in report.html()
    True
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._parts: list[str] = []

    def heading(self, text: str) -> None:
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def words(self, text: str) -> None:
        """A paragraph; `code` between backticks."""
        marked = re.sub("`([^`]*)`", r"<code>\1</code>", escape(text, quote=False))
        self._parts.append(f"<p>{marked}</p>")

    def code(self, text: str) -> None:
        """Text as it is, such as a file."""
        self._parts.append(f"<pre>{escape(text, quote=False)}</pre>")

    def facts(self, figures: dict[str, str]) -> None:
        """Large figures with what they are."""
        items = "".join(f"<li><b>{escape(v)}</b>{escape(k)}</li>" for k, v in figures.items())
        self._parts.append(f'<ul class="facts">{items}</ul>')

    def table(self, table: ResultTable) -> None:
        """A result table, the best of each column in bold and the notes below it."""
        best = table.best()
        head = "".join(f"<th scope='col'>{escape(text)}</th>" for text in ("", *table.columns))
        rows = []
        for (name, _), cells in zip(table.rows, table.cells(), strict=True):
            texts = [
                f"<b>{escape(text)}</b>" if (name, column) in best else escape(text)
                for column, text in zip(table.columns, cells[1:], strict=True)
            ]
            cells_html = "".join(f"<td>{text}</td>" for text in texts)
            rows.append(f"<tr><th scope='row'>{escape(name)}</th>{cells_html}</tr>")
        notes = "<br>".join(map(escape, table.notes))
        self._parts.append(
            f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table></div><p class='note'>{notes}</p>"
        )

    def figure(self, figure: Figure, caption: str) -> None:
        """A matplotlib figure as SVG in the page; the caption is what a screen reader says."""
        import matplotlib as mpl

        stream = io.StringIO()
        with mpl.rc_context({"svg.hashsalt": "topkit"}):  # the same figure is the same file
            figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None})
        svg = stream.getvalue()
        svg = svg[svg.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{escape(caption)}"', 1)
        self._parts.append(f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>")

    def html(self) -> str:
        """The whole page."""
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{STYLE}</style></head>"
            f"<body><h1>{escape(self.title)}</h1>{''.join(self._parts)}</body></html>\n"
        )

    def write(self, path: str | PathLike[str]) -> None:
        """Write the page, whole or not at all."""
        with text_writer(path) as stream:
            stream.write(self.html())
