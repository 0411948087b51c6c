"""Labelling as a value: replay, undo, branches, ties, bad marks, and the edges of n and k."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topkit as tk
from topkit.labelling import Answered, Labelling, Question
from topkit.labelling.strategies import PAIRWISE
from topkit.labelling.strategies.graded import GRADES

NAMES = [*PAIRWISE, "graded"]
FAST = [name for name in NAMES if name != "reliable"]


def answered(lab: Labelling, relevance: dict[str, int], bad: frozenset[str] = frozenset()) -> Labelling:
    """Answer to the end by relevance; a bad item is marked when it is seen."""
    while question := lab.question:
        a, b = question
        if b is None:
            lab = lab.answer(GRADES[min(4, relevance[a])])
        elif a in bad or b in bad:
            lab = lab.answer("bad-a" if a in bad else "bad-b")
        else:
            gap = relevance[a] - relevance[b]
            lab = lab.answer("a" if gap > 0 else "b" if gap < 0 else "tie")
    return lab


@pytest.mark.parametrize("strategy", NAMES)
def test_replay_gives_the_same_state_at_every_step(strategy: str) -> None:
    items = [f"d{i}" for i in range(9)]
    relevance = {item: (7 * i) % 5 for i, item in enumerate(items)}
    lab = Labelling(items, 3, strategy, seed=4)
    states = [lab]
    while lab.question:
        a, b = lab.question
        choice = GRADES[relevance[a]] if b is None else "a" if relevance[a] > relevance[b] else "b"
        lab = lab.answer(choice, assessor="ann", seconds=2.5)
        states.append(lab)
    assert states[0].answers == ()  # the first value is as it was
    for state in states:
        again = Labelling.from_answers(items, 3, strategy, 4, answers=state.answers)
        assert again == state
        assert again.question == state.question
        assert again.progress == state.progress
        bare = Labelling.from_answers(
            items, 3, strategy, 4, answers=[given.answer for given in state.answers]
        )
        assert bare.question == state.question
    assert lab.result is not None
    undone = lab.undo()
    assert undone == states[-2]
    assert undone.question == states[-2].question
    assert undone.answer(lab.answers[-1].answer, "ann", 2.5).result == lab.result


@pytest.mark.parametrize("strategy", FAST)
def test_two_branches_never_influence_each_other(strategy: str) -> None:
    items = list("abcdefgh")
    choice = GRADES[2] if strategy == "graded" else "a"
    other = GRADES[4] if strategy == "graded" else "b"
    start = Labelling(items, 3, strategy).answer(choice)
    one = start.answer(choice)
    two = start.answer(other)  # the running play has gone with the first branch
    expected_two = Labelling.from_answers(items, 3, strategy, answers=[choice, other])
    assert two.question == expected_two.question
    assert (
        one.answer(choice).question
        == Labelling.from_answers(items, 3, strategy, answers=[choice, choice, choice]).question
    )
    assert two.answer(other).question == expected_two.answer(other).question
    with pytest.raises(AttributeError):
        start.k = 5  # type: ignore[misc]


@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("k", [1, 2, 4, 9])
def test_edges_of_n_and_k(strategy: str, k: int) -> None:
    for n in (1, 2, 4):
        items = [f"d{i}" for i in range(n)]
        lab = answered(Labelling(items, k, strategy), {item: i for i, item in enumerate(items)})
        assert lab.result is not None
        assert lab.result.order == tuple(reversed(items))[:k]
        assert lab.progress[1:4] == (0, 0, 0.0)


@pytest.mark.parametrize("strategy", NAMES)
def test_all_bad(strategy: str) -> None:
    items = list("abcde")
    lab = answered(Labelling(items, 3, strategy), dict.fromkeys(items, 0), frozenset(items))
    assert lab.result is not None
    # comparisons leave one that nobody called bad; it comes first. Bad ones fill the rest and tie.
    assert len(lab.result.order) == 3
    assert len(set(lab.result.order)) == 3
    assert lab.result.tied[-1]
    assert len(lab.result.bad) >= 4


@pytest.mark.parametrize("strategy", NAMES)
def test_all_tie(strategy: str) -> None:
    items = list("abcde")
    lab = answered(Labelling(items, 3, strategy), dict.fromkeys(items, 2))
    assert lab.result is not None
    assert lab.result.places == (1, 1, 1)
    assert {*lab.result.order, *lab.result.tied_out} == set(items)


@pytest.mark.parametrize("strategy", NAMES)
def test_documents_that_tie_get_the_same_label(strategy: str) -> None:
    items = list("abcde")
    result = answered(Labelling(items, 3, strategy), dict.fromkeys(items, 2)).result
    assert result is not None
    assert result.labels(items).tolist() == [3.0] * 5  # all share the first place
    for seed in range(5):
        broken = result.labels(items, break_ties=True, seed=seed)
        assert sorted(broken.tolist()) == [0, 0, 1, 2, 3]
        assert broken.tolist() == result.labels(items, break_ties=True, seed=seed).tolist()
    assert len({tuple(result.labels(items, break_ties=True, seed=seed).tolist()) for seed in range(20)}) > 5


def test_bad_documents_have_the_label_0() -> None:
    relevance = {f"d{i}": i for i in range(6)}
    bad = frozenset(["d0", "d1", "d2"])
    result = answered(Labelling(list(relevance), 5), relevance, bad).result
    assert result is not None
    assert result.labels(list(relevance)).tolist() == [0, 0, 0, 3, 4, 5]
    assert result.labels(list(relevance), break_ties=True).tolist() == [0, 0, 0, 3, 4, 5]


@pytest.mark.parametrize("strategy", [name for name in FAST if name not in ("heap", "heap-once", "graded")])
def test_ties_share_a_place_and_are_kept(strategy: str) -> None:
    relevance = {"a": 5, "b": 3, "c": 3, "d": 3, "e": 1, "f": 0}
    for seed in range(20):
        result = answered(Labelling(list(relevance), 3, strategy, seed), relevance).result
        assert result is not None
        assert result.order[0] == "a"
        assert result.places == (1, 2, 2)
        assert result.tied == (False, True)
        assert {*result.order[1:], *result.tied_out} == {"b", "c", "d"}


@pytest.mark.parametrize("strategy", FAST)
def test_bad_ones_leave_and_the_rest_is_exact(strategy: str) -> None:
    relevance = {f"d{i}": min(i, 4) if strategy == "graded" else i for i in range(8)}
    bad = frozenset(["d0", "d1", "d2"])
    for seed in range(20):
        lab = Labelling(list(relevance), 7, strategy, seed)
        result = answered(lab, relevance | dict.fromkeys(bad, 0), bad).result
        assert result is not None
        if strategy != "graded":
            assert result.order[:5] == ("d7", "d6", "d5", "d4", "d3")
        assert result.bad == bad
        assert set(result.order[5:]) < bad  # fewer than k are good, so bad ones fill the last places
        assert result.places[5:] == (6, 6)


consistent = st.lists(st.integers(0, 4), min_size=1, max_size=9)


@settings(max_examples=60)
@given(consistent, st.integers(1, 9), st.sampled_from(FAST), st.integers(0, 5), st.booleans())
def test_ties_and_bounds_for_weak_orders(
    levels: list[int], k: int, strategy: str, seed: int, with_prior: bool
) -> None:
    items = [f"d{i}" for i in range(len(levels))]
    relevance = dict(zip(items, levels, strict=True))
    lab = Labelling(items, k, strategy, seed, items[::-1] if with_prior else None)
    bounds = []
    while lab.question:
        bounds.append(lab.progress)
        a, b = lab.question
        gap = relevance[a] - relevance[b or a]
        lab = lab.answer(GRADES[relevance[a]] if b is None else "a" if gap > 0 else "b" if gap else "tie")
    total = len(lab.answers)
    for progress in bounds:
        assert progress.least <= total - progress.asked <= progress.most
    result = lab.result
    assert result is not None
    got = [relevance[item] for item in result.order]
    assert got == sorted(levels, reverse=True)[:k]  # whatever ties, the levels come out in order
    if strategy not in ("heap", "heap-once"):
        for tied, one, two in zip(result.tied, got, got[1:], strict=False):
            assert tied == (one == two)


@settings(max_examples=80)
@given(st.integers(1, 8), st.integers(1, 8), st.sampled_from(FAST), st.randoms(use_true_random=False))
def test_any_answers_at_all_end_well(n: int, k: int, strategy: str, chance: Random) -> None:
    items = [f"d{i}" for i in range(n)]
    lab = Labelling(items, k, strategy)
    while lab.question:
        assert len(lab.answers) < 500
        lab = lab.answer(chance.choice(lab.question.choices))
    result = lab.result
    assert result is not None
    assert len(result.order) == min(n, k)
    assert len(set(result.order)) == len(result.order)
    assert len(result.places) == len(result.order)
    outside = set(result.order) - result.bad
    assert list(result.order[: len(outside)]) == [item for item in result.order if item in outside]


@settings(max_examples=40)
@given(st.integers(1, 7), st.integers(1, 7), st.randoms(use_true_random=False))
def test_any_answers_to_reliable_end_well(n: int, k: int, chance: Random) -> None:
    items = [f"d{i}" for i in range(n)]
    lab = Labelling(items, k, "reliable")
    most = lab.progress.most
    while lab.question:
        lab = lab.answer(chance.choice(lab.question.choices))
    assert lab.result is not None
    assert len(lab.answers) <= most
    assert len(set(lab.result.order)) == min(n, k)


def test_a_document_of_the_last_question_keeps_its_side() -> None:
    lab = Labelling([f"d{i}" for i in range(30)], 5, "insertion", seed=2)
    before: Question | None = None
    kept = 0
    while question := lab.question:
        if before and question != before:
            assert question.a != before.b
            assert question.b != before.a
            kept += question.a == before.a or question.b == before.b
        before, lab = question, lab.answer("a" if question.a > str(question.b) else "b")
    assert kept > len(lab.answers) / 3


def test_bad_input_is_named() -> None:
    with pytest.raises(tk.InputError, match="no items to label"):
        Labelling([], 3)
    with pytest.raises(tk.InputError, match="'x' is given twice"):
        Labelling(["x", "y", "x"], 3)
    with pytest.raises(tk.InputError, match="at least 1"):
        Labelling(["x"], 0)
    with pytest.raises(tk.InputError, match=r"unknown strategy 'best'.*adaptive"):
        Labelling(["x"], 1, "best")
    with pytest.raises(tk.InputError, match="'z', which is not an item"):
        Labelling(["x", "y"], 1, prior=["z"])
    with pytest.raises(tk.InputError, match="an item twice"):
        Labelling(["x", "y"], 1, prior=["x", "x"])
    lab = Labelling(["x", "y"], 1)
    with pytest.raises(tk.InputError, match="invalid answer 'perfect'"):
        lab.answer("perfect")
    done = lab.answer("a")
    with pytest.raises(tk.InputError, match="complete"):
        done.answer("a")
    wrong = [Answered("y", "z", "a")]
    with pytest.raises(tk.InputError, match="answer 1 is to"):
        Labelling.from_answers(["x", "y"], 1, answers=wrong)


def test_a_partial_prior_puts_the_rest_last() -> None:
    items = list("abcdef")
    lab = Labelling(items, 2, "insertion", prior=["e", "c"])
    assert lab.question is not None
    assert set(lab.question) == {"e", "c"}
    lab = lab.answer("a")
    assert lab.question is not None
    assert "a" in lab.question


def test_records_keep_assessor_and_seconds() -> None:
    lab = Labelling(["x", "y"], 1).answer("tie", "ann", 3.5)
    (preference,) = lab.judgments("q7").preferences
    assert (preference.query, preference.answer, preference.assessor, preference.seconds) == (
        "q7",
        "tie",
        "ann",
        3.5,
    )
    graded = Labelling(["x"], 1, "graded").answer("perfect", "bob")
    (grade,) = graded.judgments("q").grades
    assert (grade.doc, grade.grade, grade.assessor) == ("x", 4, "bob")
    assert graded.result is not None
    assert graded.result.grades == {"x": "perfect"}


def test_undo_without_answers_changes_nothing() -> None:
    lab = Labelling(["x", "y"], 1)
    assert lab.undo() == lab
    assert repr(lab).startswith("Labelling(2 items, k=1, adaptive, 0 answers")


@pytest.mark.parametrize("k", [1.5, 2.0, "2", True, None, 0])
def test_k_must_be_a_positive_integer(k: object) -> None:
    with pytest.raises(tk.InputError, match="k must be an integer of at least 1"):
        Labelling(["a", "b", "c"], k=k)  # type: ignore[arg-type]
