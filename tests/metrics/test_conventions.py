"""Every cell of the convention table, by hand: the arithmetic is written out in full."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

import topkit as tk
from topkit.data import Dataset, InputError
from topkit.metrics import evaluate_arrays

# One list. In the order of the system its labels are 1, 0, 2; the ideal order is 2, 1, 0.
LABELS = [0, 1, 2]
SCORES = [0.5, 0.9, 0.1]


def one(name: str, convention: str, labels: list[int] = LABELS, scores: list[float] = SCORES) -> float:
    return float(evaluate_arrays(labels, scores, [0, len(labels)], name, convention)[name][0])


# ranks 1, 2, 3 have the discounts 1, 1/log2(3), 1/log2(4) = 1/2
EXPONENTIAL = (1 * 1 + 0 + 3 / 2) / (3 * 1 + 1 / log2(3) + 0)
LINEAR = (1 * 1 + 0 + 2 / 2) / (2 * 1 + 1 / log2(3) + 0)
# ranks 1, 2, 3 have the discounts 1, 1, 1/log2(3)
LETOR = (1 * 1 + 0 + 3 / log2(3)) / (3 * 1 + 1 * 1 + 0)


@pytest.mark.parametrize(
    ("convention", "value"),
    [
        ("yahoo", EXPONENTIAL),
        ("ranklib", EXPONENTIAL),
        ("trec", LINEAR),
        ("letor3", LETOR),
        ("letor4", LETOR),
        ("mslr", LETOR),
    ],
)
def test_gain_and_discount(convention: str, value: float) -> None:
    assert one("ndcg@3", convention) == pytest.approx(value, abs=1e-15)
    assert one("ndcg", convention) == pytest.approx(value, abs=1e-15)


def test_discount_at_rank_four() -> None:
    # only the fourth document has a gain, and it stands first in the ideal list
    labels, scores = [0, 0, 0, 1], [4.0, 3.0, 2.0, 1.0]
    assert one("dcg@4", "yahoo", labels, scores) == pytest.approx(1 / log2(5), abs=1e-15)
    assert one("dcg@4", "trec", labels, scores) == pytest.approx(1 / log2(5), abs=1e-15)
    assert one("dcg@4", "letor3", labels, scores) == pytest.approx(1 / log2(4), abs=1e-15)
    assert one("dcg@4", "letor4", labels, scores) == pytest.approx(1 / 2, abs=1e-15)


@pytest.mark.parametrize(
    ("convention", "value"),
    [("yahoo", 1.0), ("ranklib", 0.0), ("trec", 0.0), ("letor3", 0.0), ("letor4", 0.0), ("mslr", 0.0)],
)
def test_no_relevant_document(convention: str, value: float) -> None:
    labels, scores = [0, 0, 0], [0.3, 0.2, 0.1]
    for name in ("ndcg@3", "ndcg", "map", "recall@2", "rprec"):  # each would be 0/0
        assert one(name, convention, labels, scores) == value
    for name in ("p@3", "rr", "err", "dcg@3", "success@3"):  # these are 0 without any rule
        assert one(name, convention, labels, scores) == 0.0


@pytest.mark.parametrize(
    ("convention", "ndcg", "precision"),
    [
        ("yahoo", EXPONENTIAL, 2 / 5),
        ("ranklib", EXPONENTIAL, 2 / 3),  # P@5 divides by the list's length
        ("trec", LINEAR, 2 / 5),
        ("letor3", LETOR, 2 / 5),
        ("letor4", 0.0, 2 / 5),  # NDCG@5 of three documents is 0; P@5 counts holes as irrelevant
        ("mslr", 0.0, 1 / 5),  # here only the label 2 is relevant
    ],
)
def test_fewer_than_l_documents(convention: str, ndcg: float, precision: float) -> None:
    assert one("ndcg@5", convention) == pytest.approx(ndcg, abs=1e-15)
    assert one("p@5", convention) == pytest.approx(precision, abs=1e-15)


def test_perfect_list_of_eight() -> None:
    labels = [2, 2, 1, 1, 1, 0, 0, 0]
    scores = [8.0, 7, 6, 5, 4, 3, 2, 1]
    for depth in range(1, 9):
        assert one(f"ndcg@{depth}", "letor4", labels, scores) == 1.0
    for depth in (9, 10):
        assert one(f"ndcg@{depth}", "letor4", labels, scores) == 0.0
        assert one(f"ndcg@{depth}", "mslr", labels, scores) == 0.0
        assert one(f"ndcg@{depth}", "letor3", labels, scores) == 1.0
        assert one(f"ndcg@{depth}", "yahoo", labels, scores) == 1.0


@pytest.mark.parametrize("convention", ["yahoo", "ranklib", "letor3", "letor4", "mslr"])
def test_ties_keep_the_input_order(convention: str) -> None:
    assert one("rr", convention, [0, 2, 2], [0.5, 0.5, 0.5]) == 1 / 2
    assert one("rr", convention, [2, 0, 0], [0.5, 0.5, 0.5]) == 1.0


def test_ties_by_document_id_descending() -> None:
    data = Dataset.build(np.zeros((3, 0)), [1, 0, 0], ["q"] * 3, doc_ids=["d2", "d10", "d9"])
    # as bytes: d9 > d2 > d10, so the relevant d2 is second
    assert tk.evaluate(data, [0.5, 0.5, 0.5], "rr", "trec").mean["rr"] == 1 / 2
    assert tk.evaluate(data, [0.5, 0.5, 0.5], "rr", "yahoo").mean["rr"] == 1.0


def test_trec_sees_scores_as_32_bit_numbers() -> None:
    data = Dataset.build(np.zeros((2, 0)), [0, 1], ["q"] * 2, doc_ids=["a", "b"])
    scores = [1.0 + 1e-12, 1.0]  # equal in 32 bits, so b goes first
    assert tk.evaluate(data, scores, "rr", "trec").mean["rr"] == 1.0
    assert tk.evaluate(data, scores, "rr", "yahoo").mean["rr"] == 1 / 2


def test_ties_without_document_ids() -> None:
    data = Dataset.build(np.zeros((2, 0)), [0, 1], ["q"] * 2)
    with pytest.raises(InputError, match="no document ids"):
        tk.evaluate(data, [1.0, 1.0], "rr", "trec")
    assert tk.evaluate(data, [1.0, 2.0], "rr", "trec").mean["rr"] == 1.0


def test_err_maximum() -> None:
    # labels in rank order 1, 0, 2; with y_max = 2: R = 1/4, 0, 3/4
    assert one("err", "yahoo") == pytest.approx(1 / 4 + (1 / 3) * (3 / 4) * (3 / 4), abs=1e-15)
    # over 16: R = 1/16, 0, 3/16
    over_16 = 1 / 16 + (1 / 3) * (3 / 16) * (15 / 16)
    assert one("err", "ranklib") == pytest.approx(over_16, abs=1e-15)
    assert one("err", "trec") == pytest.approx(over_16, abs=1e-15)
    assert one("err(top=4)", "yahoo") == pytest.approx(over_16, abs=1e-15)
    # over 2^max − 1 = 3: R = 1/3, 0, 1
    assert one("err_tm", "yahoo") == pytest.approx(1 / 3 + (1 / 3) * 1 * (2 / 3), abs=1e-15)
    assert one("err@2", "yahoo") == pytest.approx(1 / 4, abs=1e-15)


def test_relevance_begins_at_one_or_two() -> None:
    # relevant at ranks 1 and 3 of three: AP = (1/1 + 2/3)/2; with the label 2 alone: (1/3)/1
    assert one("map", "letor4") == pytest.approx((1 + 2 / 3) / 2, abs=1e-15)
    assert one("map", "mslr") == pytest.approx(1 / 3, abs=1e-15)
    assert one("map(rel=2)", "yahoo") == pytest.approx(1 / 3, abs=1e-15)


def test_convention_is_printed_and_may_be_wrong() -> None:
    data = Dataset.build(np.zeros((3, 0)), LABELS, ["q"] * 3)
    for name, rules in tk.CONVENTIONS.items():
        assert rules.name == name
        assert str(rules) in str(tk.evaluate(data, SCORES, "ndcg@1", name))
    with pytest.raises(InputError, match="did you mean 'yahoo'"):
        tk.evaluate(data, SCORES, "ndcg@1", "yaho")
