"""Answers through the API: a judgment counts once and for its own pair, or the reply says why not."""

from __future__ import annotations

import pytest

from tests.support.web_world import Actor, TestClient, World, entry, label_all, tasks
from topkit.labelling import Question, SimulatedAssessor
from topkit.web.app import create_app
from topkit.web.settings import Settings

ORDER = ["d5", "d2", "d8", "d1", "d7", "d3", "d6", "d4"]


def test_the_top_k_is_what_the_assessor_believes(any_world: World) -> None:
    ann, bob = any_world.person("ann"), any_world.person("bob")
    number = any_world.project(ann, bob)
    mine = tasks(ann)
    assert len(mine) == 3
    last = label_all(ann, mine[0], SimulatedAssessor.of_order("ann", ORDER))
    assert [one["key"] for one in last["result"]] == ORDER[:3]
    label_all(bob, tasks(bob)[0], SimulatedAssessor.of_order("bob", ORDER))
    topic = any_world.admin.get(f"/api/projects/{number}/topics").json()[0]["id"]
    top = any_world.admin.get(f"/api/projects/{number}/topics/{topic}/top").json()
    assert [one["key"] for one in top["top"]] == ORDER[:3]
    assert top["complete"] == 2
    agreement = any_world.admin.get(f"/api/projects/{number}/agreement").json()
    assert agreement["implied"]["compared"] > 5
    assert agreement["implied"]["overall"] == 1.0
    progress = any_world.admin.get(f"/api/projects/{number}/progress").json()
    assert sorted(row["done"] for row in progress) == [False] * 4 + [True] * 2


def test_disagreements_are_shown_with_who_said_what(any_world: World) -> None:
    ann, bob = any_world.person("ann"), any_world.person("bob")
    number = any_world.project(ann, bob)
    label_all(ann, tasks(ann)[0], SimulatedAssessor.of_order("ann", ORDER))
    label_all(bob, tasks(bob)[0], SimulatedAssessor.of_order("bob", ["d2", "d5", *ORDER[2:]]))
    (found,) = any_world.admin.get(f"/api/projects/{number}/disagreements").json()
    assert {one["key"] for one in found["documents"]} == {"d2", "d5"}
    assert {view["assessor"]: view["prefers"] for view in found["views"]} == {"ann": "d5", "bob": "d2"}
    page = any_world.admin.get(f"/projects/{number}/adjudication").text
    assert "Paper 2" in page
    assert "Paper 5" in page


def test_grades_by_the_second_tool(any_world: World) -> None:
    ann = any_world.person("ann")
    any_world.project(ann, tools="grades")
    hidden = {"d1": 0.0, "d2": 4.0, "d3": 1.0, "d4": 3.0, "d5": 2.0, "d6": 0.0, "d7": 0.0, "d8": 0.0}
    last = label_all(ann, tasks(ann)[0], SimulatedAssessor("ann", hidden))
    assert [one["key"] for one in last["result"]] == ["d2", "d4", "d5"]
    assert last["asked"] == 8


def test_the_same_key_counts_once(any_world: World) -> None:
    ann = any_world.person("ann")
    any_world.project(ann)
    labelling = tasks(ann)[0]
    path = f"/api/labellings/{labelling}/answers"
    body = entry(ann.get(f"/api/labellings/{labelling}").json(), "a", key="one")
    first, again = ann.post(path, body), ann.post(path, body)
    assert [first.json()["outcome"], again.json()["outcome"]] == ["saved", "already"]
    assert again.json()["turn"] == first.json()["turn"]
    other = ann.post(path, {**body, "answer": "b"})
    assert other.status_code == 409
    assert other.json()["turn"]["seq"] == 1


def test_a_late_answer_from_a_second_tab_is_rejected(any_world: World) -> None:
    ann = any_world.person("ann")
    any_world.project(ann)
    labelling = tasks(ann)[0]
    path = f"/api/labellings/{labelling}/answers"
    old = ann.get(f"/api/labellings/{labelling}").json()
    assert ann.post(path, entry(old, "a")).json()["outcome"] == "saved"
    late = ann.post(path, entry(old, "b"))
    assert late.status_code == 409
    assert "another tab" in late.json()["message"]
    assert late.json()["turn"]["asked"] == 1
    # with the right sequence number but the old pair, it is not saved for the wrong pair either
    wrong = ann.post(path, {**entry(old, "b"), "seq": 2})
    now = late.json()["turn"]["question"]
    if (now["a"]["key"], now["b"]["key"]) != (old["question"]["a"]["key"], old["question"]["b"]["key"]):
        assert wrong.status_code == 409


