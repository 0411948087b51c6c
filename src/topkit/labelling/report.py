"""Simulations and agreement as text, CSV and plots."""

from __future__ import annotations

import csv
import math
from dataclasses import fields
from typing import Any

from topkit.compute import require
from topkit.data.files import FilePath, text_writer
from topkit.data.judgments import Judgments
from topkit.labelling.agreement import (
    Agreement,
    JudgedPairs,
    agreement,
    assessor_quality,
    beyond_chance,
    chi_square,
    implied_preferences,
    intransitive,
    pairs_by_grades,
    pairs_judged,
    timing,
)
from topkit.labelling.agreement.tables import NAMES
from topkit.labelling.simulate import Outcome, Scenario
from topkit.reporting.tables import Table


def aligned(rows: list[list[str]]) -> str:
    """Aligned columns of text: the first is left-aligned, the others right-aligned."""
    return Table(rows[0], rows[1:]).text()


HEADS = [
    "strategy",
    "n",
    "k",
    "bad",
    "wrong",
    "prior",
    "judgments",
    "±",
    "pairs",
    "read",
    "found",
    "exact",
    "bound",
]


def outcome_table(outcomes: list[Outcome]) -> str:
    """Means over the random orders, one row per setting."""
    rows = [HEADS]
    for outcome in outcomes:
        setting = outcome.setting
        rows.append(
            [
                setting.strategy,
                str(setting.n),
                str(setting.k),
                str(setting.bad),
                f"{setting.error:g}",
                _prior(setting),
                f"{outcome.judgments:.2f}",
                f"{outcome.deviation:.1f}",
                f"{outcome.different_pairs:.2f}",
                f"{outcome.documents_read:.2f}",
                f"{outcome.found:.3f}",
                f"{outcome.exact:.3f}",
                f"{outcome.lower_bound:.1f}",
            ]
        )
    orders = outcomes[0].orders if outcomes else 0
    note = (
        f"means over {orders} random orders; bad: documents that the assessor marks bad; ±: standard "
        "deviation; pairs: different pairs; read: documents "
        "not on the screen before; found: share of the true top k; exact: share of exact results; bound: "
        "lower bound of the worst case"
    )
    return f"{aligned(rows)}\n{note}"


def _prior(setting: Scenario) -> str:
    return "none" if setting.prior is None else f"{setting.prior:g} ({setting.kind})"


def _panel(setting: Scenario) -> tuple[int, int, int, str]:
    """What the outcomes of one plot have in common."""
    return setting.n, setting.k, setting.bad, _prior(setting)


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """All figures of an outcome by name, not rounded: the setting first."""
    figures = {field.name: getattr(outcome, field.name) for field in fields(outcome)}
    return {**figures.pop("setting")._asdict(), **figures}


def write_outcomes(outcomes: list[Outcome], path: FilePath) -> None:
    """All figures as CSV, not rounded."""
    records = [outcome_record(outcome) for outcome in outcomes]
    with text_writer(path) as stream:
        writer = csv.DictWriter(stream, list(records[0]) if records else [], lineterminator="\n")
        if records:
            writer.writeheader()
        writer.writerows(records)


