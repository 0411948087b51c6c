"""Projects, topics, work and people over time: renamed, paused, archived, reassigned, taken back, deleted."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from tests.support.web_world import ORDER, Actor, TestClient, World, entry, label_all, labelled_project, tasks
from topkit.labelling import SimulatedAssessor
from topkit.web.app import create_app
from topkit.web.schema import TABLES, judgment, labelling, topic_version
from topkit.web.settings import Settings


def judge(actor: Actor, labelling_id: int, answer: str = "a") -> int:
    path = f"/api/labellings/{labelling_id}"
    return actor.post(f"{path}/answers", entry(actor.get(path).json(), answer, seconds=0.0)).status_code


def patch(world: World, path: str, **values: object) -> Any:
    return world.admin.call("PATCH", path, json=values)


def exported(world: World, number: int, name: str = "jsonl") -> list[dict[str, Any]]:
    text = world.admin.get(f"/api/projects/{number}/exports/{name}").text
    return [json.loads(line) for line in text.splitlines()]


# -- projects ----------------------------------------------------------------------------------------------
def test_a_project_is_renamed_paused_and_archived(world: World) -> None:
    ann = world.person("ann")
    number, other = world.project(ann), world.project()
    path = f"/api/projects/{number}"
    assert patch(world, path, name="New name").json()["name"] == "New name"
    assert patch(world, f"/api/projects/{other}", name="New name").status_code == 400
    assert patch(world, path, name="New name", instructions="Read.").json()["instructions"] == "Read."
    labelling_id = tasks(ann)[0]
    turn = ann.get(f"/api/labellings/{labelling_id}").json()
    assert patch(world, path, state="paused").json()["state"] == "paused"
    with TestClient(create_app(Settings(str(world.app.state.settings.database)))) as client:
        there = Actor(client, ann.number, ann.csrf, ann.cookie)  # another process refuses it as well
        for actor in (ann, there):
            refused = actor.post(f"/api/labellings/{labelling_id}/answers", entry(turn, "a"))
            assert refused.status_code == 423
            assert "paused" in refused.json()["detail"]
    assert tasks(ann)
    assert "paused" in ann.get("/").text
    assert patch(world, path, state="archived").status_code == 200
    assert tasks(ann) == []
    plan = {"mode": "overlap", "people": [ann.number], "copies": 1}
    assert world.admin.post(f"{path}/assignments", plan).status_code == 400
    assert world.admin.get("/api/projects").json()[-1]["name"] == "New name"  # archived ones come last
    assert patch(world, path, state="active").status_code == 200
    assert judge(ann, labelling_id) == 200


def test_a_project_is_deleted_with_its_name_typed(any_world: World) -> None:
    world = any_world
    number = labelled_project(world)
    kept = world.project(world.person("cem"))
    name = world.admin.get(f"/api/projects/{number}").json()["name"]
    path = f"/api/projects/{number}"
    assert world.admin.call("DELETE", path, json={"name": "something else"}).status_code == 400
    assert world.admin.call("DELETE", path).status_code == 422
    assert world.admin.get(path).status_code == 200
    assert world.admin.call("DELETE", path, json={"name": name}).status_code == 200
    assert world.admin.get(path).status_code == 404
    assert [row["id"] for row in world.admin.get("/api/projects").json()] == [kept]
    with world.store.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(judgment)) == 0
        counts = {
            table.name: connection.scalar(sa.select(sa.func.count()).select_from(table)) for table in TABLES
        }
    assert (counts["project"], counts["topic"], counts["document"], counts["labelling"]) == (1, 3, 8, 3)


# -- topics ------------------------------------------------------------------------------------------------
def test_topics_are_renamed_and_deleted(world: World) -> None:
    ann = world.person("ann")
    number = world.project(ann)
    topics = world.admin.get(f"/api/projects/{number}/topics").json()
    path = f"/api/projects/{number}/topics"
    assert patch(world, f"{path}/{topics[0]['id']}", key="first").status_code == 200
    for change in ({"key": "q2"}, {"key": "with space"}, {"query": "  "}):
        assert patch(world, f"{path}/{topics[0]['id']}", **change).status_code == 400
    judge(ann, tasks(ann)[1])
    judged = world.admin.call("DELETE", f"{path}/{topics[1]['id']}")
    assert judged.status_code == 400
    assert "1 judgments" in judged.json()["detail"]
    assert world.admin.call("DELETE", f"{path}/{topics[2]['id']}").status_code == 200
    assert [row["key"] for row in world.admin.get(path).json()] == ["first", "q2"]
    assert len(tasks(ann)) == 2
    other = world.project()
    assert world.admin.call("DELETE", f"/api/projects/{other}/topics/{topics[0]['id']}").status_code == 404


def test_a_changed_query_with_judgments_is_a_new_version(any_world: World, tmp_path_factory: Any) -> None:
    world = any_world
    ann = world.person("ann")
    number = world.project(ann)
    first, second, _ = world.admin.get(f"/api/projects/{number}/topics").json()
    path = f"/api/projects/{number}/topics"
    judge(ann, tasks(ann)[0])
    changed = patch(world, f"{path}/{first['id']}", query="cooling of tails")
    assert "version 2" in changed.json()["message"]
    again = world.admin.upload(path, "id,query\nq1,cooling of noses\nq2,jet noise and boom\n")
    assert again.status_code == 201
    judge(ann, tasks(ann)[0])
    versions = world.admin.get(f"{path}/{first['id']}/versions").json()
    assert [row["query"] for row in versions] == ["cooling of wings", "cooling of tails"]
    assert world.admin.get(f"{path}/{second['id']}/versions").json() == []  # nobody had judged it
    assert [row["query_version"] for row in exported(world, number)] == [1, 3]
    page = world.admin.get(f"/projects/{number}/topics/{first['id']}").text
    assert "cooling of tails" in page
    whole = world.admin.get(f"/api/projects/{number}/exports/project").text
    folder = tmp_path_factory.mktemp("other")
    with World(Settings(str(folder / "other.db"))) as other:
        made = other.admin.upload("/api/projects/import", whole, "p.jsonl").json()["id"]
        assert other.admin.get(f"/api/projects/{made}/exports/project").text == whole
        assert [row["query_version"] for row in exported(other, made)] == [1, 3]
        with other.store.read() as connection:
            assert connection.scalar(sa.select(sa.func.count()).select_from(topic_version)) == 2


def test_the_page_says_which_documents_come_too_late(world: World) -> None:
    ann = world.person("ann")
    number = world.project()
    path = f"/api/projects/{number}/documents"
    early = world.admin.upload(path, "id,text\nd9,more\n").json()["message"]
    assert early == "Documents: 1 new, 0 changed, 0 already there."
    plan = {"mode": "overlap", "people": [ann.number], "copies": 1}
    assert world.admin.post(f"/api/projects/{number}/assignments", plan).status_code == 201
    late = world.admin.upload(path, "id,text\nd10,late\nd11,late\n").json()["message"]
    assert "2 documents will not be judged" in late
    assert "2 documents will not be judged" in world.admin.get(f"/projects/{number}/material").text
    world.admin.upload(f"/api/projects/{number}/topics", "id,query\nq9,nine\n")
    assert "will not be judged" not in world.admin.get(f"/projects/{number}/material").text
    with world.store.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(labelling)) == 3


# -- work --------------------------------------------------------------------------------------------------
def test_begun_work_is_taken_back_and_reopened(world: World) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    number = world.project(ann, bob)
    for actor in (ann, bob):
        label_all(actor, tasks(actor)[0], SimulatedAssessor.of_order("x", ORDER))
    begun, untouched = tasks(ann)[:2]
    turn = ann.get(f"/api/labellings/{begun}").json()
    path = f"/api/labellings/{begun}"
    assert patch(world, f"/api/labellings/{untouched}", action="take-back").status_code == 200
    assert untouched not in tasks(ann)
    assert patch(world, path, action="take-back", judgments="drop").status_code == 200
    assert begun not in tasks(ann)
    refused = ann.post(f"{path}/undo", {"seq": turn["seq"] + 1, "key": "k"})
    assert refused.status_code == 423
    assert "taken back" in refused.json()["detail"]
    assert {row["assessor"] for row in world.admin.get(f"/api/projects/{number}/progress").json()} >= {"bob"}
    csv = world.admin.get(f"/api/projects/{number}/exports/preferences-csv").text
    assert ",ann," not in csv
    rows = exported(world, number)
    assert {row["assessor"]: row["dropped"] for row in rows} == {"ann": True, "bob": False}
    whole = world.admin.get(f"/api/projects/{number}/exports/project").text
    copy = world.admin.upload("/api/projects/import", whole, "p.jsonl", name="copy").json()["id"]
    assert {row["assessor"]: row["dropped"] for row in exported(world, copy)} == {"ann": True, "bob": False}
    plan = {"mode": "overlap", "people": [ann.number, bob.number], "copies": 2}
    assert "reopen" in world.admin.post(f"/api/projects/{number}/assignments", plan).json()["detail"]
    assert patch(world, path, action="reopen").status_code == 200
    assert begun in tasks(ann)
    assert ",ann," in world.admin.get(f"/api/projects/{number}/exports/preferences-csv").text


def test_work_is_given_to_somebody_else(world: World) -> None:
    ann, bob, cem = (world.person(name) for name in ("ann", "bob", "cem"))
    number = world.project(ann, bob)
    first, second = tasks(ann)[:2]
    judge(ann, first)
    judge(ann, first)
    path = f"/api/labellings/{first}"
    assert patch(world, path, action="reassign").status_code == 400
    assert patch(world, path, action="reassign", person=ann.number).status_code == 400
    assert (
        patch(world, path, action="reassign", person=bob.number).status_code == 400
    )  # has the topic already
    assert patch(world, path, action="reassign", person=cem.number).status_code == 200
    assert patch(world, f"/api/labellings/{second}", action="reassign", person=cem.number).status_code == 200
    assert first not in tasks(ann)
    assert len(tasks(cem)) == 2
    assert ann.get(f"/api/labellings/{tasks(cem)[0]}").status_code == 404
    assert judge(cem, tasks(cem)[0]) == 200
    assert [row["assessor"] for row in exported(world, number)] == ["ann", "ann", "cem"]


def test_an_assessor_is_removed(world: World) -> None:
    _remove(world, "keep", 4)
    _remove(world, "drop", 1)


def _remove(world: World, fate: str, counted: int) -> None:
    ann, bob = world.person(f"{fate} ann"), world.person(f"{fate} bob")
    number, other = world.project(ann, bob), world.project(ann)
    for _ in range(3):
        judge(ann, tasks(ann)[0])
    judge(bob, tasks(bob)[0])
    judge(ann, tasks(ann)[3])
    path = f"/api/people/{ann.number}/removal"
    here = world.admin.post(path, {"judgments": fate, "project": number})
    assert here.json()["message"] == f"{fate} ann: 3 topics taken back."
    csv = world.admin.get(f"/api/projects/{number}/exports/preferences-csv").text
    assert len(csv.splitlines()) == 1 + counted
    assert ann.get("/api/tasks").status_code == 200
    everywhere = world.admin.post(path, {"judgments": fate})
    assert "The account is blocked." in everywhere.json()["message"]
    assert ann.get("/api/tasks").status_code == 401
    assert len(exported(world, other)) == 1
    assert len(exported(world, number)) == 4  # the log keeps everything
    alone = world.admin.post(f"/api/people/{world.admin.number}/removal", {})
    assert alone.status_code == 400  # at least one admin must remain


def test_the_pages_of_the_lifecycle(world: World) -> None:
    ann = world.person("ann")
    number = world.project(ann, world.person("bob"))
    judge(ann, tasks(ann)[0])
    text = world.admin.get(f"/projects/{number}/settings").text
    assert text.count('value="reassign"') == 6
    assert text.count("Take back, drop") == 1
    assert world.admin.get(f"/projects/{number}/settings?q=bob").text.count("<tr data-labelling") == 3
    assert "Remove ann" in world.admin.get("/people").text
    assert "Delete topic q1" in world.admin.get(f"/projects/{number}/material").text
