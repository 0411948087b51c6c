"""The kind calibration on small data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_ind, ttest_rel

import topkit as tk
from topkit.data import InputError
from topkit.rankers.mixture import CALIBRATIONS
from topkit.rankers.mixture.targets import TARGETS
from topkit.rankers.multiclass.adaboost import Plan
from topkit.scorers import Job
from topkit.studies.cell import Cell, Outcome
from topkit.studies.demo_data import demo_data
from topkit.studies.kinds.calibration import calibrated, difference_tests, diversity, targets_at_one_stage
from topkit.studies.publish import publish
from topkit.studies.results import Results
from topkit.studies.run import run_study

DATA = '\n[[data]]\nname = "demo"\nfolds = [1, 2]\n'


def test_a_study_of_calibrations(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('kind = "calibration"\n[settings]\nclassifiers = ["tree 4"]\nrounds = 6' + DATA)
    finished = run_study(file, tmp_path / "out")
    means = finished.results.mean("ndcg@10", "calibration")
    assert {name for (name,) in means} == set(CALIBRATIONS)
    shown = publish(finished)
    assert "of 12 regressions" in shown  # six regressions in two folds
    assert (tmp_path / "out" / "report.html").read_text().count("<svg") >= 2


def test_unknown_classifiers_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('kind = "calibration"\n[settings]\nclassifiers = ["forest 3"]' + DATA)
    with pytest.raises(InputError, match="unknown classifier 'forest 3'"):
        run_study(file, tmp_path / "out")


def test_score_values_are_compared_at_one_stage(tmp_path: Path) -> None:
    """Figure 5 of the paper: t-tests on the scores of the test documents, all of one boosted classifier."""
    file = tmp_path / "study.toml"
    file.write_text('kind = "calibration"\n[settings]\nclassifiers = ["tree 4"]\nrounds = 12' + DATA)
    finished = run_study(file, tmp_path / "out")
    part = tk.query_folds(demo_data(), 5, seed=0)[0]
    job = Job(part.train, part.valid, tk.ranker("adaboost-mh").measure())
    mixture = targets_at_one_stage(calibrated(job, Plan("tree", 4, 12)))
    assert [member.head.name for member in mixture.members] == list(TARGETS)
    assert len({member.stage for member in mixture.members}) == 1
    scores = mixture.member_scores(part.test)
    facts = finished.results.where(fold=1).outcomes[0].facts
    expected = ttest_rel(scores[0], scores[3]).pvalue
    assert facts["p-values of scores"]["log-sigmoid|expected-label"] == pytest.approx(expected, rel=1e-6)
    expected = ttest_ind(scores[0], scores[3], equal_var=False).pvalue
    assert facts["p-values of two samples"]["log-sigmoid|expected-label"] == pytest.approx(expected, rel=1e-6)


def test_differences_are_tested_in_pairs_and_folds_combined() -> None:
    """Beside scipy's paired t-test; Fisher: −2 Σ ln p is χ² with 2·folds degrees of freedom."""
    from scipy.stats import chi2

    rng = np.random.default_rng(0)
    names = list(TARGETS)
    folds = []
    for _ in range(3):
        scores = rng.normal(size=(len(names), 40)) + 0.1 * np.arange(len(names))[:, None]
        found = difference_tests(names, scores)
        assert found["log-sigmoid|soft-ndcg"] == pytest.approx(ttest_rel(scores[0], scores[4]).pvalue)
        folds.append(found)
    cells = tuple(Cell("calibration", {"fold": fold}, None) for fold in range(3))
    empty: dict[str, list[object]] = {"metric": [], "value": []}
    outcomes = tuple(Outcome(empty, {"p-values of scores": one}) for one in folds)
    matrix = diversity(Results(cells, outcomes), "scores")
    statistic = -2 * sum(np.log(one["log-sigmoid|expected-loss"]) for one in folds)
    assert matrix[0, 2] == pytest.approx(chi2.sf(statistic, 6))
    assert matrix[2, 0] == matrix[0, 2]
    assert matrix.diagonal().tolist() == [1.0] * 5
