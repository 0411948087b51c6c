"""Learning from the app: features, the curve on held-out topics, the prior of new topics."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.web_world import Actor, World, label_all
from topkit.labelling import SimulatedAssessor
from topkit.web.learning import features_of
from topkit.web.settings import Settings

TOPICS = 14
JUDGED = 12
WORDS = ["oak", "elm", "fir", "ash", "yew", "bay", "fig", "nut", "box", "may", "pine", "lime", "plum", "pear"]


def amount(topic: int, document: int) -> int:
    """How often the word of the topic occurs in a document: the more, the better it is."""
    return (document * 5 + topic) % 6


def material() -> tuple[str, str]:
    topics = "id,query\n" + "".join(f"t{i},{WORDS[i]}\n" for i in range(TOPICS))
    rows = []
    for i in range(TOPICS):
        for j in range(6):
            text = " ".join([WORDS[i]] * amount(i, j) + [f"filler{n}" for n in range(12 - amount(i, j))])
            rows.append({"id": f"t{i}d{j}", "title": f"note {j}", "text": text, "topic": f"t{i}"})
    return topics, "".join(json.dumps(row) + "\n" for row in rows)


def order(topic: int) -> list[str]:
    return [f"t{topic}d{j}" for j in sorted(range(6), key=lambda j: -amount(topic, j))]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with World(Settings(str(tmp_path_factory.mktemp("web") / "labels.db"))) as created:
        yield created


@pytest.fixture(scope="module")
def project(world: World) -> int:
    """Twelve judged topics and two new ones."""
    ann = world.person("ann")
    number = int(world.admin.post("/api/projects", {"name": "trees", "k": 2, "tools": "pairs"}).json()["id"])
    path = f"/api/projects/{number}"
    topics, documents = material()
    assert world.admin.upload(f"{path}/topics", topics).status_code == 201
    assert world.admin.upload(f"{path}/documents", documents, "x.jsonl").status_code == 201
    ids = [row["id"] for row in world.admin.get(f"{path}/topics").json()][:JUDGED]
    plan = {"mode": "overlap", "people": [ann.number], "copies": 1, "topics": ids}
    assert world.admin.post(f"{path}/assignments", plan).status_code == 201
    judge(ann)
    return number


def judge(ann: Actor) -> None:
    for task in ann.get("/api/tasks").json():
        believed = SimulatedAssessor.of_order("ann", order(int(task["topic"][1:])))
        label_all(ann, task["labelling"], believed)


@pytest.mark.slow
def test_it_learns_predicts_held_out_topics_and_ranks_new_ones(world: World, project: int) -> None:
    path = f"/api/projects/{project}"
    before = world.admin.get(f"{path}/learning").json()
    assert before == {"running": False, "result": None}
    started = world.admin.post(f"{path}/learning", {"prior": True})
    assert started.status_code == 202
    world.app.state.learning.wait(project)
    result = world.admin.get(f"{path}/learning").json()["result"]
    assert result["problem"] == ""
    assert result["topics"] == JUDGED
    assert "bm25.text" in " ".join(result["features"]).lower()
    assert [point["topics"] for point in result["curve"]] == [2, 4, 7, 9]
    assert result["curve"][-1]["agreement"] > 0.95  # term frequency decides here, and is a feature
    value, low, high = result["gain"]
    assert low <= value <= high
    assert result["ranked"] == TOPICS - JUDGED
    assert "Another hour of judging" in world.admin.get(f"/projects/{project}/learning").text
    # a labelling of a new topic starts from the order of the ranker
    bob = world.person("bob")
    topic = world.admin.get(f"{path}/topics").json()[JUDGED]
    by_hand = [{"topic": topic["id"], "person": bob.number, "tool": "pairs"}]
    world.admin.post(f"{path}/assignments", {"mode": "hand", "assignments": by_hand})
    labelling = bob.get("/api/tasks").json()[0]["labelling"]
    from topkit.web.store.labellings import get_task

    with world.store.read() as connection:
        task = get_task(connection, labelling)
    assert task is not None
    assert list(task.prior or ()) == order(JUDGED)


def test_uploaded_features_replace_those_of_the_texts(world: World, project: int) -> None:
    path = f"/api/projects/{project}"
    lines = "".join(
        f"0 qid:t{i} 1:{amount(i, j)} # docid = t{i}d{j}\n" for i in range(TOPICS) for j in range(6)
    )
    assert world.admin.upload(f"{path}/features", "0 qid:other 1:1 # docid = x\n", "f.txt").status_code == 400
    assert world.admin.upload(f"{path}/features", "nonsense", "f.txt").status_code == 400
    assert world.admin.upload(f"{path}/features", lines, "f.txt").status_code == 201
    data = features_of(world.store, project)
    assert data.X.shape == (6 * TOPICS, 1)
    world.admin.post(f"{path}/learning", {})
    world.app.state.learning.wait(project)
    result = world.admin.get(f"{path}/learning").json()["result"]
    assert result["problem"] == ""
    assert result["curve"][-1]["agreement"] == 1.0
    assert world.admin.call("DELETE", f"{path}/features").status_code == 200


def test_too_few_topics_are_a_sentence(world: World) -> None:
    number = world.project()
    world.admin.post(f"/api/projects/{number}/learning", {})
    world.app.state.learning.wait(number)
    result = world.admin.get(f"/api/projects/{number}/learning").json()["result"]
    assert "at least 4 complete topics" in result["problem"]
    assert "at least 4 complete topics" in world.admin.get(f"/projects/{number}/learning").text
