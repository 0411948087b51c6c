"""Judges: simulated ones by their settings, a person by a script."""

from __future__ import annotations

import pytest

from topkit.labelling import BestOf, Labelling, Person, Question, SimulatedAssessor, Verdict, label
from topkit.labelling.judges import error_by_gap


def test_error_rate_is_what_was_asked_for() -> None:
    wrong = SimulatedAssessor("ann", {"x": 2.0, "y": 1.0}, error=0.3, seed=4)
    answers = [wrong.judge("q", Question("x", "y")).answer for _ in range(4000)]
    assert answers.count("b") / 4000 == pytest.approx(0.3, abs=0.03)


def test_errors_fall_with_the_gap() -> None:
    relevance = {"x": 10.0, "y": 9.5, "z": 0.0}
    judge = SimulatedAssessor("ann", relevance, error=error_by_gap(0.4, 1.0), seed=1)
    near = [judge.judge("q", Question("x", "y")).answer for _ in range(2000)].count("b") / 2000
    far = [judge.judge("q", Question("x", "z")).answer for _ in range(2000)].count("b") / 2000
    assert near == pytest.approx(0.4 * 0.6065, abs=0.04)  # e^-0.5
    assert far < 0.01


def test_ties_grades_and_seconds() -> None:
    judge = SimulatedAssessor("ann", {"x": 3.0, "y": 2.8, "z": 1.0}, tie_band=0.25, seconds=6.0)
    assert judge.judge("q", Question("x", "y")).answer == "tie"
    assert judge.judge("q", Question("x", "z")).answer == "a"
    assert [judge.judge("q", Question(doc)).answer for doc in "xz"] == ["excellent", "fair"]
    times = [judge.judge("q", Question("x", "y")).seconds or 0.0 for _ in range(4000)]
    assert sum(times) / 4000 == pytest.approx(6.0, rel=0.05)
    assert SimulatedAssessor("b", {"x": 1.0, "y": 2.0}).judge("q", Question("x", "y")).seconds is None


def test_a_person_is_timed_and_asked_until_the_answer_is_one() -> None:
    replies = iter(["", "both", " TIE ", "good"])
    shown: list[str] = []
    ticks = iter([0.0, 7.5, 10.0, 12.0])
    person = Person("ann", str.upper, shown.append, lambda _: next(replies), lambda: next(ticks))
    assert person.judge("jaguar", Question("d1", "d2")) == Verdict("tie", 7.5)
    assert shown[:3] == ["Query: jaguar", "A: D1", "B: D2"]
    assert sum("invalid answer" in line for line in shown) == 2
    assert person.judge("jaguar", Question("d3")) == Verdict("good", 2.0)


@pytest.mark.parametrize("strategy", ["setwise-3", "setwise-5", "graded"])
def test_people_and_simulations_answer_every_kind_of_question(strategy: str) -> None:
    items = [f"d{i}" for i in range(12)]
    judge = SimulatedAssessor("ann", {item: i / 3 for i, item in enumerate(items)})
    done = label(Labelling(items, 2, strategy), judge)
    assert done.result is not None
    assert "d11" in done.result.order
    shown: list[str] = []
    person = Person("bob", show=shown.append, read=lambda _: "c")
    assert person.judge("q", BestOf.among(["x", "y", "z"])).answer == "c"
    assert shown == ["Query: q", "A: x", "B: y", "C: z"]
