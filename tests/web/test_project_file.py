"""The file of a whole project: everything that a project has comes back, and damaged files are refused."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tests.support.web_world import World, entry, labelled_project, tasks
from topkit.data.errors import InputError
from topkit.web.learning import Learned, Point
from topkit.web.project_file import read_project
from topkit.web.schema import (
    TABLES,
    document,
    labelling,
    learned,
    model,
    person,
    topic,
)
from topkit.web.settings import Settings
from topkit.web.store import Store
from topkit.web.store.models import note_answer

NOT_IN_THE_FILE = {"meta", "person", "session", "invitation", "sign_in", "api_token", "identity", "audit"}
"""People and their access belong to the server, and so does its log."""
CONNECTIONS = {"webhook", "delivery", "export_schedule"}
"""They contain secrets, and two servers must not send the same events."""
CHANGED = {"model": {"active", "next", "problem"}}
"""An imported model is stopped."""
PNG = b"\x89PNG\r\n\x1a\n and so on"
FEATURES = "2 qid:q1 1:0.5 # docid = d1\n"


def full_project(world: World) -> int:
    """A project with something in every table."""
    number = labelled_project(world)
    path = f"/api/projects/{number}"
    ann, bob = world.signed_in("ann lee"), world.signed_in("bob")
    first = world.admin.get(f"{path}/topics").json()[0]["id"]
    steps = [
        ("POST", f"{path}/gold", {"topic": "q1", "a": "d5", "b": "d2", "answer": "a", "note": "Clear."}),
        ("POST", f"{path}/gold", {"topic": "q2", "a": "d5", "answer": "good"}),
        ("PUT", f"{path}/gold-rate", {"rate": 0.25}),
        (
            "POST",
            f"{path}/topics/{first}/decisions",
            {"a": "d5", "b": "d2", "verdict": "a", "reason": "Why."},
        ),
        ("POST", f"{path}/topics/{first}/decisions", {"a": "d2", "b": "d5", "verdict": "open"}),
        ("PATCH", f"{path}/topics/{first}", {"query": "cooling of tails"}),
        ("POST", f"{path}/models", {"name": "m", "url": "http://x/v1", "model": "x", "suggest": True}),
    ]
    for method, where, body in steps:
        reply = world.admin.call(method, where, json=body)
        assert reply.status_code < 300, reply.text
    for actor, flagged in ((ann, True), (bob, False)):
        remark = {"a": "d1", "b": "d2", "flagged": flagged, "text": "the same text"}
        assert actor.post(f"/api/labellings/{tasks(actor)[0]}/remarks", remark).status_code == 201
    remarks = world.admin.get(f"{path}/remarks").json()
    world.admin.post(f"{path}/remarks/{remarks[0]['id']}/resolve", {})
    for name, content in (("leaf.png", PNG), ("wing.png", PNG + bytes(3_500_000))):
        assert world.admin.upload(f"{path}/pictures", content, name).status_code == 201
    changed = json.dumps({"id": "d5", "title": "New", "text": "another text"})
    assert (
        "1 changed document with judgments"
        in world.admin.upload(f"{path}/documents", changed, "x.jsonl").text
    )
    paused = {"state": "paused", "instructions": "Prefer *wings*."}
    assert world.admin.call("PATCH", path, json=paused).status_code == 200
    assert world.admin.upload(f"{path}/features", FEATURES, "f.txt").status_code == 201
    found = Learned(5.0, "ranksvm", ["bm25"], 4, 20, [Point(2, 0.7, 0.6, 0.8)], (0.1, 0.0, 0.2), 3.5)
    with world.store.write() as connection:
        answered = connection.execute(sa.select(labelling.c.id).order_by(labelling.c.id)).scalars().first()
        assert answered is not None
        note_answer(connection, answered, 1, 0.75)
        note_answer(connection, answered, 3, None)
        learned_text = json.dumps({**json.loads(json.dumps(found, default=vars)), "ranked": 2})
        values = {"project": number, "time": 6.0, "content": learned_text, "problem": ""}
        connection.execute(learned.insert().values(values))
    return number


def contents(store: Store, number: int) -> dict[str, list[dict[str, Any]]]:
    """The rows of all tables that belong to a project, with keys and names in place of ids."""
    with store.read() as connection:
        topics, documents, people = (
            {row.id: row[1] for row in connection.execute(sa.select(table.c.id, column))}
            for table, column in ((topic, topic.c.key), (document, document.c.key), (person, person.c.name))
        )
        work = {
            row.id: (topics[row.topic], people[row.person])
            for row in connection.execute(sa.select(labelling))
        }
        names = {"topic": topics, "document": documents, "person": people, "labelling": work}
        rows: dict[str, list[dict[str, Any]]] = {}
        for table in TABLES:
            if table.name in NOT_IN_THE_FILE | CONNECTIONS:
                continue
            left_out = CHANGED.get(table.name, set()) | {"id", "project"}
            rows[table.name] = [
                {
                    column.name: names[column.name][row[column.name]]
                    if column.foreign_keys
                    else row[column.name]
                    for column in table.columns
                    if column.name not in left_out
                }
                for row in connection.execute(sa.select(table)).mappings()
                if row.get("project", number) == number
            ]
    return {name: sorted(found, key=repr) for name, found in rows.items()}


def test_every_row_of_every_table_comes_back(any_world: World, tmp_path: Path) -> None:
    """Over SQLite and PostgreSQL: all rows, then the same file again."""
    settings = Settings(any_world.app.state.settings.database, models=True)
    any_world.app.state.settings = settings
    number = full_project(any_world)
    before = contents(any_world.store, number)
    assert all(before.values()), [name for name, rows in before.items() if not rows]
    text = any_world.admin.get(f"/api/projects/{number}/exports/project").text
    with World(Settings(str(tmp_path / "other.db"))) as other:
        made = other.admin.upload("/api/projects/import", text, "p.jsonl")
        assert made.status_code == 201, made.text
        assert made.json()["state"] == "paused"
        there = int(made.json()["id"])
        assert contents(other.store, there) == before
        assert other.admin.get(f"/api/projects/{there}/exports/project").text == text
        with other.store.read() as connection:
            assert connection.scalars(sa.select(model.c.active)).all() == [False]
        for page in ("", "/quality", "/adjudication", "/learning", "/models", "/material", "/topics/1"):
            assert other.admin.get(f"/projects/{there}{page}").status_code == 200


def test_a_file_of_version_1_still_imports(world: World, tmp_path: Path) -> None:
    number = labelled_project(world)
    lines = world.admin.get(f"/api/projects/{number}/exports/project").text.splitlines()
    first = json.loads(lines[0])
    first["version"] = 1
    for later in ("created", "gold_rate", "state"):
        del first["project"][later]
    old = "\n".join([json.dumps(first), *lines[1:]])
    with World(Settings(str(tmp_path / "other.db"))) as other:
        made = other.admin.upload("/api/projects/import", old, "p.jsonl")
        assert (made.status_code, made.json()["state"], made.json()["gold_rate"]) == (201, "active", 0.0)
        before = world.admin.get(f"/api/projects/{number}/exports/jsonl").text
        assert other.admin.get(f"/api/projects/{made.json()['id']}/exports/jsonl").text == before


SETTINGS = {"name": "p", "k": 2, "strategy": "adaptive", "tools": "pairs", "seed": 0, "instructions": ""}
MATERIAL: list[dict[str, Any]] = [
    {"project": SETTINGS, "version": 2},
    {"topic": "q1", "query": "words", "description": ""},
    {"document": "d1", "kind": "text", "title": "", "body": "text"},
    {"document": "d2", "kind": "text", "title": "", "body": "text"},
    {"candidates": "q1", "documents": ["d1", "d2"], "prior": []},
    {"labelling": "q1", "assessor": "ann", "tool": "pairs", "strategy": "adaptive", "k": 1, "seed": 0}
    | {"created": 1.0, "judgments": []},
]
GOLD = {"gold": "q1", "a": "d1", "b": "d2", "answer": "a", "note": "", "person": "root", "created": 1.0}
DECISION = {"decision": "q1", "a": "d1", "b": "d2", "verdict": "a", "reason": "", "person": "x", "time": 1.0}
REMARK = {"remark": "q1", "assessor": "ann", "a": "d1", "b": "d2", "flagged": True, "text": "?", "time": 1.0}
REMARK |= {"resolved": None, "resolver": None}
PICTURE = {"picture": "x.png", "content": base64.b64encode(PNG).decode()}
JUDGE = {"judge": "model:m", "url": "http://x/v1", "model": "x", "requests": 0}
LEARNED = {"learned": {}, "time": 1.0, "problem": "not enough topics"}


@pytest.mark.parametrize("record", [GOLD, DECISION, REMARK, PICTURE, JUDGE, LEARNED])
def test_the_records_of_these_tests_are_valid(tmp_path: Path, record: dict[str, Any]) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in [*MATERIAL, record]))
    assert len(read_project(path).extras) == 1


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({**GOLD, "gold": "q9"}, "there is no topic 'q9'"),
        ({**GOLD, "b": "d9"}, "there is no document 'd9'"),
        ({**GOLD, "b": "d1"}, "compared with itself"),
        ({**GOLD, "answer": "perfect"}, "invalid answer 'perfect'"),
        ({**GOLD, "created": 1e999}, "created"),
        ({**GOLD, "note": "\ud800"}, "surrogate"),
        ({**GOLD, "note": "a\0b"}, "note"),
        ({**GOLD, "extra": 1}, "extra"),
        ({**GOLD, "topic": "q1"}, "unknown kind of record"),
        ({**DECISION, "verdict": "c"}, "verdict"),
        ({**DECISION, "a": "d2", "b": "d1"}, "order of their ids"),
        ({**REMARK, "assessor": "bob"}, "'bob' has no labelling"),
        ({**REMARK, "text": "x" * 20_001}, "text"),
        ({"confidences": "q1", "assessor": "ann", "values": [[1, 0.5]]}, "there is no judgment 1"),
        ({"confidences": "q1", "assessor": "ann", "values": [[1, 7]]}, "values"),
        ({**PICTURE, "content": "§"}, "invalid|base64"),
        ({**PICTURE, "content": base64.b64encode(b"<svg/>").decode()}, "not a picture"),
        ({**PICTURE, "content": base64.b64encode(PNG + bytes(4 << 20)).decode()}, "larger than 4 MB"),
        ({**PICTURE, "content": "A" * (33 << 20)}, "longer than 32 MB"),
        ({**JUDGE, "judge": "ann"}, "invalid name 'ann' of a model"),
        ({**JUDGE, "url": "file:///etc/passwd"}, "invalid URL"),
        ({**JUDGE, "key_variable": "HOME"}, "invalid key variable 'HOME'"),
        ({**LEARNED, "learned": {"curve": "<script>"}}, "learned|required|time"),
        ({**LEARNED, "problem": 7}, "problem"),
        ({"features": 7}, "features"),
        (
            {"document_version": "d1", "kind": "pdf", "title": "", "body": "", "until": 1},
            "unknown kind",
        ),
        ({"document_version": "d9", "kind": "text", "title": "", "body": "", "until": 1}, "no document 'd9'"),
    ],
)
def test_an_invalid_record_is_refused_with_its_line(
    tmp_path: Path, record: dict[str, Any], problem: str
) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in [*MATERIAL, record]))
    with pytest.raises(InputError, match=problem) as error:
        read_project(path)
    assert error.value.line == 7


def test_nothing_is_left_of_a_project_that_the_database_refuses(world: World) -> None:
    twice = "\n".join(json.dumps(line) for line in [*MATERIAL, PICTURE, PICTURE])
    refused = world.admin.upload("/api/projects/import", twice, "p.jsonl")
    assert (refused.status_code, "does not accept" in refused.json()["detail"]) == (400, True)
    assert world.admin.get("/api/projects").json() == []


def test_a_changed_document_with_judgments_is_a_new_version(any_world: World) -> None:
    world = any_world
    ann = world.person("ann")
    number = world.project(ann)
    path = f"/api/projects/{number}"

    def judge(seconds: float = 0.0, best: str = "") -> dict[str, Any]:
        where = f"/api/labellings/{tasks(ann)[0]}"
        turn = ann.get(where).json()
        body = entry(turn, "b" if turn["question"]["b"]["key"] == best else "a", seconds=seconds)
        assert ann.post(f"{where}/answers", body).status_code == 200
        return body

    first = judge()
    unseen = next(f"d{i}" for i in range(1, 9) if f"d{i}" not in (first["a"], first["b"]))
    texts = [{"id": key, "title": "t", "text": "new words"} for key in (first["a"], unseen)]
    lines = "".join(json.dumps(row) + "\n" for row in texts)
    message = world.admin.upload(f"{path}/documents", lines, "x.jsonl").json()["message"]
    assert message.startswith("Documents: 0 new, 2 changed, 0 already there. 1 changed document with")
    assert "0 changed, 2 already there" in world.admin.upload(f"{path}/documents", lines, "x.jsonl").text
    ids = {row["key"]: row["id"] for row in world.admin.get(f"{path}/documents").json()["documents"]}
    versions = world.admin.get(f"{path}/documents/{ids[first['a']]}/versions").json()
    assert [row["version"] for row in versions] == [1]
    assert versions[0]["body"] != "new words"
    assert world.admin.get(f"{path}/documents/{ids[unseen]}/versions").json() == []
    assert "new words" in world.admin.get(f"{path}/documents/{ids[first['a']]}").text
    old = world.admin.get(f"{path}/documents/{ids[first['a']]}?version=1").text
    assert "new words" not in old
    assert world.admin.get(f"{path}/documents/{ids[first['a']]}?version=2").status_code == 404
    judge(3600.0, first["a"])  # this question was shown before the change
    while ann.get(f"/api/labellings/{tasks(ann)[0]}").json()["question"] is not None:
        judge(best=first["a"])
    rows = [json.loads(line) for line in world.admin.get(f"{path}/exports/jsonl").text.splitlines()]
    seen = [
        (row["seconds"], row[f"{side}_version"])
        for row in rows
        for side in ("a", "b")
        if row[side] == first["a"]
    ]
    assert seen[0] == (0.0, 1)
    assert all(version == (1 if seconds else 2) for seconds, version in seen[1:])
    others = [row[f"{side}_version"] for row in rows for side in ("a", "b") if row[side] == unseen]
    assert set(others) <= {1}
    top = world.admin.get(f"{path}/topics/{rows_topic(world, path)}/top").json()["top"]
    shown = {row["key"]: (row["version"], row["earlier"]) for row in top}
    assert shown[first["a"]][0] == 2
    assert shown[first["a"]][1] == sum(version == 1 for _, version in seen)
    page = world.admin.get(f"/projects/{number}/topics/{rows_topic(world, path)}").text
    assert "?version=1" in page


def rows_topic(world: World, path: str) -> int:
    return int(world.admin.get(f"{path}/topics").json()[0]["id"])
