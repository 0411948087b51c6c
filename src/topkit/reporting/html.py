"""A report as a single HTML file: text, tables and SVG plots, with no external resources."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from topkit.data.files import FilePath, text_writer
from topkit.reporting.plots import write_svg
from topkit.reporting.side_by_side import STYLE as PAIR_STYLE
from topkit.reporting.side_by_side import Ranked, side_by_side_html
from topkit.reporting.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """
:root { color-scheme: light dark;
        --ink: #1b1f24; --paper: #fff; --soft: #f3f5f7; --line: #d5dae0; --key: #0b6bcb;
        --good: #15803d; --bad: #b91c1c; --quiet: #5b6673; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --paper: #15181c; --soft: #20252b; --line: #3a424c; --key: #6cb2ff;
          --good: #4ade80; --bad: #f87171; --quiet: #9aa5b1; }
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
td[style*=left]:last-child { white-space: normal; min-width: 14rem; }
th[scope=row] { text-align: left; font-weight: normal; position: sticky; left: 0; background: var(--paper); }
@media (max-width: 40rem) { body { padding: 1rem; } th, td { padding: .3rem .25rem; font-size: .8rem; }
  th[scope=row] { white-space: normal; min-width: 5.5rem; } }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; } figcaption { font-size: .85rem; }
pre { background: var(--soft); padding: .8rem; border-radius: 8px; overflow-x: auto; font-size: .85rem; }
code { background: var(--soft); padding: .1rem .3rem; border-radius: 4px; }
"""


class Page:
    """Collects the parts of a page in order; all text is escaped.

    >>> page = Page("Two systems")
    >>> page.paragraph("Both were tested on 29 queries.")
    >>> "<p>Both were tested on 29 queries.</p>" in page.html()
    True
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._parts: list[str] = []

    def heading(self, text: str) -> None:
        """A heading of the second level."""
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def paragraph(self, text: str) -> None:
        """A paragraph; text between backticks is shown as code."""
        marked = re.sub("`([^`]*)`", r"<code>\1</code>", escape(text, quote=False))
        self._parts.append(f"<p>{marked}</p>")

    def code(self, text: str) -> None:
        """Preformatted text, such as the content of a file."""
        self._parts.append(f"<pre>{escape(text, quote=False)}</pre>")

    def figures(self, values: Mapping[str, str]) -> None:
        """Large numbers, each with its description: description → number."""
        items = "".join(f"<li><b>{escape(v)}</b>{escape(k)}</li>" for k, v in values.items())
        self._parts.append(f'<ul class="facts">{items}</ul>')

    def table(self, table: Table) -> None:
        """A table with its notes."""
        self._parts.append(table.html())

    def plot(self, figure: Figure, caption: str) -> None:
        """A matplotlib figure as inline SVG; screen readers read the caption."""
        stream = io.StringIO()
        write_svg(figure, stream)
        svg = stream.getvalue()
        svg = svg[svg.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{escape(caption)}"', 1)
        self._parts.append(f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>")

    def rankings(
        self, left: Sequence[Ranked], right: Sequence[Ranked], titles: tuple[str, str], best_grade: float
    ) -> None:
        """Two rankings of the same documents side by side."""
        self._parts.append(side_by_side_html(left, right, titles, best_grade))

    def folded(self, title: str, content: Page, *, opened: bool = False) -> None:
        """The parts of another page behind a title that opens and closes them."""
        start = "<details open>" if opened else "<details>"
        inner = "".join(content._parts)
        self._parts.append(f"{start}<summary>{escape(title)}</summary>{inner}</details>")

    def html(self) -> str:
        """The whole page."""
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{STYLE}{PAIR_STYLE}</style></head>"
            f"<body><h1>{escape(self.title)}</h1>{''.join(self._parts)}</body></html>\n"
        )

    def write(self, path: FilePath) -> None:
        """Write the page to a file, completely or not at all."""
        with text_writer(path) as stream:
            stream.write(self.html())
