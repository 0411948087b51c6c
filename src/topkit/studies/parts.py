"""The parts of a report that a kind of study yields: headings, paragraphs, tables and plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from topkit.reporting.tables import ScoreTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Heading:
    """A heading."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; text between backticks is shown as code."""

    text: str


@dataclass(frozen=True)
class PlotPart:
    """A figure, written as SVG under this name."""

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True)
class TablePart:
    """A table, printed and also written as Markdown, LaTeX and CSV under this name."""

    name: str
    scores: ScoreTable


Part = Heading | Paragraph | TablePart | PlotPart
