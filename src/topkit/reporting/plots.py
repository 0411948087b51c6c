"""The plots that reports share, in one style. matplotlib is imported when the first plot is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING, Any

from topkit.compute import require
from topkit.data import InputError
from topkit.data.files import FilePath, written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vPX*"
"""Lines differ by marker as well as by colour, for readers who cannot see colours."""
FIGURE_FORMATS = ("svg", "png", "pdf")
BLUE, GREY, BLACK = "#0b6bcb", "#8a939e", "#1b1f24"

Band = Sequence[tuple[float, float]]
"""The (low, high) ends of an interval at each point of a line."""


def new_figure(width: float = 5.6, height: float = 3.4) -> Figure:
    """An empty figure that needs no display; size in inches."""
    figure: Figure = require("matplotlib.figure", "plots").Figure(figsize=(width, height))
    return figure


def save_figure(figure: Figure, path: FilePath, dpi: int = 150) -> None:
    """Write a figure in the format of the file name's ending (.svg, .png, .pdf), completely or not at all."""
    suffix = str(path).rpartition(".")[2].lower()
    if suffix not in FIGURE_FORMATS:
        raise InputError(
            "unknown figure format", f"end the name with .{', .'.join(FIGURE_FORMATS)}", file=path
        )
    metadata = {"Date": None} if suffix == "svg" else None
    with written_whole(path) as temporary, _reproducible():
        figure.savefig(temporary, format=suffix, dpi=dpi, bbox_inches="tight", metadata=metadata)


def write_svg(figure: Figure, stream: IO[str]) -> None:
    """Write a figure as SVG; the same figure always gives the same text."""
    with _reproducible():
        figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None})


def _reproducible() -> AbstractContextManager[Any]:
    """Identifiers inside an SVG file derive from this salt instead of from a random number."""
    context: AbstractContextManager[Any] = require("matplotlib", "plots").rc_context(
        {"svg.hashsalt": "topkit"}
    )
    return context


def _axes(x_label: str, y_label: str, height: float = 3.4) -> tuple[Figure, Axes]:
    figure = new_figure(height=height)
    axes = figure.subplots()
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _legend(axes: Axes, handles: Sequence[Any] | None = None) -> None:
    """Names below the plot, where they take no width: phones are narrow."""
    axes.legend(
        handles=handles,
        frameon=False,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.18),
        ncols=3,
        fontsize="small",
    )


def _line(
    axes: Axes, name: str, number: int, x: Sequence[float], y: Sequence[float], band: Band | None
) -> None:
    """A line with markers and the interval around it."""
    (line,) = axes.plot(x, y, marker=MARKERS[number % len(MARKERS)], markersize=4, label=name)
    if band is not None:
        low, high = zip(*band, strict=True)
        axes.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)


def curves(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    x_label: str,
    y_label: str,
    *,
    bands: Mapping[str, Band] | None = None,
    even: bool = False,
    names: Sequence[str] | None = None,
) -> Figure:
    """One line per name.

    bands: intervals around a line. even: place the x values at equal distances. names: tick labels for x.
    """
    figure, axes = _axes(x_label, y_label)
    places = list(range(len(x))) if even else list(x)
    for i, (name, values) in enumerate(lines.items()):
        _line(axes, name, i, places, values, (bands or {}).get(name))
    if even or len(x) <= 12:
        axes.set_xticks(places, names or [f"{value:g}" for value in x])
    _legend(axes)
    return figure


def paths(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    x_label: str,
    y_label: str,
    *,
    bands: Mapping[str, Band] | None = None,
    log: bool = False,
) -> Figure:
    """Lines as (x, y) points, each with its own x values."""
    figure, axes = _axes(x_label, y_label)
    for i, (name, points) in enumerate(lines.items()):
        x, y = zip(*points, strict=True)
        _line(axes, name, i, x, y, (bands or {}).get(name))
    if log:
        axes.set_xscale("log")
        ticks = sorted({x for points in lines.values() for x, _ in points})
        axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
        axes.minorticks_off()
    _legend(axes)
    return figure


def two_axes(
    x: Sequence[float],
    left: Mapping[str, Sequence[float]],
    right: Mapping[str, Sequence[float]],
    labels: tuple[str, str, str],
) -> Figure:
    """Lines of two measures with different ranges: black lines on the left axis, blue ones on the right."""
    figure, axes = _axes(labels[0], labels[1])
    other = axes.twinx()
    other.set_ylabel(labels[2], color=BLUE)
    other.spines[["top"]].set_visible(False)
    handles = []
    for place, lines, colour, fill in ((axes, left, BLACK, "full"), (other, right, BLUE, "none")):
        for i, (name, values) in enumerate(lines.items()):
            handles += place.plot(
                x,
                values,
                marker=MARKERS[i % len(MARKERS)],
                color=colour,
                fillstyle=fill,
                markersize=4,
                label=name,
            )
    _legend(axes, handles)
    return figure


def scatter(points: Sequence[tuple[float, float]], x_label: str, y_label: str) -> Figure:
    """Two values per query; above the diagonal the second one is larger."""
    figure, axes = _axes(x_label, y_label, height=4.6)
    low = min((min(pair) for pair in points), default=0.0)
    high = max((max(pair) for pair in points), default=1.0)
    axes.plot([low, high], [low, high], color=GREY, linewidth=1)
    if points:
        x, y = zip(*points, strict=True)
        axes.scatter(x, y, s=14, alpha=0.5, color=BLUE, edgecolors="none")
    axes.set_aspect("equal")
    return figure


def bars(values: Mapping[str, float], x_label: str) -> Figure:
    """One bar per name, the first at the top."""
    figure, axes = _axes(x_label, "", height=0.6 + 0.28 * len(values))
    names = list(values)[::-1]
    axes.barh(names, [values[name] for name in names], color=BLUE)
    axes.grid(visible=False, axis="y")
    return figure


def intervals(points: Mapping[str, tuple[float, float, float]], x_label: str) -> Figure:
    """A point with its interval (value, low, high) per name, the first at the top."""
    figure, axes = _axes(x_label, "", height=0.8 + 0.3 * len(points))
    names = list(points)[::-1]
    values, low, high = zip(*(points[name] for name in names), strict=True)
    below = [value - end for value, end in zip(values, low, strict=True)]
    above = [end - value for value, end in zip(values, high, strict=True)]
    axes.errorbar(values, range(len(names)), xerr=(below, above), fmt="o", color=BLUE, capsize=3)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    return figure


def histogram(values: Sequence[int], x_label: str, y_label: str) -> Figure:
    """How often each integer occurs."""
    figure, axes = _axes(x_label, y_label)
    counts = {value: list(values).count(value) for value in range(min(values), max(values) + 1)}
    axes.bar(list(counts), list(counts.values()), color=BLUE)
    axes.yaxis.set_major_locator(require("matplotlib.ticker", "plots").MaxNLocator(integer=True))
    return figure


def bins(edges: Sequence[float], counts: Sequence[int], x_label: str, y_label: str) -> Figure:
    """A histogram from bin edges and counts."""
    figure, axes = _axes(x_label, y_label)
    axes.stairs(counts, edges, fill=True, color=BLUE)
    axes.axvline(0.0, color=GREY, linewidth=1)
    return figure
