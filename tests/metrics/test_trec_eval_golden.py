"""trec_eval's own expected outputs (its test folder), row by row.

Covered: every row of ``-m all_trec`` except those named in NOT_OURS, with ``-c``, ``-l 2``, ``-M 100``,
z-scores, other parameters, and averages over judgment groups; and the preference rows that are ppref, rpref
or counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topkit as tk
from topkit.data import Grade, Judgments, Preference
from topkit.metrics import Evaluation

pytestmark = pytest.mark.real_data

NOT_OURS = {
    "relstring": "a picture of the list, not a measure",
    "relstring_20": "the same",
    "binG": "not in our list of measures",
    "G": "not in our list of measures",
    "ndcg_rel": "not in our list of measures",
    "Rndcg": "not in our list of measures",
    "rbp_resid": "an uncertainty of rbp, not a measure of the list",
}
SAME_NAME = {
    "map",
    "gm_map",
    "Rprec",
    "bpref",
    "recip_rank",
    "infAP",
    "gm_bpref",
    "11pt_avg",
    "ndcg",
    "set_P",
}
SAME_NAME |= {"set_recall", "set_F", "rbp", "num_ret", "num_rel", "num_rel_ret"}
Rows = list[tuple[str, str, str]]


def rows_of(path: Path) -> Rows:
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return [(name.strip(), query, value) for name, query, value in rows]


def ours(name: str) -> str | None:
    """Our metric for a row of trec_eval, or None where the row follows from others (see ``derived``)."""
    if name in SAME_NAME:
        return "rbp(p=0.9)" if name == "rbp" else name
    if match := re.fullmatch(r"(iprec_at_recall|Rprec_mult)_(\d.*)", name):
        setting = "recall" if match[1] == "iprec_at_recall" else "mult"
        return f"{match[1]}({setting}={match[2]})"
    if re.fullmatch(r"(P|recall|ndcg_cut|map_cut|success|unj)_\d+", name):
        return name
    return None


def derived(name: str, value: Mapping[str, float]) -> float:
    """Rows that are arithmetic on our values: relative and set forms, utility, counts."""
    returned, known, found = (value[key] for key in ("num_ret", "num_rel", "num_rel_ret"))
    if match := re.fullmatch(r"relative_P_(\d+)", name):
        most = min(int(match[1]), known)
        return value[f"p@{match[1]}"] * int(match[1]) / most if most else 0.0
    if name == "set_relative_P":
        return found / min(returned, known) if min(returned, known) else 0.0
    if name == "set_map":
        return value["p"] * value["recall"]
    if name == "num_nonrel_judged_ret":
        return returned - found - round(value["unjudged"] * returned)
    if name.startswith("utility"):
        gain = 2 if name == "utility_2,-1,0,0" else 1
        return gain * found - (returned - found)
    raise AssertionError(f"the row {name} is neither ours nor known as not ours")


def check(rows: Rows, e: Evaluation, skip: Mapping[str, str] = NOT_OURS) -> int:
    """Compare all rows; returns how many were compared."""
    place = {qid: q for q, qid in enumerate(e.qids)}
    per_query = [{name: float(values[q]) for name, values in e.per_query.items()} for q in place.values()]
    compared = 0
    for name, query, expected in rows:
        if name in skip or name in ("runid", "num_q"):
            continue
        metric = ours(name)
        if query == "all" and metric is None:
            each = [derived(name, values) for values in per_query]
            found = sum(each) if name == "num_nonrel_judged_ret" else float(np.mean(each))
        elif metric is None:
            found = derived(name, per_query[place[query]])
        elif query == "all":
            found = e.mean[metric]
        else:
            found = e.per_query[metric][place[query]]
        assert found == pytest.approx(
            float(expected), abs=0.50001 * 10.0 ** -len(expected.partition(".")[2])
        ), (
            name,
            query,
        )
        compared += 1
    counts = [int(value) for name, _, value in rows if name == "num_q"]
    assert counts in ([], [len(e.qids)])
    return compared


def metrics_for(rows: Rows) -> list[str]:
    names = {metric for name, _, _ in rows if name not in NOT_OURS and (metric := ours(name))}
    relative = [f"p@{name.rpartition('_')[2]}" for name, _, _ in rows if name.startswith("relative_P_")]
    return [*sorted(names), *relative, "p", "recall", "unjudged", "num_ret", "num_rel", "num_rel_ret"]


@pytest.mark.parametrize(
    ("output", "qrels", "run", "options", "compared"),
    [
        ("out.test", "qrels.test", "results.test", {}, 28),
        ("out.test.a", "qrels.test", "results.test", {}, 92),
        ("out.test.aq", "qrels.test", "results.test", {}, 362),
        ("out.test.aqc", "qrels.test", "results.trunc", {"missing": "zero"}, 362),
        ("out.test.aqcM", "qrels.test", "results.trunc", {"missing": "zero", "depth": 100}, 362),
        ("out.test.aql", "qrels.rel_level", "results.test", {"relevant_from": 2}, 358),
        ("out.comment.test", "qrels.comment.test", "results.comment.test", {}, 28),
    ],
)
def test_output(
    real_data: Path, output: str, qrels: str, run: str, options: dict[str, Any], compared: int
) -> None:
    folder = real_data / "trec_eval"
    rows = rows_of(folder / output)
    e = tk.evaluate_run(
        tk.read_qrels(folder / qrels), tk.read_run(folder / run), metrics_for(rows), "trec", **options
    )
    skip = dict(NOT_OURS)
    if output == "out.test.aql":
        skip["rbp"] = (
            "trec_eval weighs by grade/largest grade of the topic; ours is Moffat and Zobel's, binary"
        )
    assert check(rows, e, skip) == compared


def test_other_parameters(real_data: Path) -> None:
    folder = real_data / "trec_eval"
    skip = {
        "11pt_avg_.25,.5,.75": "other levels than the eleven; its parts are compared as iprec rows",
        "ndcg_1=3,2=9,4=4.5": "gains of one's own; of the judged grades here, 0 and 1, only the ratio counts",
    }
    rows = rows_of(folder / "out.test.meas_params")
    names = [*metrics_for([row for row in rows if row[0] not in skip]), "ndcg"]
    e = tk.evaluate_run(
        tk.read_qrels(folder / "qrels.test"), tk.read_run(folder / "results.test"), names, "trec"
    )
    assert check(rows, e, skip) == 80
    for name, query, value in rows:  # with grades 0 and 1, a gain of 3 for grade 1 cancels in NDCG
        if name.startswith("ndcg_1") and query != "all":
            assert e.per_query["ndcg"][e.qids.index(query)] == pytest.approx(float(value), abs=5.01e-5)


def test_z_scores(real_data: Path) -> None:
    """out.test.aqZ is (value − mean)/deviation with the figures of zscores_file."""
    folder = real_data / "trec_eval"
    scale = {}
    for line in (folder / "zscores_file").read_text().splitlines():
        query, name, mean, deviation = line.split()
        scale[query, name] = float(mean), float(deviation)
    rows = [
        (name[1:], query, value) for name, query, value in rows_of(folder / "out.test.aqZ") if query != "all"
    ]
    rows = [row for row in rows if (row[1], row[0]) in scale and ours(row[0])]
    e = tk.evaluate_run(
        tk.read_qrels(folder / "qrels.test"), tk.read_run(folder / "results.test"), metrics_for(rows), "trec"
    )
    for name, query, expected in rows:
        centre, spread = scale[query, name]
        value = e.per_query[str(ours(name))][e.qids.index(query)]
        z = (value - centre) / spread if spread else 0.0
        assert z == pytest.approx(float(expected), abs=5.01e-5), (name, query)
    assert len(rows) > 150


def test_averages_over_judgment_groups(real_data: Path) -> None:
    """out.test.qrels_jg is the mean over three sets of judgments, told apart by the second field."""
    folder = real_data / "trec_eval"
    groups: dict[str, list[Grade]] = {}
    for line in (folder / "qrels.123").read_text().splitlines():
        query, group, doc, grade = line.split()
        groups.setdefault(group, []).append(Grade(query, doc, float(grade)))
    rows = [
        (name.replace("_avgjg", ""), query, value)
        for name, query, value in rows_of(folder / "out.test.qrels_jg")
    ]
    run = tk.read_run(folder / "results.test")
    each = [
        tk.evaluate_run(Judgments(grades=tuple(grades)), run, metrics_for(rows), "trec")
        for grades in groups.values()
    ]
    assert len({e.qids for e in each}) == 1
    mean = Evaluation(
        each[0].qids,
        {name: np.mean([e.per_query[name] for e in each], axis=0) for name in each[0].per_query},
        each[0].convention,
    )
    assert check(rows, mean) == 80


def preferences_of(lines: list[list[str]]) -> list[Preference]:
    """Preferences of a file ``topic group subgroup document level``: the higher level within a subgroup wins.

    A group of several subgroups stands for one assessor, whose preferences are transitive.
    """
    found = []
    groups: dict[tuple[str, str], dict[str, list[tuple[str, float]]]] = {}
    for topic, group, subgroup, doc, level in lines:
        groups.setdefault((topic, group), {}).setdefault(subgroup, []).append((doc, float(level)))
    for (topic, _), subgroups in groups.items():
        better = {
            (a, b) for docs in subgroups.values() for a, level in docs for b, other in docs if level > other
        }
        if len(subgroups) > 1:
            while more := {(a, d) for a, b in better for c, d in better if b == c} - better:
                better |= more
        found += [Preference(topic, a, b, "a") for a, b in sorted(better)]
    return found


def check_preferences(rows: Rows, judgments: Judgments, e: Evaluation) -> None:
    """prefs_simp is our rpref, prefs_simp_imp our ppref; both count one answer of each group."""
    given = {qid: len(answers) for qid, answers in judgments.preferences_by_query().items()}
    for name, query, expected in rows:
        if query not in given:
            if name in ("prefs_simp", "prefs_simp_imp", "prefs_num_prefs_poss") and query != "all":
                assert float(expected) == 0.0
            continue
        q = e.qids.index(query)
        values = {
            "prefs_num_prefs_poss": given[query],
            "prefs_num_prefs_ful": e.per_query["rpref"][q] * given[query],
            "prefs_simp": e.per_query["rpref"][q],
            "prefs_simp_imp": e.per_query["ppref"][q],
        }
        if name in values:
            assert values[name] == pytest.approx(float(expected), abs=5.01e-5), (name, query)


def test_preferences(real_data: Path) -> None:
    """The rows *_pair, *_avgjg and *_ret weigh groups in ways that ppref and rpref do not know."""
    folder = real_data / "trec_eval"
    lines = [line.split() for line in (folder / "prefs.test").read_text().splitlines()]
    judgments = Judgments(preferences=tuple(preferences_of(lines)))
    run = tk.read_run(folder / "prefs.results.test")
    e = tk.evaluate_run(judgments, run, ["ppref", "rpref"], "trec", missing="zero")
    check_preferences(rows_of(folder / "out.test.prefs"), judgments, e)
    assert len(e.qids) == 18


def test_preferences_from_grades(real_data: Path) -> None:
    folder = real_data / "trec_eval"
    grades = tk.read_qrels(folder / "qrels.test").grades_by_query()
    lines = [
        [query, "0", "0", doc, str(grade)] for query in ("302", "303") for doc, grade in grades[query].items()
    ]
    judgments = Judgments(preferences=tuple(preferences_of(lines)))
    e = tk.evaluate_run(judgments, tk.read_run(folder / "results.test"), ["ppref", "rpref"], "trec")
    rows = [row for row in rows_of(folder / "out.test.qrels_prefs") if row[1] in e.qids]
    check_preferences(rows, judgments, e)
    assert e.qids == ("302", "303")
