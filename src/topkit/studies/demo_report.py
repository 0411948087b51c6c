"""The report of the demo: one HTML page with what was done and the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from topkit.data import Dataset, Judgments
from topkit.metrics import Evaluation
from topkit.reporting.html import Page
from topkit.reporting.marks import BETTER
from topkit.reporting.plots import bars, curves, histogram
from topkit.reporting.tables import ScoreTable
from topkit.studies.demo_data import topics
from topkit.studies.parts import PlotPart
from topkit.studies.showing import best_first, by_query


@dataclass(frozen=True)
class Findings:
    """Everything the demo has found, for the report."""

    k: int
    data: Dataset
    scores: ScoreTable
    judgments: Mapping[str, Judgments]
    """Strategy → its answers."""
    grading_minutes: float
    """The time that grades for all documents would take."""
    results: Mapping[str, Evaluation]
    """Ranker → its evaluation."""
    curve: Sequence[str]
    """The metrics at depths 1 to k."""
    baseline: str
    explained: str
    """The ranker whose feature importances are shown."""
    importance: Mapping[str, float]
    """Feature → how much the measure falls when it is shuffled, mean over folds."""

    @property
    def headline(self) -> str:
        """The first metric of the table."""
        return self.scores.columns[0]

    def minutes(self, strategy: str) -> float:
        """The time that the labelling with a strategy took."""
        return sum(answer.seconds for answer in self.judgments[strategy].preferences) / 60


def write_report(path: Path, findings: Findings) -> None:
    """Write the page."""
    page = Page("topkit demo: from documents to a measured ranker")
    cheapest = min(findings.judgments, key=findings.minutes)
    _add_summary(page, findings, cheapest)
    _add_labelling(page, findings, cheapest)
    _add_results(page, findings)
    page.heading("Most important features")
    top = dict(sorted(findings.importance.items(), key=lambda item: -item[1])[:12])
    caption = f"How much κ-NDCG of {findings.explained} falls when a feature is shuffled within each query."
    page.plot(bars(top, f"loss of {findings.headline}"), caption)
    page.heading("Next steps")
    page.paragraph(
        "The folder of this report holds the data set with its features, all judgments, and the topics and "
        "documents for the labelling app (`topkit label serve`). `topkit study new compare` writes a study "
        "file that you can change; `topkit --help` lists all commands."
    )
    page.write(path)


def _add_summary(page: Page, findings: Findings, cheapest: str) -> None:
    data, headline = findings.data, findings.headline
    best = best_first(findings.results, headline)[0]
    page.paragraph(
        f"{data.n_queries} questions about Python's standard library, {data.lengths.max()} docstrings each. "
        f"Simulated assessors compared pairs until the top {findings.k} of every list was in order; rankers "
        "learned from that order and were tested on questions they had not seen."
    )
    page.figures(
        {
            f"minutes to label ({cheapest})": f"{findings.minutes(cheapest):.0f}",
            "minutes for five grades": f"{findings.grading_minutes:.0f}",
            f"{headline} of {best}": f"{findings.results[best].mean[headline]:.3f}",
            f"{headline} of {findings.baseline}": f"{findings.results[findings.baseline].mean[headline]:.3f}",
        }
    )


def _add_labelling(page: Page, findings: Findings, cheapest: str) -> None:
    page.heading("Label")
    for strategy, judgments in findings.judgments.items():
        count = len(judgments.preferences)
        page.paragraph(
            f"Strategy `{strategy}`: {count} preferences, {count / findings.data.n_queries:.1f} per list, "
            f"{findings.minutes(strategy):.0f} minutes."
        )
    per_list = [len(answers) for answers in findings.judgments[cheapest].preferences_by_query().values()]
    caption = f"Questions that {cheapest} asked to order the top {findings.k}."
    page.plot(histogram(per_list, "questions asked", "lists"), caption)


def _add_results(page: Page, findings: Findings) -> None:
    page.heading("Learn and measure")
    page.table(findings.scores.table())
    significant = sum(mark == BETTER for mark in findings.scores.marks.values())
    page.paragraph(
        f"{significant} of the improvements over {findings.baseline} are statistically significant."
        if significant
        else f"No improvement over {findings.baseline} is statistically significant: with "
        f"{findings.data.n_queries} questions only large differences are. Label more questions to find out."
    )
    lines = {name: [result.mean[m] for m in findings.curve] for name, result in findings.results.items()}
    depths = curves(range(1, findings.k + 1), lines, "depth", "κ-NDCG")
    page.plot(depths, "κ-NDCG at each depth, mean over test queries.")
    page.heading("Query by query")
    for part in by_query("demo", findings.results, findings.headline, findings.baseline):
        if isinstance(part, PlotPart):
            page.plot(part.figure, part.caption)
        else:
            page.table(_with_questions(part.scores).table())


def _with_questions(scores: ScoreTable) -> ScoreTable:
    """The table of queries with the questions instead of their numbers."""
    questions = {f"query {topic.id}": topic.query for topic in topics()}
    return replace(scores, rows=tuple((questions.get(name, name), values) for name, values in scores.rows))