def test_undo_goes_back_and_keeps_the_record(any_world: World) -> None:
    ann = any_world.person("ann")
    number = any_world.project(ann)
    labelling = tasks(ann)[0]
    path = f"/api/labellings/{labelling}"
    start = ann.get(path).json()
    assert ann.post(f"{path}/undo", {"seq": 1, "key": "nothing"}).status_code == 409
    ann.post(f"{path}/answers", entry(start, "a", seconds=7.0))
    back = ann.post(f"{path}/undo", {"seq": 2, "key": "undo"}).json()
    assert back["turn"]["question"] == start["question"]
    assert (back["turn"]["asked"], back["turn"]["seq"], back["turn"]["seconds"]) == (0, 2, None)
    again = ann.post(f"{path}/undo", {"seq": 2, "key": "undo"}).json()
    assert again["outcome"] == "already"
    ann.post(f"{path}/answers", entry(back["turn"], "b"))
    lines = any_world.admin.get(f"/api/projects/{number}/exports/jsonl").text.splitlines()
    assert len(lines) == 3
    csv = any_world.admin.get(f"/api/projects/{number}/exports/preferences-csv").text.splitlines()
    assert len(csv) == 2
    assert ",b,ann,1.5" in csv[1]


def test_two_servers_on_one_store(database: str) -> None:
    """The memory of one process may be behind the other; the database decides."""
    with World(Settings(database)) as here:
        ann = here.person("ann")
        here.project(ann)
        path = f"/api/labellings/{tasks(ann)[0]}"
        with TestClient(create_app(Settings(database))) as client:
            there = Actor(client, ann.number, ann.csrf, ann.cookie)
            turn = here_turn = ann.get(path).json()
            for number in range(6):  # both have the state in memory and answer alternately
                actor = there if number % 2 else ann
                turn = actor.post(f"{path}/answers", entry(actor.get(path).json(), "a")).json()["turn"]
                assert turn["seq"] == number + 1
            late = ann.post(f"{path}/answers", entry(here_turn, "b"))  # does not know the sixth answer
            assert (late.status_code, late.json()["turn"]["seq"]) == (409, 6)
            body = entry(turn, "a", key="same")
            assert there.post(f"{path}/answers", body).json()["outcome"] == "saved"
            assert ann.post(f"{path}/answers", body).json()["outcome"] == "already"


@pytest.mark.parametrize("answer", ["good", "bad"])
def test_an_answer_that_the_question_does_not_take(world: World, answer: str) -> None:
    ann = world.person("ann")
    world.project(ann)
    path = f"/api/labellings/{tasks(ann)[0]}"
    reply = ann.post(f"{path}/answers", entry(ann.get(path).json(), answer))
    assert reply.status_code == 422
    assert "bad-a" in reply.json()["detail"]
    assert ann.get(path).json()["seq"] == 0


def test_left_and_right_are_random_and_recorded(world: World) -> None:
    """In about half of the first questions, the document with the smaller number is on the left."""
    people = [world.person(f"p{i}") for i in range(40)]
    number = world.project(*people)
    lefts = 0
    for one in people:
        path = f"/api/labellings/{tasks(one)[0]}"
        turn = one.get(path).json()
        one.post(f"{path}/answers", entry(turn, "a"))
        lefts += turn["question"]["a"]["key"] < turn["question"]["b"]["key"]
    assert 10 <= lefts <= 30
    csv = world.admin.get(f"/api/projects/{number}/exports/preferences-csv").text.splitlines()[1:]
    assert sum(line.split(",")[1] < line.split(",")[2] for line in csv) == lefts


def test_simulated_assessor_with_bad_documents(any_world: World) -> None:
    ann = any_world.person("ann")
    any_world.project(ann, strategy="heap")
    relevance = {f"d{i}": float(i) for i in range(1, 9)}
    judge = SimulatedAssessor("ann", relevance, bad_below=4.5, tie_band=0.5)
    last = label_all(ann, tasks(ann)[0], judge)
    assert [one["key"] for one in last["result"]] == ["d8", "d7", "d6"]
    assert judge.judge("", Question("d1", "d8")).answer == "bad-a"
