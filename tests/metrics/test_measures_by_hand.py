"""One hand-computed case for every measure; the arithmetic is written out."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

import topkit as tk
from topkit.data import Dataset, Grade, InputError, Judgments, Page, Preference, Run, Truth
from topkit.metrics import evaluate_arrays


def one(name: str, ranked: list[float], convention: str = "trec", truth: str = "graded") -> float:
    """The value for a list whose labels, best score first, are ``ranked``."""
    scores = np.arange(len(ranked), 0, -1.0)
    return float(
        evaluate_arrays(ranked, scores, [0, len(ranked)], name, convention, truth=Truth.parse(truth))[name][0]
    )


def run_value(name: str, grades: dict[str, float], ranking: str, convention: str = "trec") -> float:
    """The value for documents named by single letters, given best first."""
    judged = Judgments(grades=tuple(Grade("q", doc, grade) for doc, grade in grades.items()))
    run = Run.of({"q": [(doc, float(-rank)) for rank, doc in enumerate(ranking)]})
    return tk.evaluate_run(judged, run, [name], convention).mean[name]


# -- gains -------------------------------------------------------------------------------------------------
def test_dcg_and_mean_ndcg() -> None:
    assert one("dcg", [1, 0, 3]) == pytest.approx(1 + 3 / 2)
    # NDCG@1 = 1/2, @2 = 1/(2 + 1/log2 3), @3 = (1 + 2/2)/(2 + 1/log2 3)
    ideal = 2 + 1 / log2(3)
    assert one("mean_ndcg", [1, 0, 2]) == pytest.approx((1 / 2 + 1 / ideal + 2 / ideal) / 3)


def test_documents_not_returned_count_for_the_ideal() -> None:
    # returned: a (1), unjudged x; missed: b (2). DCG 1, ideal 2 + 1/log2 3
    assert run_value("ndcg", {"a": 1, "b": 2}, "ax") == pytest.approx(1 / (2 + 1 / log2(3)))


def test_kappa_ndcg_and_kappa_err() -> None:
    # four documents, k = 2: labels 2, 1, 0, 0; the system puts the second best first and the best third
    ranked = [1.0, 0, 2, 0]
    assert one("kndcg@3", ranked, "yahoo", "top-2") == pytest.approx((1 + 3 / 2) / (3 + 1 / log2(3)))
    # R = (2^y − 1)/2^k: 1/4, 0, 3/4
    assert one("kerr", ranked, "yahoo", "top-2") == pytest.approx(1 / 4 + (3 / 4) * (3 / 4) / 3)
    assert one("kerr@2", ranked, "yahoo", "top-2") == pytest.approx(1 / 4)
    # two documents and k = 5: k := 2, so R of the best is 3/4
    assert one("kerr", [2.0, 1], "yahoo", "top-5") == pytest.approx(3 / 4 + (1 / 4) * (1 / 4) / 2)
    with pytest.raises(InputError, match=r"needs top-k truth.*top_k"):
        one("kndcg@3", ranked)


def test_err_knows_its_largest_grade() -> None:
    with pytest.raises(InputError, match=r"err\(top=5\)"):
        one("err", [5.0], "trec")
    assert one("err(top=5)", [5.0], "trec") == 31 / 32
    assert one("err_tm(top=5)", [5.0], "trec") == 1.0


# -- counting relevant documents ---------------------------------------------------------------------------
RANKED = [0.0, 1, 0, 2, 0, 0, 1]  # relevant at ranks 2, 4, 7


def test_precision_recall_success_f1() -> None:
    assert one("p@4", RANKED) == 2 / 4
    assert one("p", RANKED) == 3 / 7
    assert one("recall@4", RANKED) == pytest.approx(2 / 3)
    assert one("recall@1", RANKED) == 0
    assert one("success@1", RANKED) == 0
    assert one("success@2", RANKED) == 1
    assert one("p(rel=2)@4", RANKED) == 1 / 4
    # P@4 = 1/2, recall@4 = 2/3: harmonic mean 2·(1/2)(2/3)/(1/2 + 2/3) = 4/7
    assert one("f1@4", RANKED) == pytest.approx(4 / 7)
    assert one("f1", RANKED) == pytest.approx(2 * 3 / (7 + 3))


def test_f1_at_a_threshold() -> None:
    # scores 7..1; at least 4 are ranks 1 to 4, with two of three relevant: P = 2/4, recall 2/3
    assert one("f1(threshold=4)", RANKED) == pytest.approx(4 / 7)
    assert one("f1(threshold=4)@2", RANKED) == pytest.approx(2 * 1 / (2 + 3))
    assert one("f1(threshold=99)", RANKED) == 0.0
    assert one("f1(threshold=99)", [0.0, 0], "yahoo") == 1.0  # rightly nothing
    assert one("f1(threshold=-9)", [0.0, 0], "yahoo") == 0.0  # two wrong ones


def test_average_precision_and_geometric_mean() -> None:
    assert one("map", RANKED) == pytest.approx((1 / 2 + 2 / 4 + 3 / 7) / 3)
    assert one("map@5", RANKED) == pytest.approx((1 / 2 + 2 / 4) / 3)
    data = Dataset.build(np.zeros((4, 0)), [0, 1, 0, 0], ["a", "a", "b", "b"])
    e = tk.evaluate(data, [2.0, 1, 2, 1], "map,gm_map", "letor3")  # AP 1/2 and 0, which counts as 1e-5
    assert e.mean["map"] == 1 / 4
    assert e.mean["gm_map"] == pytest.approx((0.5 * 1e-5) ** 0.5)


def test_r_precision() -> None:
    assert one("rprec", RANKED) == pytest.approx(1 / 3)  # of the first three, one
    assert one("rprec(mult=2)", RANKED) == pytest.approx(2 / 6)
    assert one("rprec(mult=5)", RANKED) == pytest.approx(3 / 15)  # beyond the end of the list


def test_reciprocal_rank_and_page() -> None:
    assert one("rr", RANKED) == 1 / 2
    assert one("rr@1", RANKED) == 0
    assert one("rr(rel=2)", RANKED) == 1 / 4
    assert one("rpr(page=3)", [0.0] * 6 + [1]) == 1 / 3  # rank 7 is on the third page of three
    assert one("rpr", [0.0] * 9 + [1]) == 1.0
    assert one("rpr", [0.0] * 10 + [1]) == 1 / 2
    assert one("rpr", [0.0] * 3) == 0.0


def test_interpolated_precision() -> None:
    # precision at the relevant ranks: 1/2, 2/4, 3/7; R = 3
    assert one("iprec", RANKED) == 1 / 2
    assert one("iprec(recall=0.5)", RANKED) == 1 / 2  # ⌊1.5 + ½⌋ = 2 documents
    assert one("iprec(recall=1)", RANKED) == 3 / 7
    # levels 0, .1 need none, .2 to .8 ⌊3x + ½⌋ = 1 or 2, .9 and 1 need 3 — but .9·3 + ½ = 3.2
    assert one("iprec_avg", RANKED) == pytest.approx((9 * 1 / 2 + 2 * 3 / 7) / 11)
    assert run_value("iprec(recall=1)", {"a": 1, "b": 1}, "a") == 0.0


def test_rank_biased_precision() -> None:
    assert one("rbp(p=0.5)", RANKED) == pytest.approx(0.5 * (0.5 + 0.5**3 + 0.5**6))
    assert one("rbp(p=0.5)@3", RANKED) == pytest.approx(0.5 * 0.5)
    assert one("rbp", [1.0]) == pytest.approx(0.2)


# -- incomplete judgments ----------------------------------------------------------------------------------
def test_bpref() -> None:
    # r = relevant a, b, c; n = judged irrelevant d, e; x is not judged. Order: d a x b, missed c and e
    # a: min(1, 3)/min(2, 3) = 1/2 above → 1/2; b: x is passed over, again 1/2; R = 3
    grades = {"a": 1.0, "b": 1, "c": 2, "d": 0, "e": 0}
    assert run_value("bpref", grades, "daxb") == pytest.approx((1 / 2 + 1 / 2) / 3)
    assert run_value("bpref", {"a": 1}, "xa") == 1.0  # no irrelevant document is known
    assert run_value("gm_bpref", grades, "daxb") == pytest.approx(1 / 3)


def test_inferred_average_precision() -> None:
    # order a p b: a relevant, p in the pool but not judged, b relevant; ε = 1e-5
    # rank 1: 1. rank 3: 1/3 + (2/3)·(2/2)·(1 + ε)/(1 + 2ε), for of the two above both are pooled, one judged
    e = 1e-5
    assert run_value("infap", {"a": 1, "p": -1, "b": 1}, "apb") == pytest.approx(
        (1 + 1 / 3 + (2 / 3) * (1 + e) / (1 + 2 * e)) / 2
    )
    # not in the pool counts as irrelevant: 1/3 + (2/3)·(1/2)·(1 + ε)/(1 + 2ε)
    assert run_value("infap", {"a": 1, "b": 1}, "axb") == pytest.approx(
        (1 + 1 / 3 + (1 / 3) * (1 + e) / (1 + 2 * e)) / 2
    )


def test_counts() -> None:
    grades = {"a": 1.0, "b": 0, "c": 2}
    assert run_value("num_ret", grades, "axb") == 3
    assert run_value("num_rel", grades, "axb") == 2
    assert run_value("num_rel_ret", grades, "axb") == 1
    assert run_value("unjudged@2", grades, "axb") == 1 / 2
    assert run_value("unjudged@10", grades, "axb") == 1 / 10
    assert run_value("unjudged", grades, "axb") == pytest.approx(1 / 3)


# -- pairs -------------------------------------------------------------------------------------------------
def test_auc() -> None:
    # relevant at ranks 2, 4, 7 among 7: pairs right 4·3 − (1 + 2 + 4) = 5 of 12
    assert one("auc", RANKED) == pytest.approx(5 / 12)
    # equal scores count one half: relevant .5, irrelevant .5 and .1
    assert evaluate_arrays([1, 0, 0], [0.5, 0.5, 0.1], [0, 3], "auc")["auc"][0] == pytest.approx(1.5 / 2)
    assert one("auc", [1.0, 1], "yahoo") == 1.0
    # run a x, missed b relevant and d irrelevant: a beats x and d, b loses to x and ties with d
    assert run_value("auc", {"a": 1, "b": 1, "d": 0}, "ax") == pytest.approx((2 + 0.5) / 4)


def test_kendall_tau() -> None:
    # labels 2, 0, 1 in rank order: pairs + + −, no ties
    assert one("tau", [2.0, 0, 1]) == pytest.approx(1 / 3)
    # labels 1, 0, 0: P = 3, one tie in labels, two pairs right: 2/√(2·3)
    assert one("tau", [1.0, 0, 0]) == pytest.approx(2 / 6**0.5)
    assert one("tau", [0.0, 0], "yahoo") == 1.0


def test_weighted_kendall_tau() -> None:
    # truth a b c d (labels 4..1), system b a d c. At a: b scores higher: α(1)·1; at c: d does: α(3)·1
    ranked = [3.0, 4, 1, 2]
    assert one("wkt", ranked, "yahoo", "order") == pytest.approx(15 * 1 + 3 / 2)
    assert one("wkt@2", ranked, "yahoo", "order") == pytest.approx(15)
    # top-1 of three documents, and the best is last: two scores above it, α(1) = 1
    assert one("wkt", [0.0, 0, 1], "yahoo", "top-1") == 2.0
    with pytest.raises(InputError, match="needs the order of the top"):
        one("wkt", ranked)


def test_wkt_of_documents_that_tie_in_the_truth() -> None:
    # places 1, 1, 3 (labels 3, 3, 1) and two others: the first two are not compared with each other
    labels, scores = [3, 3, 1, 0, 0], [0.1, 0.9, 0.5, 0.2, 0.3]
    # document 1 has three better scores among those below it, document 3 none; α(1) = 2³ − 1
    values = evaluate_arrays(labels, scores, [0, 5], "wkt", truth=Truth("top-k", 3))
    assert values["wkt"][0] == pytest.approx(7 * 3)
    swapped = evaluate_arrays(labels, [0.9, 0.1, 0.5, 0.2, 0.3], [0, 5], "wkt", truth=Truth("top-k", 3))
    assert swapped["wkt"][0] == pytest.approx(7 * 3)


def test_wkt_does_not_count_ties_of_scores() -> None:
    values = evaluate_arrays([2, 1, 0], [1.0, 1.0, 1.0], [0, 3], "wkt", truth=Truth("top-k", 2))
    assert values["wkt"][0] == 0.0


def test_top_k_loss() -> None:
    right = [3.0, 2, 0, 1]
    assert one("loss01@2", right, truth="top-3") == 0
    assert one("loss01", right, truth="top-3") == 1  # k is 3 here
    assert one("loss01@1", [2.0, 3, 1, 0], truth="top-3") == 1
    assert one("loss01@9", [2.0, 1]) == 0  # all of a short list is right
    assert one("loss01@3", [1.0, 1, 0, 0]) == 0  # equal grades in any order
    assert run_value("loss01@1", {"a": 2, "b": 3}, "a") == 1  # the best was not returned


# -- Compatibility -----------------------------------------------------------------------------------------
def test_compatibility() -> None:
    # grades a 2, b 1, c 1; list c a: ideal a c b (c before b as in the list); p = 1/2, depth 3
    # overlaps: {c}∩{a} = 0, {c,a}∩{a,c} = 2, {c,a}∩{a,c,b} = 2 → 0 + (1/2)(2/2) + (1/4)(2/3)
    # of the ideal with itself: 1 + 1/2 + 1/4
    value = (1 / 2 + (1 / 4) * (2 / 3)) / (1 + 1 / 2 + 1 / 4)
    assert run_value("compat(p=0.5)", {"a": 2, "b": 1, "c": 1}, "ca") == pytest.approx(value)
    assert run_value("compat(p=0.5)@1", {"a": 2, "b": 1, "c": 1}, "ca") == 0.0
    assert run_value("compat", {"a": 1, "b": 0}, "a") == 1.0
    assert run_value("compat", {"a": 0}, "a", "yahoo") == 1.0
    assert run_value("compat", {"a": 0}, "a", "trec") == 0.0


# -- preferences and clicks --------------------------------------------------------------------------------
def prefer(text: str) -> Judgments:
    """``"a>b c=d"`` as preferences of the query q."""
    return Judgments(
        preferences=tuple(Preference("q", p[0], p[2], "a" if p[1] == ">" else "tie") for p in text.split())
    )


def test_preference_measures() -> None:
    judged = prefer("a>b b>c c>a d>e a=b a>b")
    run = Run.of({"q": [("c", 3.0), ("a", 2.0), ("b", 1.0)]})
    e = tk.evaluate_run(judged, run, "ppref,rpref,nwppref,ppref@1,rpref@1,nwppref@1", "trec")
    # ordered: a>b right, b>c wrong, c>a right, a>b again right; d>e not ordered; the tie does not count
    assert e.mean["ppref"] == 3 / 4
    assert e.mean["rpref"] == 3 / 5
    # weights 1/log2(1 + rank of the higher): a>b 1/log2 3, twice; b>c 1; c>a 1
    weight = 1 / log2(3)
    assert e.mean["nwppref"] == pytest.approx((2 * weight + 1) / (2 * weight + 2))
    # the first place holds c, which orders b>c (wrong) and c>a (right)
    assert e.mean["ppref@1"] == 1 / 2
    assert e.mean["rpref@1"] == 1 / 5
    assert e.mean["nwppref@1"] == 1 / 2


def test_preferences_with_documents_not_returned() -> None:
    e = tk.evaluate_run(prefer("a>z z>b y>z"), Run.of({"q": [("a", 2.0), ("b", 1.0)]}), "ppref,rpref")
    assert e.mean["ppref"] == 1 / 2  # a is returned and z is not; b is and z is not; y and z are not ordered
    assert e.mean["rpref"] == 1 / 3


def test_bad_documents_lose() -> None:
    judged = Judgments(preferences=(Preference("q", "a", "b", "bad-a"), Preference("q", "c", "b", "bad-b")))
    run = Run.of({"q": [("b", 3.0), ("a", 2.0), ("c", 1.0)]})
    assert tk.evaluate_run(judged, run, "ppref").mean["ppref"] == 1 / 2


def test_clicks() -> None:
    # page 1: a b c, b clicked: a and b examined. page 2: b d, none clicked: none examined. page 3: c a, both
    pages = (
        Page("q", ("a", "b", "c"), (False, True, False)),
        Page("q", ("b", "d"), (False, False)),
        Page("q", ("c", "a"), (True, True)),
    )
    # clicks a 1, b 1, c 1; examinations a 2, b 1, c 1. Discounts of d, a, c, b: 1, 1/log2 3, 1/2, 1/log2 5
    run = Run.of({"q": [("d", 4.0), ("a", 3.0), ("c", 2.0), ("b", 1.0)]})
    e = tk.evaluate_run(Judgments(pages=pages), run, "sclicks")
    assert e.mean["sclicks"] == pytest.approx((1 / log2(3) + 1 / 2 + 1 / log2(5)) / 4)
    only_d = Run.of({"q": [("d", 1.0)]})
    assert tk.evaluate_run(Judgments(pages=pages), only_d, "sclicks", "yahoo").mean["sclicks"] == 1.0


def test_what_a_metric_needs() -> None:
    run = Run.of({"q": [("a", 1.0)]})
    data = Dataset.build(np.zeros((1, 0)), [1], ["q"])
    for name in ("ppref", "sclicks"):
        with pytest.raises(InputError, match="no query in common"):
            tk.evaluate_run(Judgments(grades=(Grade("q", "a", 1),)), run, name)
        with pytest.raises(InputError, match=r"needs (preferences|clicks)"):
            tk.evaluate(data, [1.0], name)


# -- calibration -------------------------------------------------------------------------------------------
def test_expected_calibration_error() -> None:
    """Two bins: scores 0.1, 0.2, 0.3 with labels 0, 1, 0 and 0.8, 0.8, 0.9 with labels 1, 0, 1.

    Gaps: −0.1 + 0.8 − 0.3 = 0.4 and 0.2 − 0.8 + 0.1 = −0.5, so ECE = (0.4 + 0.5)/6. Query a has the gaps −0.1
    and 0.8 of the first bin and 0.2 of the second, whose sign is negative: (−0.1 + 0.8 − 0.2)/6 · 2.
    """
    scores = [0.1, 0.2, 0.8, 0.3, 0.8, 0.9]
    data = Dataset.build(np.zeros((6, 1)), [0, 1, 1, 0, 0, 1], ["a"] * 3 + ["b"] * 3)
    result = tk.evaluate(data, scores, ["ece(bins=2)", "ece(bins=1)", "ece(bins=2,rel=1)"])
    assert result.mean["ece(bins=2)"] == pytest.approx(0.9 / 6)
    assert result.per_query["ece(bins=2)"] == pytest.approx([0.5 / 6 * 2, 0.4 / 6 * 2])
    assert result.mean["ece(bins=1)"] == pytest.approx(abs(0.4 - 0.5) / 6)
    assert result.mean["ece(bins=2,rel=1)"] == pytest.approx(0.9 / 6)
    graded = Dataset.build(np.zeros((2, 1)), [2, 1], ["a", "a"])
    values = tk.evaluate(graded, [1.5, 1.5], ["ece", "ece(rel=2)"]).mean
    assert values["ece"] == pytest.approx(0)  # equal scores share a bin, whose mean label is 1.5
    assert values["ece(rel=2)"] == pytest.approx(1.0)  # half are relevant, the scores say 1.5


def test_ece_does_not_depend_on_the_order_of_rows_and_leaves_out_unjudged_documents() -> None:
    rng = np.random.default_rng(4)
    labels, scores = rng.integers(0, 3, 60).astype(float), rng.integers(0, 9, 60) / 4
    data = Dataset.build(np.zeros((60, 1)), labels, np.repeat(np.arange(6), 10))
    mixed = np.concatenate([10 * q + rng.permutation(10) for q in rng.permutation(6)])
    moved = Dataset.build(np.zeros((60, 1)), labels[mixed], np.repeat(np.arange(6), 10))
    expected = tk.evaluate(data, scores, "ece").mean["ece"]
    assert tk.evaluate(moved, scores[mixed], "ece").mean["ece"] == pytest.approx(expected)
    judged = run_value("ece(bins=1)", {"a": 1, "b": 0}, "abx")  # scores 0, −1, −2; x is not judged
    assert judged == pytest.approx(abs((1 - 0) + (0 + 1)) / 2)