def draw_outcomes(outcomes: list[Outcome], path: FilePath) -> None:
    """Judgments against the share of the top k found, one line per strategy over its error rates."""
    require("matplotlib", "plots").use("Agg")
    pyplot = require("matplotlib.pyplot", "plots")

    panels = sorted({_panel(o.setting) for o in outcomes})
    figure, axes = pyplot.subplots(1, len(panels), figsize=(5.5 * len(panels), 4.2), squeeze=False)
    for axis, panel in zip(axes[0], panels, strict=True):
        shown = [o for o in outcomes if _panel(o.setting) == panel]
        for name in dict.fromkeys(o.setting.strategy for o in shown):
            line = sorted((o for o in shown if o.setting.strategy == name), key=lambda o: o.setting.error)
            axis.plot([o.judgments for o in line], [o.found for o in line], "o-", label=name)
            for o in line:
                where = (o.judgments, o.found)
                axis.annotate(f"{o.setting.error:g}", where, (4, 4), textcoords="offset points", fontsize=7)
        axis.axvline(shown[0].lower_bound, color="grey", linestyle=":", label="lower bound")
        n, k, bad, prior = panel
        axis.set(title=f"n = {n}, k = {k}, bad {bad}, prior {prior}", xlabel="judgments per query")
        axis.set_ylabel("share of the true top k found")
        axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def agreement_report(
    preferences: Judgments, graded: Judgments | None, *, implied: bool = False, assessors: bool = False
) -> str:
    """Tables 1–3 of the top-k labelling paper, agreement beyond chance, and consistency of the assessors."""
    answers = preferences.preferences
    times = [["", "seconds per judgment", "median", "minutes per query", "judgments per query", "judgments"]]
    parts = {"preferences": timing(answers)} | ({"grades": timing(graded.grades)} if graded else {})
    for name, t in parts.items():
        figures = (t.seconds, t.median_seconds, t.minutes_per_query, t.judgments_per_query)
        times.append([name, *(f"{figure:.2f}" for figure in figures), str(t.judgments)])
    judged = pairs_judged(implied_preferences(answers) if implied else answers)
    by_preference = agreement(judged)
    blocks = ["Time and judgments\n" + aligned(times), _table("Preferences", by_preference)]
    if by_preference.counts.sum():
        blocks.append(_beyond_chance(judged))
    if graded is not None:
        graded_pairs = pairs_by_grades(graded.grades)
        by_grade = agreement(graded_pairs)
        blocks += [_table("Preferences inferred from grades", by_grade), _beyond_chance(graded_pairs)]
        for name, ties in (("all", True), ("without ties", False)):
            test = chi_square(by_preference, by_grade, ties=ties)
            blocks.append(f"χ² of the two methods, {name}: {test.statistic:.1f}, p = {test.p:.3g}")
    blocks.append(_consistency(preferences))
    if assessors:
        blocks.append(_assessors(preferences))
    return "\n\n".join(blocks)


def _table(title: str, table: Agreement) -> str:
    if not table.counts.sum():
        return f"{title}: no pair was judged by two assessors, so agreement cannot be measured"
    rows = [["one said \\ another", *NAMES, "times"]]
    for name, row, count in zip(NAMES, table.rows, table.counts.sum(1), strict=True):
        rows.append([name, *(_number(value, 4) for value in row), str(count)])
    return (
        f"{title}: P(another assessor says | one said)\n{aligned(rows)}\n"
        f"agreement {table.overall:.4f} of {table.agreed + table.disagreed}; without ties "
        f"{_number(table.without_ties, 4)} of {table.agreed_without_ties + table.disagreed_without_ties}"
    )


def _beyond_chance(pairs: JudgedPairs) -> str:
    kappa, nominal, ordinal = beyond_chance(pairs)
    return (
        f"beyond chance: Fleiss' kappa {_number(kappa, 4)}, "
        f"Krippendorff's alpha {_number(nominal, 4)} (nominal), {_number(ordinal, 4)} (ordinal)"
    )


def _number(value: float, digits: int) -> str:
    """The value, or a dash if there is none."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _consistency(judgments: Judgments) -> str:
    triads = intransitive(judgments.preferences)
    return (
        f"Transitivity within an assessor and query: {triads.complete} complete triads, "
        f"{triads.circles} cycles, {triads.violations} violations counting ties"
    )


def _assessors(judgments: Judgments) -> str:
    heads = [
        "assessor",
        "judgments",
        "agreement",
        "no ties",
        "majority",
        "ties",
        "left",
        "cycles",
        "seconds",
    ]
    rows = [heads]
    for name, quality in assessor_quality(judgments.preferences).items():
        shares = [quality.agreement, quality.agreement_without_ties, quality.with_majority]
        shares += [quality.tie_share, quality.left_share]
        cells = [_number(share, 3) for share in shares]
        rows.append([name or "-", str(quality.judgments), *cells, str(quality.triads.circles)])
        rows[-1].append(f"{quality.median_seconds:.1f}")
    return aligned(rows)
