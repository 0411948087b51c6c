"""Names that start with "model:" are for models: no person gets one, and nobody signs in with one."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from tests.support.web_world import World, label_all, tasks
from topkit.cli import command_line
from topkit.data.errors import InputError
from topkit.labelling import SimulatedAssessor
from topkit.web import auth, oidc
from topkit.web.names import looks_like_model
from topkit.web.schema import person
from topkit.web.store import people
from topkit.web.store.models import ModelIn, add_model

ALIKE = (
    "model:small",
    "Model: small",
    "MODEL :x",
    "mоdel:x",
    "ｍodel：x",
    "m\u200bodel:x",
    "mode1∶x",
    "modeI:x",
)
"""With a Cyrillic o, wide letters, an invisible character, a digit, a capital I, the sign for ratios."""


@pytest.mark.parametrize("name", ALIKE)
def test_what_looks_like_a_model(name: str) -> None:
    assert looks_like_model(name)


@pytest.mark.parametrize("name", ["model", "modeller", "ann model:", "mode l", "supermodel:x"])
def test_what_does_not_look_like_a_model(name: str) -> None:
    assert not looks_like_model(name)


@pytest.mark.parametrize("name", ALIKE[:4])
def test_people_cannot_be_invited_with_such_a_name(world: World, name: str) -> None:
    reply = world.admin.post("/api/invitations", {"name": name, "role": "assessor"})
    assert reply.status_code == 400
    assert "is for models" in reply.json()["detail"]
    assert world.admin.get("/api/invitations").json() == []
    with world.store.write() as connection, pytest.raises(InputError, match="is for models"):
        people.add_person(connection, name, "assessor")


def test_nobody_signs_in_as_a_model(world: World) -> None:
    number = world.project()
    with world.store.write() as connection:
        account = add_model(connection, number, ModelIn("small", "http://127.0.0.1:9/v1", "m"))
    assert world.admin.post(f"/api/people/{account}/link").status_code == 400
    promoted = world.admin.call("PATCH", f"/api/people/{account}", json={"role": "admin", "active": True})
    assert promoted.status_code == 400
    with world.store.write() as connection, pytest.raises(InputError, match="is for models"):
        people.set_password(connection, account, auth.hash_password("correct horse battery"))
    client = oidc.Client("https://id.example", "topkit", "secret", claim="name", create=True)
    for name in ("model:small", "Model:new"):
        with world.store.write() as connection, pytest.raises(oidc.SignInError, match="is for models"):
            oidc.person_of(connection, client, {"sub": name, "name": name})
    with world.store.write() as connection:  # a database of an earlier version may contain a password
        hashed = auth.hash_password("correct horse battery")
        connection.execute(person.update().where(person.c.id == account).values(password=hashed))
    body = {"name": "model:small", "password": "correct horse battery"}
    assert world.anonymous.post("/api/session", body).status_code == 400
    database = str(world.app.state.settings.file)
    command = ["label", "password", "model:small", "--database", database]
    result = CliRunner().invoke(command_line(["label"]), command, input="correct horse battery 2\n")
    assert isinstance(result.exception, InputError)


def test_an_imported_project_may_contain_models_but_no_imitations(world: World) -> None:
    ann = world.person("ann")
    number = world.project(ann)
    judge = SimulatedAssessor.of_order("ann", [f"d{i}" for i in range(1, 9)])
    label_all(ann, tasks(ann)[0], judge)
    lines = world.admin.get(f"/api/projects/{number}/exports/project").text.splitlines()

    def renamed(assessor: str) -> str:
        records = [json.loads(line) for line in lines]
        records[0]["project"]["name"] = f"as {assessor}"
        for record in records:
            if "labelling" in record:
                record["assessor"] = assessor
        return "".join(json.dumps(record) + "\n" for record in records)

    reply = world.admin.upload("/api/projects/import", renamed("Model:small"), "p.jsonl")
    assert reply.status_code == 400
    assert "is for models" in reply.json()["detail"]
    names = [project["name"] for project in world.admin.get("/api/projects").json()]
    assert not any(name.startswith("as ") for name in names)
    imported = world.admin.upload("/api/projects/import", renamed("model:small"), "p.jsonl")
    assert imported.status_code == 201
    rows = world.admin.get(f"/api/projects/{imported.json()['id']}/progress").json()
    assert {row["assessor"] for row in rows} == {"model:small"}
    (account,) = [row for row in world.admin.get("/api/people").json() if row["name"] == "model:small"]
    assert world.admin.post(f"/api/people/{account['id']}/link").status_code == 400
