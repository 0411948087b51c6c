"""The labelling loop as a value: questions, undo, replay, files, budget, and what each event says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topkit as tk
from tests.support.loop import linear_data
from topkit.labelling import Judge, Question, Verdict
from topkit.loop import (
    Decision,
    Extended,
    Fitted,
    LabellingLoop,
    LoopSettings,
    Stopped,
    journal,
    load_loop,
    save_loop,
)


class Exact:
    """A judge who always prefers the larger relevance, in two seconds."""

    def __init__(self, relevance: np.ndarray, name: str = "ann") -> None:
        self.relevance, self.name = relevance, name

    def judge(self, query: str, question: Question) -> Verdict:
        a, b = (self.relevance[int(str(item)[1:])] for item in (question.a, question.b))
        return Verdict("a" if a > b else "b", 2.0)


def small_loop(budget: float = 6.0, **chosen: object) -> LabellingLoop:
    data, relevance = linear_data()
    return LabellingLoop(
        data,
        Exact(relevance),
        budget=budget,
        settings=LoopSettings(seconds=2.0, batch=3, **chosen),  # type: ignore[arg-type]
    )


def test_it_learns_and_stays_within_the_budget() -> None:
    loop = small_loop().run()
    assert loop.stopped is not None
    assert loop.stopped.startswith("the budget of 6 minutes does not pay for the next query")
    assert 5.0 < loop.minutes <= 6.0
    assert len(loop.answers) * 2 / 60 == pytest.approx(loop.minutes)
    fresh, truth = linear_data(seed=1)
    order = np.argsort(-loop.fitted.score(fresh)[:12])
    assert truth[order[0]] > np.quantile(truth[:12], 0.8)
    assert loop.question is None
    with pytest.raises(tk.InputError, match="the loop has stopped"):
        loop.answer("a")
    with pytest.raises(tk.InputError, match="the loop has stopped"):
        loop.step()


def test_every_decision_says_why() -> None:
    loop = small_loop(choose="uncertainty").run()
    assert len(loop.decisions) > 10
    for decision in loop.decisions:
        assert decision.why_query
        assert decision.why_depth
        assert decision.why_start
        assert (decision.prior is None) == decision.why_start.startswith("without a prior")
    later = [d for d in loop.decisions if d.purpose == "train"][3:]
    assert all(d.why_query.startswith("uncertainty: rank ") for d in later)
    assert all(d.prior is not None and set(d.prior) == set(d.items) for d in later)


def test_labels_of_the_data_are_not_used() -> None:
    data, relevance = linear_data()
    other = data.with_labels(np.arange(len(data)) % 3, data.truth)
    settings = LoopSettings(seconds=2.0)
    first = LabellingLoop(data, Exact(relevance), budget=4, settings=settings).run()
    second = LabellingLoop(other, Exact(relevance), budget=4, settings=settings).run()
    assert first.events == second.events


@pytest.mark.parametrize("choose", ["random", "uncertainty", "change", "coverage", "promise"])
def test_replay_makes_the_same_decisions(choose: str) -> None:
    loop = small_loop(choose=choose, least_gain=1e-6).run()
    assert loop.replayed() == loop
    fresh = LabellingLoop(loop.queries, loop.judges, loop.ranker, loop.budget, loop.settings, loop.seed)
    assert fresh.resumed(loop.events) == loop


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "tie", "bad-a", "bad-b"]), max_size=40), st.integers(0, 3))
def test_undo_is_the_loop_before_the_answer(answers: list[str], seed: int) -> None:
    data, _ = linear_data(4, 5)
    loops = [LabellingLoop(data, budget=9, settings=LoopSettings(batch=2), seed=seed)]
    for answer in answers:
        if loops[-1].question is None:
            break
        loops.append(loops[-1].answer(answer, "ann", 3.0))
    for before, after in pairwise(loops):
        assert after.undo() == before
        assert after.undo().question == before.question
    assert loops[0].undo() == loops[0]
    assert loops[-1].replayed() == loops[-1]


def test_an_answer_does_not_change_the_value_that_was_answered() -> None:
    loop = small_loop()
    before = loop.events
    first, second = loop.answer("a"), loop.answer("b")
    assert loop.events == before
    assert first != second
    assert first.answers[0].answer == "a"


def test_more_time_continues_a_loop_that_stopped() -> None:
    loop = small_loop(2.0).run()
    longer = loop.extended(2.0).run()
    assert isinstance(loop.events[-1], Stopped)
    assert Extended(2.0) in longer.events
    assert longer.events[: len(loop.events)] == loop.events
    assert 3.0 < longer.minutes <= 4.0
    assert longer.replayed() == longer


def test_judges_answer_in_turn() -> None:
    data, relevance = linear_data()
    judges: list[Judge] = [Exact(relevance, "ann"), Exact(relevance, "bob")]
    loop = LabellingLoop(data, judges, budget=2, settings=LoopSettings(seconds=2.0)).run()
    assert [answer.assessor for answer in loop.answers[:4]] == ["ann", "bob", "ann", "bob"]
    judged = loop.judgments()
    assert len(judged.preferences) == len(loop.answers)
    assert judged.preferences[0].seconds == 2.0


def test_after_all_queries_a_second_round_begins() -> None:
    data, relevance = linear_data(4, 12)
    settings = LoopSettings(seconds=2.0, k=1, candidates=4, check_share=0.0)
    loop = LabellingLoop(data, Exact(relevance), budget=1.5, settings=settings).run()
    times = [decision.query for decision in loop.decisions]
    assert len(times) > 8
    assert sorted(times[:4]) == sorted(times[4:8]) == ["q0", "q1", "q2", "q3"]
    assert "labelled 1 times before" in loop.decisions[4].why_query
    by_query = [set(d.items) for d in loop.decisions if d.query == "q0"]
    assert by_query[0] != by_query[1]  # other candidates in the second round


# -- files --------------------------------------------------------------------------------------------------
def test_a_saved_loop_is_the_same_loop(tmp_path: Path) -> None:
    loop = small_loop(3.0, least_gain=0.001).run().extended(1.0)
    save_loop(loop, tmp_path / "loop.jsonl")
    again = load_loop(tmp_path / "loop.jsonl", loop.queries, loop.judges)
    assert again == loop
    assert again.run() == loop.run()


def test_a_journal_that_was_cut_at_any_byte_continues(tmp_path: Path) -> None:
    """A run that is killed while it writes loses at most the last answer, and ends as if never killed."""
    whole = small_loop(1.5)
    path = tmp_path / "journal.jsonl"
    with journal(whole, path) as append:
        finished = whole.run(on_events=append)
    assert load_loop(path, whole.queries) == finished
    content = path.read_bytes()
    start = content.index(b"\n") + 1
    for end in np.random.default_rng(0).integers(start, len(content), 12).tolist():
        path.write_bytes(content[:end])
        again = load_loop(path, whole.queries, whole.judges)
        kept = content[:end].count(b'"event": "answer"')
        assert len(again.answers) >= kept - 1
        assert again.run().events == finished.events


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [], "not a labelling loop|empty"),
        (lambda lines: lines[1:], "not a labelling loop"),
        (lambda lines: [lines[0], '{"event": "party"}'], r":2: this is not an event"),
        (lambda lines: [lines[0], "{"], r":2: invalid JSON"),
        (lambda lines: ['{"event": "loop", "queries": "x"}'], "other queries"),
        (lambda lines: [lines[0].replace('"seed"', '"sed"')], "the first line is incomplete"),
        (lambda lines: [lines[0], *lines[2:]], "was not asked"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, change: object, message: str) -> None:
    loop = small_loop(1.0).run()
    path = tmp_path / "loop.jsonl"
    save_loop(loop, path)
    lines = path.read_text().splitlines()
    path.write_text("".join(line + "\n" for line in change(lines)))  # type: ignore[operator]
    with pytest.raises(tk.InputError, match=message):
        load_loop(path, loop.queries)


def test_other_data_is_rejected(tmp_path: Path) -> None:
    loop = small_loop()
    save_loop(loop, tmp_path / "loop.jsonl")
    with pytest.raises(tk.InputError, match="other queries, documents or features"):
        load_loop(tmp_path / "loop.jsonl", linear_data(seed=3)[0])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"budget": 0}, "the budget must be a positive number"),
        ({"budget": float("nan")}, "the budget must be a positive number"),
        ({"ranker": "rankvsm"}, "unknown ranker 'rankvsm'"),
        ({"queries": [1, 2]}, "the queries must be a Dataset"),
    ],
)
def test_wrong_arguments(wrong: dict[str, object], message: str) -> None:
    arguments = {"queries": linear_data()[0], **wrong}
    with pytest.raises(tk.InputError, match=message):
        LabellingLoop(**arguments)  # type: ignore[arg-type]


def test_without_judges_there_is_no_step() -> None:
    with pytest.raises(tk.InputError, match="the loop has no judges"):
        LabellingLoop(linear_data()[0]).step()


def test_lists_of_one_document_are_skipped() -> None:
    data = tk.Dataset.build([[1.0], [2.0]], [0, 0], ["p", "q"])
    loop = LabellingLoop(data)
    assert loop.question is None
    assert loop.stopped == "no query has two documents to compare"
    with pytest.raises(tk.InputError, match="no labelling has finished"):
        _ = loop.fitted


def test_a_listwise_ranker_learns_from_labels() -> None:
    data, relevance = linear_data()
    loop = LabellingLoop(
        data, Exact(relevance), ranker="listnet", budget=4, settings=LoopSettings(seconds=2.0)
    ).run()
    assert loop.fitted.name == "listnet"
    assert loop.fitted.score(data)[relevance.argmax()] > np.median(loop.fitted.score(data))


def test_events_alternate_as_documented() -> None:
    loop = small_loop().run()
    kinds = [type(event) for event in loop.events]
    assert kinds[0] is Decision
    assert kinds[-1] is Stopped
    assert Fitted in kinds
    fits = [event for event in loop.events if isinstance(event, Fitted)]
    assert [fit.minutes for fit in fits] == sorted(fit.minutes for fit in fits)
    assert fits[-1].queries <= 20
