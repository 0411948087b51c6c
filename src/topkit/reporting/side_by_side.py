"""Two rankings of the same documents side by side, as HTML: what moved, and how relevant it is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

STYLE = """
.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem;
        margin-bottom: 1.2rem; }
.pair h3 { margin: .4rem 0; font-size: 1rem; } .pair ol { margin: 0; padding: 0; list-style: none; }
.pair li { display: flex; align-items: center; gap: .5rem; padding: .15rem .4rem; border-radius: 4px;
           font-variant-numeric: tabular-nums; }
.pair li > .rank { width: 1.6rem; text-align: right; color: var(--quiet); }
.pair li > .document { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.pair li > .moved { width: 3.4rem; text-align: right; } .moved.up { color: var(--good); }
.moved.down { color: var(--bad); } .moved.same { color: var(--quiet); }
.grade { min-width: 1.6rem; text-align: center; border-radius: 4px; padding: 0 .3rem; font-weight: 600;
         border: 1px solid var(--line); }
.grade.some { background: color-mix(in srgb, var(--good) calc(var(--share) * 55%), transparent); }
details { border: 1px solid var(--line); border-radius: 8px; margin: .6rem 0; padding: .2rem .9rem; }
summary { cursor: pointer; padding: .4rem 0; font-weight: 600; }
@media (max-width: 40rem) { .pair { gap: .4rem; font-size: .8rem; }
  .pair li { gap: .25rem; padding: .1rem; } }
"""


class Ranked(NamedTuple):
    """A document in a ranking."""

    document: str
    grade: float
    rank: int
    other_rank: int
    """Its rank in the other ranking."""


def side_by_side_html(
    left: Sequence[Ranked], right: Sequence[Ranked], titles: tuple[str, str], best_grade: float
) -> str:
    """Two ranked lists in two columns; the right one shows how far each document moved from the left one.

    ``best_grade`` has the strongest colour. Every mark is also a number or an arrow, for readers who cannot
    see colours.
    """
    columns = ""
    for title, rows, arrows in ((titles[0], left, False), (titles[1], right, True)):
        items = "".join(_item(row, best_grade, arrows) for row in rows)
        columns += f"<div><h3>{escape(title)}</h3><ol>{items}</ol></div>"
    return f'<div class="pair">{columns}</div>'


def _item(row: Ranked, best_grade: float, arrow: bool) -> str:
    share = min(max(row.grade / best_grade, 0.0), 1.0) if best_grade > 0 else 0.0
    colour = "grade some" if share > 0 else "grade"
    grade = f'<span class="{colour}" style="--share: {share:.2f}" title="grade">{row.grade:g}</span>'
    moved = _moved(row) if arrow else f'<span class="moved same">→ {row.other_rank}</span>'
    return (
        f'<li><span class="rank">{row.rank}</span>{grade}'
        f'<span class="document" title="{escape(row.document)}">{escape(row.document)}</span>{moved}</li>'
    )


def _moved(row: Ranked) -> str:
    """How many ranks a document rose or fell."""
    change = row.other_rank - row.rank
    if change > 0:
        return f'<span class="moved up">▲ {change}</span>'
    return (
        f'<span class="moved down">▼ {-change}</span>' if change < 0 else '<span class="moved same">=</span>'
    )
