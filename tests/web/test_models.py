"""Models beside people: a chat model as an assessor, routing by confidence, suggestions after an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chat_server import ChatServer, Messages
from tests.support.web_world import Actor, World, entry, tasks
from topkit.web.models import work_for_models
from topkit.web.settings import Settings


def larger_number(messages: Messages) -> object:
    """A model that prefers the paper with the larger number, and is unsure about neighbours."""
    numbers = [int(text) for text in re.findall(r"Cooling the wing, number (\d+)\.", messages[-1]["content"])]
    first, second = numbers
    sure = 0.55 if abs(first - second) == 1 else 0.95
    return f'{{"answer": "{1 if first > second else 2}", "confidence": {sure}}}'


@pytest.fixture(scope="module")
def chat() -> Iterator[ChatServer]:
    server = ChatServer(larger_number)
    yield server
    server.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with World(Settings(str(tmp_path_factory.mktemp("web") / "labels.db"), models=True)) as created:
        yield created


@pytest.fixture(scope="module")
def judged(world: World, chat: ChatServer) -> tuple[int, Actor]:
    """A project in which a model has judged the first topic, and a person who judges it too."""
    ann = world.person("ann")
    project = world.project(ann)
    path = f"/api/projects/{project}"
    body = {"name": "small", "url": chat.url, "model": "m", "sure": 0.9, "check": 0.0, "suggest": True}
    assert world.admin.post(f"{path}/models", body).status_code == 201
    (model,) = world.admin.get(f"{path}/models").json()
    topic = world.admin.get(f"{path}/topics").json()[0]["id"]
    by_hand = [{"topic": topic, "person": model["person"], "tool": "pairs"}]
    plan = {"mode": "hand", "assignments": by_hand}
    assert world.admin.post(f"{path}/assignments", plan).status_code == 201
    assert work_for_models(world.store, world.app.state.journal) > 5
    return project, ann


def test_a_model_judges_as_an_assessor_and_is_marked(world: World, judged: tuple[int, Actor]) -> None:
    project, _ = judged
    path = f"/api/projects/{project}"
    rows = {row["assessor"]: row for row in world.admin.get(f"{path}/progress").json() if row["done"]}
    assert set(rows) == {"model:small"}
    top = world.admin.get(f"{path}/topics/{rows['model:small']['topic']}/top").json()["top"]
    assert [row["key"] for row in top] == ["d8", "d7", "d6"]
    for export in ("jsonl", "preferences-csv"):
        lines = world.admin.get(f"{path}/exports/{export}").text
        assert "model:small" in lines
    (model,) = world.admin.get(f"{path}/models").json()
    assert model["requests"] >= 2 * rows["model:small"]["asked"] - 1  # both orders of each pair
    assert model["active"]
    assert work_for_models(world.store, world.app.state.journal) == 0  # nothing is left


def test_unsure_answers_wait_for_a_person_whose_decision_counts(
    world: World, judged: tuple[int, Actor]
) -> None:
    project, _ = judged
    path = f"/api/projects/{project}"
    routing = world.admin.get(f"{path}/routing").json()
    assert routing["waiting"]
    for row in routing["waiting"]:
        one, two = (int(document["key"][1:]) for document in row["documents"])
        assert abs(one - two) == 1
        assert row["unsure"]
        assert row["confidence"] == pytest.approx(0.55)
    row = next(r for r in routing["waiting"] if {d["key"] for d in r["documents"]} == {"d7", "d8"})
    assert "Waiting for a person" in world.admin.get(f"/projects/{project}/models").text
    decision = {"a": "d7", "b": "d8", "verdict": "a", "reason": "It is."}
    assert world.admin.post(f"{path}/topics/{row['topic']}/decisions", decision).status_code == 201
    top = world.admin.get(f"{path}/topics/{row['topic']}/top").json()["top"]
    assert [document["key"] for document in top][:2] == ["d7", "d8"]
    after = world.admin.get(f"{path}/routing").json()
    assert len(after["waiting"]) == len(routing["waiting"]) - 1
    assert "the model answered" in after["statement"]


def test_a_suggestion_comes_after_the_answer_only(world: World, judged: tuple[int, Actor]) -> None:
    project, ann = judged
    path = f"/api/labellings/{tasks(ann)[0]}"
    turn = ann.get(path).json()
    a, b = turn["question"]["a"]["key"], turn["question"]["b"]["key"]
    ask = {"params": {"a": a, "b": b}}
    assert ann.get(f"{path}/suggestion", **ask).json() is None
    assert "data-suggests" in ann.get(f"/label/{tasks(ann)[0]}").text
    ann.post(f"{path}/answers", entry(turn, "tie"))
    said = ann.get(f"{path}/suggestion", **ask).json()
    assert said["model"] == "small"
    assert said["prefers"] in (a, b)
    (model,) = world.admin.get(f"/api/projects/{project}/models").json()
    off = {"active": True, "suggest": False}
    world.admin.call("PATCH", f"/api/projects/{project}/models/{model['id']}", json=off)
    assert ann.get(f"{path}/suggestion", **ask).json() is None
    assert "data-suggests" not in ann.get(f"/label/{tasks(ann)[0]}").text


def test_a_model_stops_at_its_budget_and_says_so(world: World, chat: ChatServer) -> None:
    project = world.project()
    path = f"/api/projects/{project}"
    world.admin.post(f"{path}/models", {"name": "poor", "url": chat.url, "model": "m", "budget": 5})
    (model,) = world.admin.get(f"{path}/models").json()
    world.admin.post(f"{path}/assignments", {"mode": "overlap", "people": [model["person"]], "copies": 1})
    work_for_models(world.store, world.app.state.journal)
    (model,) = world.admin.get(f"{path}/models").json()
    assert model["requests"] <= 5
    assert not model["active"]
    assert model["problem"]


def test_models_are_off_by_default_and_keys_are_restricted(world: World, tmp_path: Path) -> None:
    body = {"name": "m", "url": "http://localhost:1/v1", "model": "m"}
    path = f"/api/projects/{world.project()}/models"
    leak = world.admin.post(path, {**body, "key_variable": "DATABASE_URL"})
    assert leak.status_code == 400
    assert "TOPKIT_MODEL_KEY" in leak.json()["detail"]
    assert world.admin.post(path, {**body, "url": "file:///etc/passwd"}).status_code == 400
    with World(Settings(str(tmp_path / "off.db"))) as off:
        refused = off.admin.post(f"/api/projects/{off.project()}/models", body)
        assert "--models" in refused.json()["detail"]


def test_a_model_that_is_stopped_while_it_works_stays_stopped(
    world: World, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = world.project()
    path = f"/api/projects/{project}/models"
    world.admin.post(path, {"name": "busy", "url": chat.url, "model": "m"})
    (model,) = world.admin.get(path).json()

    def stopped_meanwhile(*_: object) -> int:
        world.admin.call("PATCH", f"{path}/{model['id']}", json={"active": False})
        return 0

    monkeypatch.setattr("topkit.web.models._work", stopped_meanwhile)
    work_for_models(world.store, world.app.state.journal)
    assert world.admin.get(path).json()[0]["active"] is False
