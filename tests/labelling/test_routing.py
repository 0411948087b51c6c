"""People and models together: routing, the cost statement, and a consensus that learns error rates."""

from __future__ import annotations

import numpy as np
import pytest

from topkit.data import InputError
from topkit.data.judgments import Preference
from topkit.labelling import Labelling, Question, SimulatedAssessor, label
from topkit.labelling.abilities import dawid_skene, judge_consensus
from topkit.labelling.judges import BiasedJudge, RecordedJudge, RoutedJudge, Verdict
from topkit.labelling.judges.routing import Check, cost_of, is_checked, sure_enough, wilson

RELEVANCE = {("q", f"d{i}"): float(i) for i in range(40)}
PERSON = {document: value for (_, document), value in RELEVANCE.items()}


class Sure:
    """A model that answers "a" with a confidence given by the documents."""

    name = "model"

    def judge(self, query: str, question: Question) -> Verdict:
        return Verdict("a", None, 0.95 if question.a == "sure" else 0.6)


def test_the_model_answers_what_it_is_sure_of() -> None:
    person = SimulatedAssessor("ann", {"sure": 0.0, "x": 1.0, "unsure": 0.0})
    both = RoutedJudge(Sure(), person, sure=0.9, check=0.0)
    assert both.judge("q", Question("sure", "x")) == Verdict("a", None, 0.95, "model")
    assert both.judge("q", Question("unsure", "x")) == Verdict("b", None, None, "ann")
    assert str(both.cost()).startswith("the model answered 1 of 2 questions (50%); no answer")
    checked = RoutedJudge(Sure(), person, sure=0.9, check=1.0)
    assert checked.judge("q", Question("sure", "x")).answer == "b"  # the person's answer counts
    cost = checked.cost()
    assert (cost.checked, cost.different, cost.by_model) == (1, 1, 0)
    assert "people disagreed in 1 of 1 checks (100.0%" in str(cost)


def test_the_random_share_is_checked() -> None:
    questions = [Question(f"d{i}", f"e{i}") for i in range(4000)]
    share = sum(is_checked("q", question, 0.1) for question in questions) / 4000
    assert share == pytest.approx(0.1, abs=0.02)
    assert is_checked("q", Question("x", "y"), 0.5, 3) == is_checked("q", Question("y", "x"), 0.5, 3)


def test_the_interval_of_the_cost_covers_the_truth() -> None:
    inside = 0
    for seed in range(40):
        model = BiasedJudge.of_relevance("m", RELEVANCE, flips=0.15, seed=seed)
        both = RoutedJudge(model, SimulatedAssessor("ann", PERSON), sure=0.5, check=0.5, seed=seed)
        for i in range(39):
            for j in range(i):
                both.judge("q", Question(f"d{i}", f"d{j}"))
        cost = both.cost()
        inside += cost.low <= 0.15 <= cost.high
        assert cost.saved == pytest.approx(0.5, abs=0.1)
    assert inside >= 35


def test_assessors_are_named_in_the_judgments() -> None:
    model = BiasedJudge.of_relevance("m", RELEVANCE, flips=0.05)
    person = SimulatedAssessor("ann", PERSON)
    done = label(Labelling(sorted(PERSON), 5), RoutedJudge(model, person, sure=0.9, check=0.2), "q")
    assert {p.assessor for p in done.judgments("q").preferences} == {"m", "ann"}


def test_people_may_answer_later() -> None:
    later = RecordedJudge("people", [Preference("q", "unsure", "x", "b", "ann")])
    both = RoutedJudge(Sure(), later, sure=0.9, check=0.0)
    assert both.judge("q", Question("x", "unsure")) == Verdict("a", None, None, "ann")
    assert both.judge("q", Question("other", "x")).assessor == "model"
    assert both.waiting == [("q", Question("other", "x"))]


