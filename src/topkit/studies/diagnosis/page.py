"""The HTML report of a diagnosis: summary, groups, features, and queries with both rankings side by side."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from topkit.reporting.html import Page
from topkit.reporting.plots import bins
from topkit.reporting.side_by_side import Ranked
from topkit.reporting.tables import Table
from topkit.studies.diagnosis.result import Diagnosis, QueryChange

OPEN = 3
"""Queries whose rankings are shown without a click."""


def diagnosis_page(diagnosis: Diagnosis, many: int) -> Page:
    """The report; at most ``many`` of the queries that became worse, and half as many of the better ones."""
    old, new = diagnosis.names
    pair = diagnosis.pair
    page = Page(f"{new} against {old}")
    page.paragraph(_sentence(diagnosis))
    page.figures(
        {
            f"{diagnosis.metric} of {old}": f"{pair.mean_b:.4f}",
            f"{diagnosis.metric} of {new}": f"{pair.mean_a:.4f}",
            "change": f"{pair.difference:+.4f}",
            "p, paired t-test": f"{pair.p:.3g}",
            "queries worse": f"{len(diagnosis.worse)}",
            "queries better": f"{len(diagnosis.better)}",
        }
    )
    if find_spec("matplotlib") is not None:  # the plot is an extra; the report is complete without it
        changes = [query.change for query in diagnosis.queries]
        counts, edges = np.histogram(changes, bins=21)
        figure = bins(edges.tolist(), counts.tolist(), f"change of {diagnosis.metric}", "queries")
        page.plot(figure, f"How many queries changed by how much: {new} minus {old}.")
    page.heading("By kind of query")
    page.table(diagnosis.groups)
    page.heading("Features")
    page.paragraph(diagnosis.explanation)
    if diagnosis.features.rows:
        page.table(_first_rows(diagnosis.features, 15))
    _add_queries(page, diagnosis, "Queries that became worse", diagnosis.worse[:many])
    _add_queries(page, diagnosis, "Queries that became better", diagnosis.better[: (many + 1) // 2])
    page.paragraph(f"Convention {diagnosis.old.convention}.")
    return page


def _sentence(diagnosis: Diagnosis) -> str:
    old, new = diagnosis.names
    verdicts = {1: "significantly better than", -1: "significantly worse than"}
    verdict = verdicts.get(diagnosis.pair.direction(), "not significantly different from")
    return (
        f"{new} is {verdict} {old} by {diagnosis.metric} over {len(diagnosis.queries)} queries "
        "(Student's paired t-test at 0.05)."
    )


def _first_rows(table: Table, many: int) -> Table:
    return Table(table.columns, table.rows[:many], table.notes, table.align)


def _add_queries(page: Page, diagnosis: Diagnosis, heading: str, queries: tuple[QueryChange, ...]) -> None:
    if not queries:
        return
    page.heading(heading)
    page.paragraph(
        "Each document has its rank, its grade and, on the right, how many ranks it rose ▲ or fell ▼; "
        "on the left, its new rank."
    )
    for number, query in enumerate(queries):
        content = Page(query.qid)
        _add_query(content, diagnosis, query)
        text = f": {query.text}" if query.text else ""
        values = f"{diagnosis.metric} {query.old:.3f} → {query.new:.3f} ({query.change:+.3f})"
        title = f"Query {query.qid}{text}  {values}"
        page.folded(title, content, opened=number < OPEN)


def _add_query(page: Page, diagnosis: Diagnosis, query: QueryChange) -> None:
    left = [Ranked(name, grade, rank, other) for rank, (name, grade, other) in enumerate(query.old_order, 1)]
    right = [Ranked(name, grade, rank, other) for rank, (name, grade, other) in enumerate(query.new_order, 1)]
    best = max((row.grade for row in (*left, *right)), default=0.0)
    page.rankings(left, right, diagnosis.names, best)
    if query.features:
        shares = [(name, share) for name, share in query.features]
        note = "change of what the feature does for the order of the grades; negative hurts"
        page.table(Table(("feature", "change"), shares, [note]))
    if any(move.features for move in query.moves):
        page.table(diagnosis.moves_table(query.qid))
