"""The few plots that reports share, drawn alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vPX*"


def _axes(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6))
    axes = figure.subplots()
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def curves(x: Sequence[float], lines: Mapping[str, Sequence[float]], x_label: str, y_label: str) -> Figure:
    """One line for each name; markers differ too, so that colours are not needed to tell them apart."""
    figure, axes = _axes(x_label, y_label)
    for i, (name, values) in enumerate(lines.items()):
        axes.plot(x, values, marker=MARKERS[i % len(MARKERS)], label=name)
    axes.set_xticks(list(x))
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def histogram(values: Sequence[int], x_label: str, y_label: str) -> Figure:
    """How often each whole number occurs."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = _axes(x_label, y_label)
    counts = {value: list(values).count(value) for value in range(min(values), max(values) + 1)}
    axes.bar(list(counts), list(counts.values()), color="#0b6bcb")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    return figure
