"""The report of the demo: one HTML page of what was done and what came out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from topkit.studies.assessors import SECONDS
from topkit.studies.demo_data import topics
from topkit.studies.kind import Plot
from topkit.studies.plots import bars, curves, histogram
from topkit.studies.report import Report
from topkit.studies.showing import by_query
from topkit.studies.tables import ResultTable

if TYPE_CHECKING:
    from topkit.studies.demo import Story


def write_report(path: Path, story: Story, table: ResultTable) -> None:
    """Write the page."""
    from topkit.studies.demo import BASELINE, CURVE, METRICS, RANKERS, K

    headline = METRICS[0]
    asked = {name: len(one.preferences) for name, one in story.judgments.items()}
    spent = {
        name: sum(one.seconds for one in each.preferences) / 60 for name, each in story.judgments.items()
    }
    best = max(story.results, key=lambda name: story.results[name].mean[headline])
    cheapest = min(spent, key=lambda name: spent[name])
    report = Report("topkit demo: from documents to a measured ranker")
    report.words(
        f"{story.data.n_queries} questions about Python's standard library, {story.data.lengths.max()} "
        f"docstrings each. Simulated assessors compared pairs until the top {K} of every list was in order; "
        "rankers learnt from that order and were tested on questions they had not seen."
    )
    report.facts(
        {
            f"minutes to label ({cheapest})": f"{spent[cheapest]:.0f}",
            "minutes for five grades": f"{len(story.data) * SECONDS['grades'] / 60:.0f}",
            f"{headline} of {best}": f"{story.results[best].mean[headline]:.3f}",
            f"{headline} of {BASELINE}": f"{story.results[BASELINE].mean[headline]:.3f}",
        }
    )
    report.heading("Label")
    for name, count in asked.items():
        report.words(
            f"Strategy `{name}`: {count} preferences, {count / story.data.n_queries:.1f} a list, "
            f"{spent[name]:.0f} minutes."
        )
    per_list = [len(answers) for answers in story.judgments[cheapest].preferences_by_query().values()]
    caption = f"Questions that {cheapest} asked to order the top {K}."
    report.figure(histogram(per_list, "questions asked", "lists"), caption)
    report.heading("Learn and measure")
    report.table(table)
    sure = sum(mark == "▲" for mark in table.marks.values())
    report.words(
        f"{sure} of the differences to {BASELINE} are larger than chance explains."
        if sure
        else f"No difference to {BASELINE} is larger than chance explains: with {story.data.n_queries} "
        "questions only large ones would be. More labelled questions would tell."
    )
    lines = {name: [result.mean[m] for m in CURVE] for name, result in story.results.items()}
    depths = curves(range(1, K + 1), lines, "depth", "κ-NDCG")
    report.figure(depths, "κ-NDCG at each depth, mean over test queries.")
    report.heading("Query by query")
    for part in by_query("demo", story.results, headline, BASELINE):
        if isinstance(part, Plot):
            report.figure(part.figure, part.caption)
        else:
            report.table(_with_words(part.table))
    report.heading("What the ranker leans on")
    top = dict(sorted(story.importance.items(), key=lambda item: -item[1])[:12])
    caption = f"How much κ-NDCG of {RANKERS[-1]} falls when a feature is shuffled within each query."
    report.figure(bars(top, f"loss of {headline}"), caption)
    report.heading("Where to go from here")
    report.words(
        "The folder of this report holds the data set with its features, every judgment, and the topics and "
        "documents for the labelling app (`topkit label serve`). `topkit study new compare` writes a study "
        "of your own; `topkit --help` lists the rest."
    )
    report.write(path)


def _with_words(table: ResultTable) -> ResultTable:
    """The table of queries with the questions themselves instead of their numbers."""
    words = {f"query {topic.id}": topic.query for topic in topics()}
    rows = tuple((words.get(name, name), values) for name, values in table.rows)
    return ResultTable(table.columns, rows, table.notes, bold=False)
