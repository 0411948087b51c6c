"""Small plots as SVG. No styles inside: the content policy allows only those of the style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from markupsafe import Markup

ROW, LABEL, WIDTH = 26, 110, 440
SHOWN = 40


def bars(rows: Sequence[dict[str, Any]]) -> Markup:
    """One bar a row: the share of the work that is done."""
    if not rows:
        return Markup("")
    shown = sorted(rows, key=lambda row: row["share"])[:SHOWN] if len(rows) > SHOWN else rows
    length = WIDTH - LABEL - 95
    parts = []
    for i, row in enumerate(shown):
        y, filled = i * ROW, round(length * row["share"], 1)
        name = str(row["name"])
        short = name if len(name) <= 14 else name[:13] + "…"
        told = f"{row['done']} of {row['of']} done, {row['asked']} judgments"
        parts.append(
            f'<text class="name" x="{LABEL - 8}" y="{y + 17}">{escape(short)}</text>'
            f'<rect class="rail" x="{LABEL}" y="{y + 5}" width="{length}" height="16" rx="3"/>'
            f'<rect class="bar" x="{LABEL}" y="{y + 5}" width="{filled}" height="16" rx="3"/>'
            f'<text class="value" x="{LABEL + length + 8}" y="{y + 17}">{100 * row["share"]:.0f} %, '
            f"{row['done']}/{row['of']}</text><title>{escape(name)}: {told}</title>"
        )
    left = len(rows) - len(shown)
    note = f'<p class="note">and {left} more, which are further on</p>' if left else ""
    groups = "".join(f'<g role="listitem">{part}</g>' for part in parts)
    head = f'<svg class="chart" role="list" viewBox="0 0 {WIDTH} {ROW * len(shown)}">'
    return Markup(f"{head}{groups}</svg>{note}")  # noqa: S704 - every name is escaped above


def histogram(ends: Sequence[int], counts: Sequence[int]) -> Markup:
    """How many judgments took how long; the last bin is open."""
    height, bottom, step = 120, 150, WIDTH // len(counts)
    most = max(counts) or 1
    labels = [f"≤ {end}" for end in ends] + [f"> {ends[-1]}"]
    parts = []
    for i, (label, count) in enumerate(zip(labels, counts, strict=True)):
        tall = round(height * count / most, 1)
        top, middle = round(bottom - tall, 1), i * step + step // 2
        parts.append(
            f'<g><rect class="bar" x="{i * step + 4}" y="{top}" width="{step - 8}" height="{tall}"/>'
            f'<text class="middle" x="{middle}" y="{top - 5}">{count or ""}</text>'
            f'<text class="middle" x="{middle}" y="{bottom + 18}">{label}</text></g>'
        )
    title = "Judgments by active seconds: " + ", ".join(
        f"{a} s: {b}" for a, b in zip(labels, counts, strict=True)
    )
    head = f'<svg class="chart" role="img" viewBox="0 0 {WIDTH} 176" aria-label="{title}">'
    return Markup(f"{head}{''.join(parts)}</svg>")  # noqa: S704 - only numbers
