"""An audit as text and as an HTML page with plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from topkit.labelling.agreement.tables import NAMES
from topkit.labelling.audit.audit import Audit
from topkit.labelling.audit.estimates import Estimate
from topkit.reporting.tables import Table, Value

if TYPE_CHECKING:
    from topkit.reporting.html import Page


def audit_report(audit: Audit) -> str:
    """The verdict, the measures with their intervals, and the table against people."""
    blocks = [audit.verdict, measures_table(audit).text()]
    if audit.agreement.measured:
        blocks.append(people_table(audit).text())
    return "\n\n".join(blocks)


def measures_table(audit: Audit) -> Table:
    """One row per measure."""
    rows: list[Sequence[Value]] = [
        (finding.name, *_shown(finding.estimate), finding.level, finding.meaning)
        for finding in audit.findings
    ]
    rows += [
        ("agreement with ties", *_shown(audit.agreement), "", ""),
        (
            "single answers that contradict people",
            *_shown(audit.contradictions),
            "",
            "asked once, ties left out",
        ),
        ("flips of its own opinion", *_shown(audit.flips), "", "derived from repeated answers"),
    ]
    notes = [
        f"{audit.trials} answers about {audit.pairs} pairs, {audit.triads} complete triads; 95 % intervals"
    ]
    if audit.people_agreement == audit.people_agreement:
        notes.append(f"two people agree on {audit.people_agreement:.3f} of pairs without ties")
    if audit.chi_square is not None:
        notes.append(
            f"χ² of judge–people against people–people: {audit.chi_square.statistic:.1f}, "
            f"p = {audit.chi_square.p:.3g}"
        )
    if audit.calibration.bins:
        notes.append(f"expected calibration error {audit.calibration.error:.3f}")
    columns = ("measure", "value", "from", "to", "pairs", "level", "meaning")
    return Table(columns, rows, notes, align="lrrrrll", decimals=3)


def _shown(estimate: Estimate) -> tuple[float | None, float | None, float | None, int | None]:
    if not estimate.measured:
        return None, None, None, None
    return estimate.value, estimate.low, estimate.high, estimate.n


def people_table(audit: Audit) -> Table:
    """P(a person says | the judge said), over pairs and people."""
    rows: list[Sequence[Value]] = []
    for name, counts in zip(NAMES, audit.table.tolist(), strict=True):
        total = sum(counts)
        rows.append((name, *(count / max(total, 1) for count in counts), total))
    return Table(("judge said \\ a person says", *NAMES, "times"), rows, decimals=3)


def audit_page(audit: Audit, title: str) -> Page:
    """The audit as an HTML page."""
    from topkit.reporting.html import Page
    from topkit.reporting.plots import paths

    page = Page(title)
    page.paragraph(audit.verdict)
    page.table(measures_table(audit))
    if audit.calibration.bins:
        points = [(sure, right) for sure, right, _ in audit.calibration.bins]
        ends = [(min(x for x, _ in points), min(x for x, _ in points)), (1.0, 1.0)]
        figure = paths({"judge": points, "calibrated": ends}, "confidence", "agreement with people")
        page.plot(figure, "Confidence against agreement with most people; on the line, confidence is right.")
    if audit.length_points:
        level = [(x, 0.5) for x, _ in audit.length_points]
        figure = paths(
            {"judge": audit.length_points, "no bias": level},
            "log₂ of the length ratio, first to second",
            "share that prefers the first",
        )
        page.plot(figure, "Preference against the length of documents.")
    if audit.agreement.measured:
        page.heading("Answers of the judge and of people")
        page.table(people_table(audit))
    return page
