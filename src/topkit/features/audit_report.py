"""The result of an audit: findings in sentences, a table and a plot of single features."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np

from topkit.compute import require
from topkit.data.words import counted
from topkit.features.audit_checks import Finding
from topkit.features.audit_tails import TailCheck
from topkit.reporting.tables import Table

MOST_BARS = 30
"""Features in the plot; more are not readable."""


@dataclass(frozen=True)
class Single:
    """One feature as a ranker on its own."""

    feature: str
    forward: float
    """The metric when larger values come first."""
    reverse: float
    """The metric when smaller values come first."""
    p: float
    """p-value of the two-sided paired t-test of forward and reverse over queries, with Holm's correction."""

    @property
    def best(self) -> float:
        """The better direction."""
        return max(self.forward, self.reverse)


@dataclass(frozen=True)
class Audit:
    """The findings, worst first, and each feature as a ranker in both directions."""

    metric: str
    queries: int
    documents: int
    random: float
    """The mean metric of five random orders."""
    findings: tuple[Finding, ...]
    singles: tuple[Single, ...]
    tails: tuple[TailCheck, ...]
    """For each feature, how often the last document of a query is relevant."""

    @property
    def passed(self) -> bool:
        """True if no finding makes results on the data set misleading."""
        return not any(finding.verdict == "problem" for finding in self.findings)

    def __str__(self) -> str:
        lines = [f"{counted(self.queries, 'query')}, {counted(self.documents, 'document')}"]
        lines += [f"{finding.verdict.upper():<8} {finding.text}" for finding in self.findings]
        shown = sorted(self.singles, key=lambda single: -single.best)[:10]
        rows: list[tuple[str, float, float | None]] = [
            (single.feature, single.forward, single.reverse) for single in shown
        ]
        rows.append(("a random order", self.random, None))
        verdict = "verdict: " + ("passed" if self.passed else "do not compare methods on this data set")
        columns = (f"{self.metric} by feature", "larger first", "smaller first")
        return "\n".join([*lines, Table(columns, rows, [verdict]).text()])

    def plot(self, path: str | PathLike[str]) -> None:
        """Plot each feature in both directions to a file (.png, .svg or .pdf)."""
        figure_module = require("matplotlib.figure", "plots")
        shown = sorted(self.singles, key=lambda single: single.best)[-MOST_BARS:]
        places = np.arange(len(shown))
        forward, reverse = [single.forward for single in shown], [single.reverse for single in shown]
        figure = figure_module.Figure(figsize=(7, 1.2 + 0.24 * len(shown)), layout="constrained")
        axes = figure.add_subplot()
        axes.barh(places + 0.2, forward, 0.4, label="larger first", color="#3b6ea5")
        axes.barh(places - 0.2, reverse, 0.4, label="smaller first", color="#d98c3f")
        axes.axvline(self.random, color="0.4", linestyle=":", label="random order")
        axes.set_yticks(places, [single.feature for single in shown], fontsize=7)
        axes.set_xlabel(self.metric)
        axes.set_title("one feature as a ranker: " + ("passed" if self.passed else "biased or leaking"))
        axes.legend(loc="lower right")
        figure.savefig(path)
