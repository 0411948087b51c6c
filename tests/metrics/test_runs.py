"""Runs with judgments: missing queries, levels, depths, several kinds of judgments."""

from __future__ import annotations

import numpy as np
import pytest

import topkit as tk
from topkit.data import Dataset, Grade, InputError, Judgments, Preference, Run

JUDGED = Judgments(
    grades=(
        Grade("q1", "a", 2),
        Grade("q1", "b", 1),
        Grade("q1", "c", 0),
        Grade("q2", "a", 1),
        Grade("q3", "x", 1),
    )
)
RUN = Run.of(
    {"q2": [("b", 1.0), ("a", 0.5)], "q1": [("c", 0.5), ("b", 0.7), ("a", 0.1)], "q9": [("a", 1.0)]}, "r"
)


def test_queries_in_common_or_all() -> None:
    e = tk.evaluate_run(JUDGED, RUN, "rr,num_rel")
    assert e.qids == ("q1", "q2")
    assert e.name == "r"
    np.testing.assert_array_equal(e.per_query["rr"], [1.0, 0.5])
    all_of_them = tk.evaluate_run(JUDGED, RUN, "rr,num_rel", missing="zero")
    assert all_of_them.qids == ("q1", "q2", "q3")
    np.testing.assert_array_equal(all_of_them.per_query["rr"], [1.0, 0.5, 0.0])
    assert all_of_them.mean["num_rel"] == 4


def test_a_missing_query_earns_nothing_under_any_convention() -> None:
    nothing = Judgments(grades=(*JUDGED.grades, Grade("q4", "a", 0)))
    e = tk.evaluate_run(nothing, RUN, "ndcg@5,map,recall@3,auc,tau,compat,iprec", "yahoo", missing="zero")
    for values in e.per_query.values():
        assert values[2] == values[3] == 0.0


def test_level_and_depth() -> None:
    e = tk.evaluate_run(JUDGED, RUN, "rr,map", relevant_from=2)
    assert e.per_query["rr"][0] == 1 / 3
    assert e.convention.relevant_from == 2
    cut = tk.evaluate_run(JUDGED, RUN, "rr,recall,num_ret", depth=1)
    np.testing.assert_array_equal(cut.per_query["num_ret"], [1, 1])
    np.testing.assert_array_equal(cut.per_query["recall"], [0.5, 0.0])
    with pytest.raises(InputError, match="at least 1"):
        tk.evaluate_run(JUDGED, RUN, "rr", depth=0)


def test_no_common_query() -> None:
    with pytest.raises(InputError, match="no query in common"):
        tk.evaluate_run(JUDGED, Run.of({"z": [("a", 1.0)]}), "rr")
    with pytest.raises(InputError, match="no query in common"):
        tk.evaluate_run(JUDGED, Run.of({"z": [("a", 1.0)]}), "rr", missing="zero")


def test_two_kinds_of_judgments_need_queries_with_both() -> None:
    both = JUDGED + Judgments(preferences=(Preference("q1", "a", "b", "a"),))
    e = tk.evaluate_run(both, RUN, "rr,ppref")
    assert e.qids == ("q1",)
    assert e.mean["ppref"] == 0.0


def test_a_run_of_all_documents_equals_the_data_set(ragged: Dataset) -> None:
    scores = np.random.default_rng(2).normal(size=len(ragged))
    names = [
        name
        for name, measure in tk.METRICS.items()
        if measure.needs == "labels" and name not in ("unjudged", "num_ret")
    ]
    judged = Judgments(
        grades=tuple(
            Grade(qid, ragged.doc_ids[i], float(ragged.y[i]))  # type: ignore[index]
            for qid, rows in ragged
            for i in range(rows.start, rows.stop)
        )
    )
    for convention in tk.CONVENTIONS:
        direct = tk.evaluate(ragged, scores, names, convention)
        by_run = tk.evaluate_run(judged, Run.from_scores(ragged, scores), names, convention)
        assert by_run.qids == direct.qids
        for name in names:
            np.testing.assert_allclose(
                by_run.per_query[name], direct.per_query[name], atol=1e-12, err_msg=name
            )
