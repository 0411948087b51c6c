"""Ballots: pooling of documents, order within lists, cuts, and the way back to a run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkit.data import InputError, Run
from topkit.fusion import Ballots

names = st.text("abé", max_size=3)
results = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(names, st.integers(-3, 3).map(float), max_size=12).map(lambda d: list(d.items())),
)


def plain_lists(run: Run, qid: str) -> list[str]:
    """Documents by falling score, ties as given."""
    return [doc for doc, _ in sorted(run[qid], key=lambda pair: -pair[1])] if qid in run else []


@given(st.lists(results, min_size=1, max_size=5))
def test_lists_and_pools_agree_with_dictionaries(
    given_results: list[dict[str, list[tuple[str, float]]]],
) -> None:
    runs = [Run.of(one, f"r{i}") for i, one in enumerate(given_results)]
    ballots = Ballots.of(runs)
    assert ballots.qids == tuple(dict.fromkeys(qid for run in runs for qid in run))
    for q, qid in enumerate(ballots.qids):
        pool = ballots.docs[int(ballots.doc_ptr[q]) : int(ballots.doc_ptr[q + 1])].tolist()
        expected = [plain_lists(run, qid) for run in runs]
        assert [[pool[i] for i in items] for items in ballots.lists(q)] == expected
        assert pool == list(dict.fromkeys(doc for one in expected for doc in one))
        table = ballots.ranks(q)
        for i, one in enumerate(expected):
            assert [int(table[i, pool.index(doc)]) for doc in one] == list(range(1, len(one) + 1))
            assert int((table[i] > 0).sum()) == len(one)


@given(st.lists(results, min_size=1, max_size=4), st.integers(1, 4))
def test_cut_keeps_the_head_of_every_list(
    given_results: list[dict[str, list[tuple[str, float]]]], depth: int
) -> None:
    runs = [Run.of(one, f"r{i}") for i, one in enumerate(given_results)]
    whole, cut = Ballots.of(runs), Ballots.of(runs).cut(depth)
    assert cut.qids == whole.qids
    for q in range(len(cut)):
        pool = cut.docs[int(cut.doc_ptr[q]) : int(cut.doc_ptr[q + 1])].tolist()
        heads = [plain_lists(run, cut.qids[q])[:depth] for run in runs]
        assert [[pool[i] for i in items] for items in cut.lists(q)] == heads
        assert set(pool) == {doc for head in heads for doc in head}


def test_scores_out_of_order_are_sorted_and_ties_keep_their_order() -> None:
    run = Run.of({"a": [("x", 1.0), ("y", 3.0), ("z", 1.0)], "b": [("w", 5.0)]})
    ballots = Ballots.of([run])
    assert [ballots.docs[int(i)] for i in ballots.lists(0)[0]] == ["y", "x", "z"]
    assert ballots.scores.tolist() == [3.0, 1.0, 1.0, 5.0]


def test_a_rise_between_queries_is_not_disorder() -> None:
    run = Run.of({"a": [("x", 2.0), ("y", 1.0)], "b": [("z", 9.0), ("w", 8.0)]})
    assert Ballots.of([run]).items.tolist() == [0, 1, 0, 1]


def test_back_to_a_run_ties_go_by_document_id() -> None:
    a = Run.of({"q": [("c", 3.0), ("b", 2.0), ("aa", 1.0), ("a", 0.5)]})
    ballots = Ballots.of([a])
    run = ballots.to_run(np.array([1.0, 7.0, 1.0, 1.0]), "tied")
    assert [doc for doc, _ in run["q"]] == ["b", "a", "aa", "c"]
    assert [doc for doc, _ in ballots.to_run(np.zeros(4), "all", keep=2)["q"]] == ["a", "aa"]
    assert run.name == "tied"


@given(st.lists(names, unique=True, min_size=1, max_size=40), st.integers(1, 3))
def test_ties_of_any_number_are_sorted_by_bytes(docs: list[str], levels: int) -> None:
    ballots = Ballots.of([Run.of({"q": [(doc, 0.0) for doc in docs]})])
    scores = np.arange(len(docs), dtype=float) % levels
    run = ballots.to_run(scores, "x")
    expected = sorted(range(len(docs)), key=lambda i: (-scores[i], docs[i].encode()))
    assert [doc for doc, _ in run["q"]] == [docs[i] for i in expected]


def test_rankers_of_one_name_are_told_apart() -> None:
    one = Run.of({"q": [("x", 1.0)]}, "bm25")
    assert Ballots.of([one, one, one]).rankers == ("bm25", "bm25-2", "bm25-3")


def test_no_run_is_an_error() -> None:
    with pytest.raises(InputError, match="at least one run"):
        Ballots.of([])


def test_a_query_without_documents_stays_empty() -> None:
    ballots = Ballots.of([Run.of({"q": [], "p": [("x", 1.0)]})])
    assert ballots.pool_sizes.tolist() == [0, 1]
    assert ballots.cut(3).pool_sizes.tolist() == [0, 1]
    assert ballots.to_run(np.array([1.0]), "x")["q"] == []
