"""The simulated user study: its tables against the functions they come from, and the published figures."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from topkit.labelling.agreement import Agreement, agreement, pairs_judged, timing
from topkit.labelling.study import simulated_study
from topkit.studies.kinds import user_study
from topkit.studies.kinds.user_study import agreement_by_tool
from topkit.studies.publish import publish
from topkit.studies.run import run_study

SMALL = 'kind = "user-study"\nseeds = [3, 4]\n[settings]\nqueries = 10\ndocuments = 14\nk = 4\n'


def test_tables_beside_the_published_ones(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SMALL)
    finished = run_study(tmp_path / "study.toml", tmp_path / "out")
    shown = publish(finished)
    for published in ("142.76", "13.87", "0.6749", "0.4640", "0.745", "0.831", "420.7", "28.5"):
        assert published in shown
    judged = simulated_study(10, 14, 4, "heap", 3)
    found = finished.results.where(seed=3).mean("judgments per query", "tool")
    assert found[("preferences",)] == timing(judged.preferences).judgments_per_query
    assert found[("grades",)] == 14
    both = [agreement_by_tool(simulated_study(10, 14, 4, "heap", seed)) for seed in (3, 4)]
    statistics = []
    for tables in both:
        counts = [(t.agreed, t.disagreed) for t in (tables["preferences"], tables["grades"])]
        statistics.append(chi2_contingency(counts, correction=False).statistic)
    line = next(line for line in shown.splitlines() if line.startswith("all "))
    assert line.split()[1] == f"{np.mean(statistics):.1f}"
    assert line.split()[2] == f"{min(statistics):.1f}"


def test_both_tools_are_compared_on_the_same_pairs() -> None:
    judged = simulated_study(10, 14, 4, "heap", 3)
    tables = agreement_by_tool(judged)
    compared = [pair for pair, answers in pairs_judged(judged.preferences).items() if len(answers) == 2]
    assert (
        tables["preferences"].counts.tolist() == agreement(pairs_judged(judged.preferences)).counts.tolist()
    )
    # two assessors compared each pair, and two others graded both of its documents
    assert [t.agreed + t.disagreed for t in tables.values()] == [len(compared)] * 2


@pytest.mark.parametrize("tool", ["preferences", "grades"])
def test_the_published_rows_give_the_published_agreement(tool: str) -> None:
    rows = np.array(user_study.PUBLISHED_ROWS[tool])
    share = np.array([1.0, rows[0, 1] / rows[1, 0], rows[0, 2] / rows[2, 0]])
    whole = Agreement(np.round(1e6 * rows * share[:, None]).astype(np.int64))
    assert (whole.overall, whole.without_ties) == pytest.approx(user_study.PUBLISHED_RATES[tool], abs=0.015)
    assert whole.tie_share == pytest.approx(user_study.published_tie_share(tool), abs=1e-3)


def test_the_simulated_assessors_resemble_the_published_ones() -> None:
    tables = agreement_by_tool(simulated_study(queries=25))
    for tool, table in tables.items():
        assert table.overall == pytest.approx(user_study.PUBLISHED_RATES[tool][0], abs=0.08)
        assert table.without_ties == pytest.approx(user_study.PUBLISHED_RATES[tool][1], abs=0.12)
    assert tables["preferences"].overall > tables["grades"].overall + 0.1


def test_the_examples_of_the_page_run() -> None:
    page = Path(__file__).parents[2] / "docs" / "user-study.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted >= 4
    assert result.failed == 0
