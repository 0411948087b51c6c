"""Simulations and agreement as text, CSV and pictures."""

from __future__ import annotations

import csv
from dataclasses import fields

from topkit.data.files import FilePath, text_writer
from topkit.data.judgments import Judgments
from topkit.labelling.agreement import (
    Agreement,
    JudgedPairs,
    agreement,
    assessor_quality,
    chi_square,
    fleiss_kappa,
    implied_preferences,
    intransitive,
    krippendorff_alpha,
    pairs_by_grades,
    pairs_judged,
    timing,
)
from topkit.labelling.agreement.tables import NAMES
from topkit.labelling.simulate import Outcome, Setting
from topkit.reporting.tables import Table


def aligned(rows: list[list[str]]) -> str:
    """Aligned columns of text: the first is left-aligned, the others right-aligned."""
    return Table(rows[0], rows[1:]).text()


HEADS = ["strategy", "n", "k", "wrong", "prior", "judgments", "±", "pairs", "read", "found", "exact", "bound"]


def outcome_table(outcomes: list[Outcome]) -> str:
    """Means over the orders, one row a setting."""
    rows = [HEADS]
    for outcome in outcomes:
        setting = outcome.setting
        rows.append(
            [
                setting.strategy,
                str(setting.n),
                str(setting.k),
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
        f"means over {orders} random orders; ±: standard deviation; pairs: different ones; read: documents "
        "not on the screen before; found: share of the true top k; exact: all in the true order; bound: "
        "the worst case of the best strategy"
    )
    return f"{aligned(rows)}\n{note}"


def _prior(setting: Setting) -> str:
    return "none" if setting.prior is None else f"{setting.prior:g} ({setting.kind})"


def write_outcomes(outcomes: list[Outcome], path: FilePath) -> None:
    """All figures as CSV, unrounded."""
    with text_writer(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for number, outcome in enumerate(outcomes):
            names = [field.name for field in fields(outcome.setting)]
            figures = [field.name for field in fields(outcome) if field.name != "setting"]
            if number == 0:
                writer.writerow([*names, *figures])
            setting = [getattr(outcome.setting, name) for name in names]
            writer.writerow([*setting, *(getattr(outcome, name) for name in figures)])


def draw_outcomes(outcomes: list[Outcome], path: FilePath) -> None:
    """Judgments against the share of the top k found, one line a strategy over its error rates."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    panels = sorted({(o.setting.n, o.setting.k, _prior(o.setting)) for o in outcomes})
    figure, axes = pyplot.subplots(1, len(panels), figsize=(5.5 * len(panels), 4.2), squeeze=False)
    for axis, panel in zip(axes[0], panels, strict=True):
        shown = [o for o in outcomes if (o.setting.n, o.setting.k, _prior(o.setting)) == panel]
        for name in dict.fromkeys(o.setting.strategy for o in shown):
            mine = sorted((o for o in shown if o.setting.strategy == name), key=lambda o: o.setting.error)
            axis.plot([o.judgments for o in mine], [o.found for o in mine], "o-", label=name)
            for o in mine:
                where = (o.judgments, o.found)
                axis.annotate(f"{o.setting.error:g}", where, (4, 4), textcoords="offset points", fontsize=7)
        axis.axvline(shown[0].lower_bound, color="grey", linestyle=":", label="lower bound")
        axis.set(title=f"n = {panel[0]}, k = {panel[1]}, prior {panel[2]}", xlabel="judgments a query")
        axis.set_ylabel("share of the true top k found")
        axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def agreement_report(
    preferences: Judgments, graded: Judgments | None, *, implied: bool = False, assessors: bool = False
) -> str:
    """Tables 1–3 of the paper and what else tells how far assessors agree."""
    answers = preferences.preferences
    times = [["", "seconds a judgment", "median", "minutes a query", "judgments a query", "judgments"]]
    parts = {"preferences": timing(answers)} | ({"grades": timing(graded.grades)} if graded else {})
    for name, t in parts.items():
        figures = (t.seconds, t.median_seconds, t.minutes_a_query, t.judgments_a_query)
        times.append([name, *(f"{figure:.2f}" for figure in figures), str(t.judgments)])
    judged = pairs_judged(implied_preferences(answers) if implied else answers)
    one = agreement(judged)
    blocks = ["Time and judgments\n" + aligned(times), _table("Preferences", one), _beyond_chance(judged)]
    if graded is not None:
        by_grades = pairs_by_grades(graded.grades)
        other = agreement(by_grades)
        blocks += [_table("Preferences inferred from grades", other), _beyond_chance(by_grades)]
        for name, ties in (("all", True), ("without ties", False)):
            test = chi_square(one, other, ties=ties)
            blocks.append(f"χ² of the two methods, {name}: {test.statistic:.1f}, p = {test.p:.3g}")
    blocks.append(_consistency(preferences))
    if assessors:
        blocks.append(_assessors(preferences))
    return "\n\n".join(blocks)


def _table(title: str, found: Agreement) -> str:
    rows = [["one said \\ another", *NAMES, "times"]]
    for name, row, count in zip(NAMES, found.rows, found.counts.sum(1), strict=True):
        rows.append([name, *(f"{value:.4f}" for value in row), str(count)])
    return (
        f"{title}: P(another assessor says | one said)\n{aligned(rows)}\n"
        f"agreement {found.overall:.4f} of {found.agreed + found.disagreed}; without ties "
        f"{found.without_ties:.4f} of {found.agreed_without_ties + found.disagreed_without_ties}"
    )


def _beyond_chance(pairs: JudgedPairs) -> str:
    counts = [[sum(said == value for _, said in answers) for value in range(3)] for answers in pairs.values()]
    units = [[float(said) for _, said in answers] for answers in pairs.values()]
    nominal, ordinal = krippendorff_alpha(units), krippendorff_alpha(units, "ordinal")
    return (
        f"beyond chance: Fleiss' kappa {fleiss_kappa(counts):.4f}, "
        f"Krippendorff's alpha {nominal:.4f} (nominal), {ordinal:.4f} (ordinal)"
    )


def _consistency(judgments: Judgments) -> str:
    triads = intransitive(judgments.preferences)
    return (
        f"Transitivity within an assessor and query: {triads.complete} complete triads, "
        f"{triads.circles} circles, {triads.violations} violations counting ties"
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
        "circles",
        "seconds",
    ]
    rows = [heads]
    for name, quality in assessor_quality(judgments.preferences).items():
        shares = [quality.agreement, quality.agreement_without_ties, quality.with_majority]
        shares += [quality.tie_share, quality.left_share]
        cells = [f"{share:.3f}" for share in shares]
        rows.append([name or "-", str(quality.judgments), *cells, str(quality.triads.circles)])
        rows[-1].append(f"{quality.median_seconds:.1f}")
    return aligned(rows)
