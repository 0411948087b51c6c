"""The few plots that reports share, drawn alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vPX*"
BLUE, GREY = "#0b6bcb", "#8a939e"

Band = Sequence[tuple[float, float]]


def _axes(x_label: str, y_label: str, height: float = 3.4) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, height))
    axes = figure.subplots()
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _legend(axes: Axes) -> None:
    """Names below the plot, where they take no width: phones are narrow."""
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3, fontsize="small")


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
    """One line for each name; markers differ too, so that colours are not needed to tell them apart.

    bands: intervals around a line. even: places of x at even distances, whatever their values. names: what is
    written at the places.
    """
    figure, axes = _axes(x_label, y_label)
    places = list(range(len(x))) if even else list(x)
    for i, (name, values) in enumerate(lines.items()):
        (line,) = axes.plot(places, values, marker=MARKERS[i % len(MARKERS)], markersize=4, label=name)
        if bands is not None and name in bands:
            low, high = zip(*bands[name], strict=True)
            axes.fill_between(places, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
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
    """Lines whose points have x values of their own."""
    figure, axes = _axes(x_label, y_label)
    for i, (name, points) in enumerate(lines.items()):
        x, y = zip(*points, strict=True)
        (line,) = axes.plot(x, y, marker=MARKERS[i % len(MARKERS)], markersize=4, label=name)
        if bands is not None and name in bands:
            low, high = zip(*bands[name], strict=True)
            axes.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
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
    """Lines of two measures that differ in range: dark ones by the left axis, blue ones by the right."""
    figure, axes = _axes(labels[0], labels[1])
    other = axes.twinx()
    other.set_ylabel(labels[2], color=BLUE)
    other.spines[["top"]].set_visible(False)
    handles = []
    for place, lines, colour, fill in ((axes, left, "#1b1f24", "full"), (other, right, BLUE, "none")):
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
    axes.legend(
        handles=handles,
        frameon=False,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.18),
        ncols=3,
        fontsize="small",
    )
    return figure


def scatter(points: Sequence[tuple[float, float]], x_label: str, y_label: str) -> Figure:
    """Two values of each query; above the diagonal the second is larger."""
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
    """A bar for each name, the first on top."""
    figure, axes = _axes(x_label, "", height=0.6 + 0.28 * len(values))
    names = list(values)[::-1]
    axes.barh(names, [values[name] for name in names], color=BLUE)
    axes.grid(visible=False, axis="y")
    return figure


def histogram(values: Sequence[int], x_label: str, y_label: str) -> Figure:
    """How often each whole number occurs."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = _axes(x_label, y_label)
    counts = {value: list(values).count(value) for value in range(min(values), max(values) + 1)}
    axes.bar(list(counts), list(counts.values()), color=BLUE)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def bins(edges: Sequence[float], counts: Sequence[int], x_label: str, y_label: str) -> Figure:
    """A histogram that is counted already."""
    figure, axes = _axes(x_label, y_label)
    axes.stairs(counts, edges, fill=True, color=BLUE)
    axes.axvline(0.0, color=GREY, linewidth=1)
    return figure