def test_a_threshold_from_checks() -> None:
    checks = [Check("q", Question("x", "y"), "a", "a", 0.95)] * 200
    checks += [Check("q", Question("x", "y"), "a", "b" if i % 2 else "a", 0.7) for i in range(200)]
    assert sure_enough(checks, 0.05) == 0.95  # 0 of 200: the interval ends at 1.9 %
    assert sure_enough(checks, 0.4) == 0.7  # 100 of 400: it ends at 29.5 %
    assert sure_enough(checks, 0.001) == float("inf")
    assert Check("q", Question("x", "y"), "bad-b", "a", 1.0).same


def test_wilson_and_cost_by_hand() -> None:
    # (p + z²/2n ± z√(p(1−p)/n + z²/4n²))/(1 + z²/n) with p = 0.1, n = 20: 0.0279, 0.3010
    assert wilson(2, 20) == pytest.approx((0.0279, 0.3010), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)
    assert cost_of([], 0, 0).saved == 0.0
    with pytest.raises(InputError, match="check must be from 0 to 1"):
        RoutedJudge(Sure(), Sure(), check=2)


# -- consensus ---------------------------------------------------------------------------------------------
def test_dawid_skene_is_that_of_crowd_kit() -> None:
    # crowd-kit 1.4.2: DawidSkene(n_iter=20000, tol=1e-13); 30 items, 5 judges, "-" is no answer
    codes = (
        "011000-11010-110-010-0000000-01101-0001-0--1--0--1--100111-01010110100101-01110-011-10-1-1--0-0111"
        "-100-011110111100101010000-00-00-01-110110110-0---0-"
    )
    first = [0.11217, 0.49333, 0, 1, 1, 1, 1, 1, 0.78194, 0, 0.07244, 0.04244, 0, 0.03758, 0.06995, 0.00963]
    first += [0, 0, 1, 0, 0, 0, 0.0225, 0, 1, 0.65131, 0, 0.17716, 1, 0.22337]
    rows = [(i // 5, i % 5, int(code)) for i, code in enumerate(codes) if code != "-"]
    items, judges, answers = np.array(rows).T
    found = dawid_skene(items, judges, answers, classes=2)
    assert found.posterior[:, 0] == pytest.approx(first, abs=2e-3)
    assert found.confusion.sum(2) == pytest.approx(np.ones((5, 2)))


RIGHT = {"ann": 0.95, "bob": 0.9, "m1": 0.6, "m2": 0.6}


def test_the_consensus_learns_who_is_right() -> None:
    rng = np.random.default_rng(1)
    said: list[Preference] = []
    for i in range(400):
        a, b = (f"x{i}", f"y{i}") if i % 2 else (f"y{i}", f"x{i}")  # x is better, on either side
        for name, right in RIGHT.items():
            better = rng.random() < right
            said.append(Preference("q", a, b, "a" if better == (a[0] == "x") else "b", name))
    found = judge_consensus(said)
    found_right = np.mean([p.winner is not None and p.winner[0] == "x" for p in found.preferences])
    majority = np.mean([sum(p.winner == f"x{i}" for p in said[4 * i : 4 * i + 4]) > 2 for i in range(400)])
    assert found_right > majority + 0.05
    for name, share in RIGHT.items():
        assert found.abilities[name].right == pytest.approx(share, abs=0.07)
    assert found.abilities["ann"].answers == 400
    assert len(found.confidence) == 400
    assert found.table()[0][0] == "judge"


def test_the_consensus_does_not_depend_on_sides() -> None:
    said = [
        Preference("q", "x", "y", "a", "ann"),
        Preference("q", "x", "y", "tie", "bob"),
        Preference("q", "y", "z", "bad-b", "ann"),
        Preference("q", "z", "x", "b", "bob"),
    ]
    swapped = {"a": "b", "b": "a", "tie": "tie", "bad-b": "bad-a"}
    turned = [Preference(p.query, p.b, p.a, swapped[p.answer], p.assessor) for p in said]  # type: ignore[arg-type]
    one, other = judge_consensus(said), judge_consensus(turned)
    assert [p.winner for p in one.preferences] == [p.winner for p in other.preferences]
    assert one.confidence == pytest.approx(other.confidence)
    with pytest.raises(InputError, match="no preferences"):
        judge_consensus([])
