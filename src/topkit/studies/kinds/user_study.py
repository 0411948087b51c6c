"""user-study: the user study of the top-k labelling paper with simulated assessors, and its figures.

Five assessors label the top k of every query by preferences or grade all its documents; every query is judged
by two of them in each tool. S. Niu et al., Top-k learning to rank, SIGIR 2012, section 4.1: Tables 1–3, the
rates of agreement, and the χ² tests of the two tools.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from topkit.data.judgments import Judgments
from topkit.data.settings import Setting
from topkit.labelling.agreement import Agreement, agreement, chi_square, pairs_by_grades, pairs_judged, timing
from topkit.labelling.agreement.pairs import JudgedPairs, Pair
from topkit.labelling.agreement.tables import NAMES
from topkit.labelling.strategies import PAIRWISE
from topkit.labelling.study import simulated_study
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell, Outcome
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Heading, Paragraph, Part, TablePart
from topkit.studies.results import Results
from topkit.studies.spec import Study

TOOLS = {"preferences": "top-k labelling", "grades": "five grades"}
TIMES = ("seconds per judgment", "minutes per query", "judgments per query")
RATES = ("agreement", "without ties", "share of ties")

PUBLISHED_TIMES = {"preferences": (5.51, 13.13, 142.76), "grades": (13.87, 11.78, 50.0)}
"""Table 1."""
PUBLISHED_ROWS = {
    "preferences": ((0.6749, 0.2766, 0.0485), (0.1138, 0.8198, 0.0664), (0.1047, 0.3779, 0.5174)),
    "grades": ((0.6272, 0.2913, 0.0815), (0.2825, 0.5232, 0.1944), (0.1534, 0.3826, 0.4640)),
}
"""Tables 2 and 3."""
PUBLISHED_RATES = {"preferences": (0.745, 0.897), "grades": (0.547, 0.831)}
PUBLISHED_CHI_SQUARES = {"all": 420.7, "without ties": 28.5}


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``user-study``."""

    queries: Annotated[int, Setting("Queries; assessors judge them in five folds.", low=5)] = 50
    documents: Annotated[int, Setting("Documents per query.", low=2)] = 50
    k: Annotated[int, Setting("Documents to put in order.", low=1)] = 10
    strategy: Annotated[
        str, Setting("The strategy that asks for preferences; heap is the paper's.", choices=PAIRWISE)
    ] = "heap"


@dataclass(frozen=True)
class SimulatedStudy:
    """One study of five assessors."""

    settings: Settings
    seed: int


def cells(study: Study[Settings]) -> Iterator[Cell[SimulatedStudy]]:
    """One study per seed."""
    for seed in study.seeds:
        yield Cell(study.kind, {"seed": seed}, SimulatedStudy(study.settings, seed))


def compute(cell: Cell[SimulatedStudy]) -> Outcome:
    """Times, and the counts of the two 3×3 tables."""
    settings = cell.work.settings
    judged = simulated_study(
        settings.queries, settings.documents, settings.k, settings.strategy, cell.work.seed
    )
    rows: list[tuple[str, str, float]] = []
    for tool, table in agreement_by_tool(judged).items():
        times = timing(judged.preferences if tool == "preferences" else judged.grades)
        figures = (times.seconds, times.minutes_per_query, times.judgments_per_query)
        rows += [(tool, name, figure) for name, figure in zip(TIMES, figures, strict=True)]
        rows += [(tool, _cell_name(i, j), float(table.counts[i, j])) for i, j in np.ndindex(3, 3)]
    return Outcome.of_rows(("tool", "metric", "value"), rows)


def agreement_by_tool(judged: Judgments) -> dict[str, Agreement]:
    """The agreement of both tools on the same pairs: those that two assessors compared.

    Grades imply a preference for every pair of documents, most of which no labelling compares. The published
    χ² of both tests fit one number of pairs for both tools.
    """
    by_preferences = pairs_judged(judged.preferences)
    compared = {frozenset(pair[1:]) for pair, answers in by_preferences.items() if len(answers) > 1}
    by_grades: JudgedPairs = {
        pair: answers
        for pair, answers in pairs_by_grades(judged.grades).items()
        if _documents(pair) in compared
    }
    return {"preferences": agreement(by_preferences), "grades": agreement(by_grades)}


def _documents(pair: Pair) -> frozenset[str]:
    return frozenset((pair.a, pair.b))


