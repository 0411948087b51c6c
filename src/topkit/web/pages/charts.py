"""Small plots as SVG. They contain no styles: the content security policy allows only the style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from markupsafe import Markup

from topkit.web.dashboard import Summary

ROW, LABEL, WIDTH = 26, 110, 440
"""Height of a bar with its space, width of the names, width of a plot, in SVG units."""
MOST_BARS = 40
"""With more rows, only those with the least progress are drawn."""
LONGEST_NAME = 14


def bars(rows: Sequence[Summary]) -> Markup:
    """One bar per row: the share of the work that is done."""
    if not rows:
        return Markup("")
    shown = sorted(rows, key=lambda row: row.share)[:MOST_BARS] if len(rows) > MOST_BARS else rows
    length = WIDTH - LABEL - 95
    parts = []
    for i, row in enumerate(shown):
        y, filled = i * ROW, round(length * row.share, 1)
        short = row.name if len(row.name) <= LONGEST_NAME else row.name[: LONGEST_NAME - 1] + "…"
        title = f"{row.name}: {row.done} of {row.total} complete, {row.asked} judgments"
        parts.append(
            f'<text class="name" x="{LABEL - 8}" y="{y + 17}">{escape(short)}</text>'
            f'<rect class="rail" x="{LABEL}" y="{y + 5}" width="{length}" height="16" rx="3"/>'
            f'<rect class="bar" x="{LABEL}" y="{y + 5}" width="{filled}" height="16" rx="3"/>'
            f'<text class="value" x="{LABEL + length + 8}" y="{y + 17}">{100 * row.share:.0f} %, '
            f"{row.done}/{row.total}</text><title>{escape(title)}</title>"
        )
    left_out = len(rows) - len(shown)
    note = f'<p class="note">and {left_out} more with more progress</p>' if left_out else ""
    groups = "".join(f'<g role="listitem">{part}</g>' for part in parts)
    head = f'<svg class="chart" role="list" viewBox="0 0 {WIDTH} {ROW * len(shown)}">'
    return Markup(f"{head}{groups}</svg>{note}")  # noqa: S704 - every name is escaped above


def histogram(ends: Sequence[int], counts: Sequence[int]) -> Markup:
    """The number of judgments by duration; the last bin has no upper end."""
    height, bottom, step = 120, 150, WIDTH // len(counts)
    largest = max(counts) or 1
    labels = [f"≤ {end}" for end in ends] + [f"> {ends[-1]}"]
    parts = []
    for i, (label, count) in enumerate(zip(labels, counts, strict=True)):
        bar_height = round(height * count / largest, 1)
        top, middle = round(bottom - bar_height, 1), i * step + step // 2
        parts.append(
            f'<g><rect class="bar" x="{i * step + 4}" y="{top}" width="{step - 8}" height="{bar_height}"/>'
            f'<text class="middle" x="{middle}" y="{top - 5}">{count or ""}</text>'
            f'<text class="middle" x="{middle}" y="{bottom + 18}">{label}</text></g>'
        )
    title = "Judgments by active seconds: " + ", ".join(
        f"{label} s: {count}" for label, count in zip(labels, counts, strict=True)
    )
    head = f'<svg class="chart" role="img" viewBox="0 0 {WIDTH} 176" aria-label="{title}">'
    return Markup(f"{head}{''.join(parts)}</svg>")  # noqa: S704 - only numbers


def _label_places(ends: Sequence[float], apart: float = 16.0) -> list[float]:
    """Heights for the labels of lines that end at these heights: in the same order, and not on each other.

    >>> _label_places([10.0, 40.0, 12.0])
    [10.0, 42.0, 26.0]
    """
    places = [0.0] * len(ends)
    free = -apart
    for i in sorted(range(len(ends)), key=lambda i: ends[i]):
        free = places[i] = max(ends[i], free + apart)
    return places


def lines(rows: Mapping[str, Sequence[float]]) -> Markup:
    """One line per row: shares from 0 to 1 over the number of answers, with their names at the right."""
    longest = max((len(values) for values in rows.values()), default=0)
    if not longest:
        return Markup("")
    height, left, width = 140, 52, WIDTH - 182
    parts = []
    for share in (0.0, 0.5, 1.0):
        y = round(10 + height * (1 - share), 1)
        parts.append(
            f'<line class="rail" x1="{left}" y1="{y}" x2="{left + width}" y2="{y}"/>'
            f'<text class="name" x="{left - 6}" y="{y + 4}">{100 * share:.0f} %</text>'
        )
    places = _label_places([10 + height * (1 - values[-1]) for values in rows.values()])
    for i, ((name, values), place) in enumerate(zip(rows.items(), places, strict=True)):
        step = width / max(1, longest - 1)
        points = [(left + step * n, 10 + height * (1 - value)) for n, value in enumerate(values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
        x, y = points[-1]
        parts.append(
            f'<g class="line line-{i % 6}"><polyline points="{path}"/>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
            f'<line x1="{left + width + 8}" y1="{place:.1f}" x2="{left + width + 20}" y2="{place:.1f}"/>'
            f'<text x="{left + width + 25}" y="{place + 4:.1f}">{escape(short)}</text></g>'
        )
    said = "; ".join(f"{escape(name)}: {100 * values[-1]:.0f} %" for name, values in rows.items())
    bottom = round(max(height, *places)) + 24
    head = f'<svg class="chart" role="img" viewBox="0 0 {WIDTH} {bottom}" aria-label="{said}">'
    return Markup(f"{head}{''.join(parts)}</svg>")  # noqa: S704 - every name is escaped above


def curve(points: Sequence[tuple[int, float, float, float]]) -> Markup:
    """A learning curve: (number of topics, value, lower end, upper end), values from 0.5 to 1."""
    if not points:
        return Markup("")
    height, left, width, lowest = 150, 52, WIDTH - 98, min(0.5, *(low for _, _, low, _ in points))
    last = max(count for count, *_ in points)

    def x(count: float) -> float:
        return round(left + width * count / last, 1)

    def y(value: float) -> float:
        return round(10 + height * (1 - value) / (1 - lowest), 1)

    parts = [
        f'<line class="rail" x1="{left}" y1="{y(value)}" x2="{left + width}" y2="{y(value)}"/>'
        f'<text class="name" x="{left - 6}" y="{y(value) + 4}">{100 * value:.0f} %</text>'
        for value in (lowest, (1 + lowest) / 2, 1.0)
    ]
    path = " ".join(f"{x(count)},{y(value)}" for count, value, *_ in points)
    parts.append(f'<g class="line"><polyline points="{path}"/>')
    for count, value, low, high in points:
        parts.append(
            f'<line x1="{x(count)}" y1="{y(low)}" x2="{x(count)}" y2="{y(high)}"/>'
            f'<circle cx="{x(count)}" cy="{y(value)}" r="3"/>'
            f'<text class="middle" x="{x(count)}" y="{height + 28}">{count}</text>'
        )
    said = "; ".join(f"{count}: {100 * value:.1f} %" for count, value, *_ in points)
    head = f'<svg class="chart" role="img" viewBox="0 0 {WIDTH} {height + 36}" aria-label="{said}">'
    return Markup(f"{head}{''.join(parts)}</g></svg>")  # noqa: S704 - only numbers
