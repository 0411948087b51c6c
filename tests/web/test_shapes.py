"""A judgment and a turn are each described once, and pages do not depend on the API."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import TypeAdapter

import topkit.web
from tests.support.web_world import World, entry, tasks
from topkit.data.judgments import ANSWERS
from topkit.labelling import GRADES
from topkit.web.judging import Judgment, Reply, Turn
from topkit.web.schema import judgment
from topkit.web.store.judgments import judgments_after


def test_a_judgment_is_the_request_body_and_the_row(world: World) -> None:
    assert [column.name for column in judgment.columns] == [
        "labelling",
        *(field.name for field in fields(Judgment)),
    ]
    ann = world.person("ann")
    world.project(ann)
    labelling = tasks(ann)[0]
    body = entry(ann.get(f"/api/labellings/{labelling}").json(), "tie")
    assert ann.post(f"/api/labellings/{labelling}/answers", body).status_code == 200
    with world.store.read() as connection:
        (saved,) = judgments_after(connection, labelling)
    assert {name: getattr(saved, name) for name in body} == body
    assert saved.time > 1e9  # set by the server


def test_the_api_describes_the_judgment_with_the_answers_of_the_kernel(world: World) -> None:
    schemas = world.app.openapi()["components"]["schemas"]
    assert schemas["Judgment"]["properties"]["answer"]["enum"] == [*ANSWERS, *GRADES, "skip"]
    assert "time" not in schemas["Judgment"]["properties"]
    assert set(schemas["Turn"]["properties"]) == {field.name for field in fields(Turn)}


@pytest.mark.parametrize("change", [{"time": 5.0}, {"answer": "undo"}, {"extra": 1}, {"seq": 0}])
def test_what_the_client_may_not_send(world: World, change: dict[str, object]) -> None:
    ann = world.person("ann")
    world.project(ann)
    path = f"/api/labellings/{tasks(ann)[0]}"
    body = entry(ann.get(path).json(), "a") | change
    assert ann.post(f"{path}/answers", body).status_code == 422
    assert ann.get(path).json()["seq"] == 0


def test_replies_follow_their_description(world: World) -> None:
    ann = world.person("ann")
    world.project(ann)
    path = f"/api/labellings/{tasks(ann)[0]}"
    first = entry(ann.get(path).json(), "a")
    replies = [ann.post(f"{path}/answers", body) for body in (first, first, first | {"key": "late"})]
    parsed = [TypeAdapter(Reply).validate_python(reply.json()) for reply in replies]
    assert [reply.outcome for reply in parsed] == ["saved", "already", "conflict"]
    assert [reply.status_code for reply in replies] == [200, 200, 409]
    assert parsed[0].turn == parsed[1].turn == parsed[2].turn


def test_pages_do_not_import_the_api() -> None:
    for path in (Path(topkit.web.__file__).parent / "pages").glob("*.py"):
        assert "topkit.web.api" not in path.read_text(), path


@pytest.mark.parametrize(
    ("module", "extra", "statement"),
    [
        ("itsdangerous", "web", "import topkit.web.app"),
        (
            "psycopg",
            "postgres",
            "from topkit.web.store.engine import make_engine; from topkit.web.settings import Settings; "
            "make_engine(Settings('postgresql://me@host/labels'))",
        ),
    ],
)
def test_a_missing_extra_is_named(module: str, extra: str, statement: str) -> None:
    code = f"import sys; sys.modules['{module}'] = None; {statement}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"{module} is not installed; run: pip install 'topkit[{extra}]'" in done.stderr
