"""Best of c in the labelling kernel: the true top k, bounds, ties, preferences, and questions foreseen."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from topkit.data import InputError
from topkit.labelling import BestOf, Labelling, Question, SimulatedAssessor, label
from topkit.labelling.foresee import foreseeable

SETWISE = ["setwise-3", "setwise-5", "setwise-10"]


def best(question: Question, rank: dict[str, int]) -> str:
    """The answer of an assessor who never errs."""
    ranks = [rank[document] for document in question.documents]
    return "abcdefghij"[ranks.index(min(ranks))]


@pytest.mark.parametrize("strategy", SETWISE)
def test_every_small_order_gives_the_true_top_k_within_the_bounds(strategy: str) -> None:
    for n in range(1, 6):
        items = [f"d{i}" for i in range(n)]
        for order in permutations(range(n)):
            rank = dict(zip(items, order, strict=True))
            for k in range(1, n + 1):
                lab = Labelling(items, k, strategy, seed=1)
                bounds = []
                while lab.question:
                    bounds.append(lab.progress)
                    lab = lab.answer(best(lab.question, rank))
                assert lab.result is not None
                assert lab.result.order == tuple(sorted(items, key=rank.__getitem__)[:k])
                total = len(lab.answers)
                for number, progress in enumerate(bounds):
                    assert progress.least <= total - number <= progress.most, (n, k, order, number)


@pytest.mark.parametrize(("strategy", "size"), [("setwise-3", 3), ("setwise-5", 5), ("setwise-10", 10)])
def test_questions_are_fewer_than_pairs(strategy: str, size: int) -> None:
    items = [f"d{i}" for i in range(100)]
    rank = dict(zip(items, Random(3).sample(range(100), 100), strict=True))
    lab = Labelling(items, 1, strategy)
    while lab.question:
        assert len(lab.question.documents) <= size
        lab = lab.answer(best(lab.question, rank))
    assert len(lab.answers) == -(-99 // (size - 1))  # ⌈(n − 1)/(c − 1)⌉: a question removes c − 1 candidates
    assert len(lab.judgments("q").preferences) == 99


def test_answers_are_replayed_and_give_preferences() -> None:
    items = [f"d{i}" for i in range(7)]
    judge = SimulatedAssessor.of_order("ann", items, seconds=6.0)
    done = label(Labelling(items, 2, "setwise-3", seed=2), judge)
    assert Labelling.from_answers(items, 2, "setwise-3", 2, answers=done.answers) == done
    first = done.answers[0]
    assert isinstance(first.question, BestOf)
    preferences = done.judgments("q").preferences[:2]
    winner = first.question.documents["abc".index(first.answer)]
    assert {p.winner for p in preferences} == {winner}
    assert sum(p.seconds for p in preferences) == pytest.approx(first.seconds)
    wrong = [first._replace(rest=("d9",))]
    with pytest.raises(InputError, match="answer 1 is to BestOf"):
        Labelling.from_answers(items, 2, "setwise-3", 2, answers=wrong)


def test_a_tie_puts_all_documents_on_one_place() -> None:
    lab = Labelling(["x", "y", "z"], 2, "setwise-3")
    assert isinstance(lab.question, BestOf)
    done = lab.answer("tie")
    assert done.result is not None
    assert done.result.places == (1, 1)
    assert len(done.result.tied_out) == 1
    with pytest.raises(InputError, match="invalid answer 'bad-a'; choose from a, b, c, tie"):
        lab.answer("bad-a")


def test_the_last_two_may_be_bad() -> None:
    lab = Labelling(["x", "y"], 1, "setwise-3")
    assert lab.question is not None
    done = lab.answer("bad-a")
    assert done.result is not None
    assert done.result.order == (lab.question.b,)


def test_questions_of_different_size_differ() -> None:
    assert BestOf.among(["x", "y", "z"]) != Question("x", "y")
    assert Question("x", "y") != BestOf.among(["x", "y", "z"])
    assert len({BestOf.among(["x", "y", "z"]), BestOf.among(["x", "y", "w"])}) == 2


def test_foreseen_questions_are_asked_whatever_is_answered() -> None:
    items = [f"d{i}" for i in range(16)]
    for strategy in ("knockout", "graded", "setwise-3", "adaptive"):
        lab = Labelling(items, 2, strategy, seed=5)
        before = lab.question
        coming = foreseeable(lab, 6)
        assert lab.question == before == coming[0]
        for seed in range(8):
            chance = Random(100 + seed)
            asked: set[frozenset[str]] = set()
            one = Labelling(items, 2, strategy, seed=5)
            while one.question:
                asked.add(frozenset(one.question.documents))
                choices = one.question.choices
                documents = len(one.question.documents)
                one = one.answer(chance.choice(choices if documents == 1 else choices[:documents]))
            assert {frozenset(question.documents) for question in coming} <= asked, strategy
    assert len(foreseeable(Labelling(items, 1, "knockout"), 8)) == 8
    assert foreseeable(Labelling(["x"], 1), 8) == []