def _cell_name(i: int, j: int) -> str:
    return f"{NAMES[i]} then {NAMES[j]}"


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """Each table of the paper beside the simulated one, then the rates of agreement and the χ² tests."""
    studies = len(study.seeds)
    note = (
        f"simulated: {studies} {'study' if studies == 1 else 'studies'} of 5 assessors, "
        f"{study.settings.queries} queries, {study.settings.documents} documents, k = {study.settings.k}, "
        f"strategy {study.settings.strategy}; published: Niu et al., SIGIR 2012"
    )
    yield Heading("Table 1: time")
    yield TablePart("time", _times(results, note))
    tables = {tool: [_agreement(results.where(seed=seed), tool) for seed in study.seeds] for tool in TOOLS}
    for number, (tool, title) in enumerate(TOOLS.items(), 2):
        yield Heading(f"Table {number}: agreement, {title}")
        whole = Agreement(np.sum([table.counts for table in tables[tool]], axis=0))
        yield TablePart(f"agreement-{tool}", _conditional(whole, tool, note))
    yield Heading("Rates of agreement")
    yield TablePart("rates", _rates(tables, note))
    yield Heading("χ² tests of the two tools")
    yield TablePart("chi-square", _chi_squares(tables, note))
    yield Paragraph(
        "The simulated assessors are assumptions that were chosen to resemble the published agreement, so "
        "their agreement is not evidence about people. The number of judgments and the shape of the tables "
        "follow from the strategy."
    )


def _times(results: Results, note: str) -> ScoreTable:
    simulated = {name: results.mean(name, "tool") for name in TIMES}
    rows = []
    for tool, title in TOOLS.items():
        rows.append((f"{title}, simulated", tuple(simulated[name][(tool,)] for name in TIMES)))
        rows.append((f"{title}, published", PUBLISHED_TIMES[tool]))
    return ScoreTable(TIMES, tuple(rows), (note,), bold=False, decimals=2)


def _agreement(results: Results, tool: str) -> Agreement:
    counts = np.zeros((3, 3), np.int64)
    for i, j in np.ndindex(3, 3):
        counts[i, j] = round(results.mean(_cell_name(i, j), "tool")[(tool,)])
    return Agreement(counts)


def _conditional(table: Agreement, tool: str, note: str) -> ScoreTable:
    rows = []
    for name, simulated, published in zip(NAMES, table.rows.tolist(), PUBLISHED_ROWS[tool], strict=True):
        rows.append((f"{name}, simulated", tuple(simulated)))
        rows.append((f"{name}, published", published))
    what = "P(another assessor says the column | one said the row)"
    return ScoreTable(NAMES, tuple(rows), (f"{what}; {note}",), bold=False)


def _rates(tables: dict[str, list[Agreement]], note: str) -> ScoreTable:
    rows = []
    for tool, title in TOOLS.items():
        figures = np.mean([(t.overall, t.without_ties, t.tie_share) for t in tables[tool]], axis=0)
        rows.append((f"{title}, simulated", tuple(figures.tolist())))
        rows.append((f"{title}, published", (*PUBLISHED_RATES[tool], published_tie_share(tool))))
    pairs = np.mean([t.agreed + t.disagreed for t in tables["preferences"]])
    more = f"{pairs:.0f} pairs per study; the published shares of ties are derived from Tables 2 and 3"
    return ScoreTable(RATES, tuple(rows), (f"{more}; {note}",), bold=False, decimals=3)


def published_tie_share(tool: str) -> float:
    """The share of ties behind a published table: counts are symmetric, so p_i·r_ij = p_j·r_ji.

    Grades: 1 : .2913/.2825 : .0815/.1534 = 1 : 1.0312 : .5313, and 1.0312/2.5624 = .402.

    >>> round(published_tie_share("preferences"), 3), round(published_tie_share("grades"), 3)
    (0.624, 0.402)
    """
    rows: NDArray[np.float64] = np.array(PUBLISHED_ROWS[tool])
    shares = np.array([1.0, rows[0, 1] / rows[1, 0], rows[0, 2] / rows[2, 0]])
    return float(shares[1] / shares.sum())


def _chi_squares(tables: dict[str, list[Agreement]], note: str) -> ScoreTable:
    rows = []
    for name, published in PUBLISHED_CHI_SQUARES.items():
        pairs = zip(tables["preferences"], tables["grades"], strict=True)
        statistics = [chi_square(first, second, ties=name == "all").statistic for first, second in pairs]
        rows.append((name, (float(np.mean(statistics)), min(statistics), published)))
    more = "mean and smallest χ² of the simulated studies; above 10.8, p < 0.001 (one degree of freedom)"
    columns = ("simulated", "smallest", "published")
    return ScoreTable(columns, tuple(rows), (f"{more}; {note}",), bold=False, decimals=1)


USER_STUDY = Kind(
    summary="a simulated user study: time and agreement of preferences and of grades, beside the published",
    code=Code(Settings, SimulatedStudy, cells, compute, show),
    metrics=(),
    learns=False,
)
