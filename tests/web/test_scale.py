"""What a request reads does not grow with the project: documents of other topics stay unread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from tests.support.web_world import ORDER, Actor, World, entry, label_all, tasks
from topkit.labelling import STRATEGIES, Labelling, SimulatedAssessor
from topkit.web import bundle, dashboard, records
from topkit.web.dashboard import agreements
from topkit.web.lookup import project_records
from topkit.web.records import standings_of
from topkit.web.standings import LabellingCache, Standing, starting_point
from topkit.web.store.labellings import Shape, labellings_of
from topkit.web.warm_up import warm_up


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_starting_point_depends_on_the_number_of_documents_only(strategy: str) -> None:
    chance = Random(0)
    for documents, k in ((1, 1), (2, 1), (9, 3), (30, 10)):
        items = [f"document {i}" for i in range(documents)]
        for seed in range(3):
            prior = chance.sample(items, documents // 2) or None
            for given in (None, prior):
                expected = Standing.of(Labelling(items, k, strategy, seed, given))
                standing = starting_point(strategy, k, Shape(documents, given is not None))
                assert standing.done == expected.done
                assert standing.progress == pytest.approx(expected.progress)


@contextmanager
def statements(world: World) -> Iterator[list[str]]:
    """The SQL statements that the app sends to the database meanwhile."""
    sent: list[str] = []

    def note(_: object, __: object, text: str, *rest: object) -> None:
        sent.append(text)

    sa.event.listen(world.store.engine, "before_cursor_execute", note)
    yield sent
    sa.event.remove(world.store.engine, "before_cursor_execute", note)


@pytest.fixture
def begun(world: World) -> tuple[int, Actor]:
    """A project in which ann has completed the first topic and begun the second; the third is untouched."""
    ann = world.person("ann")
    number = world.project(ann)
    first, second, _ = tasks(ann)
    label_all(ann, first, SimulatedAssessor.of_order("ann", ORDER))
    turn = ann.get(f"/api/labellings/{second}").json()
    ann.post(f"/api/labellings/{second}/answers", entry(turn, "a"))
    return number, ann


def test_documents_are_read_when_somebody_asks_for_them(world: World, begun: tuple[int, Actor]) -> None:
    number, _ = begun
    cache = LabellingCache()
    with statements(world) as sent:
        found = project_records(world.store, number, cache)
        assert not any("document.title" in text for text in sent)
        dashboard.progress(found)
        assert sum("document.title" in text for text in sent) == 1  # the two begun topics, read together
        sent.clear()
        again = project_records(world.store, number, cache)
        assert dashboard.progress(again) == dashboard.progress(found)
        dashboard.glance(again)
        assert not any("document.title" in text for text in sent)  # the standings are known
    for record in found:
        assert record.standing.done == (record.lab.question is None)
        assert record.standing.progress == pytest.approx(record.lab.progress)


def test_the_page_of_a_topic_reads_only_its_own_judgments(world: World, begun: tuple[int, Actor]) -> None:
    number, _ = begun
    topics = [row["id"] for row in world.admin.get(f"/api/projects/{number}/topics").json()]
    whole = project_records(world.store, number, LabellingCache())
    for topic in topics:
        part = project_records(world.store, number, LabellingCache(), topic_id=topic)
        assert [record.row["id"] for record in part] == [r.row["id"] for r in whole if r.topic_id == topic]
        assert dashboard.evidence(part) == dashboard.evidence([r for r in whole if r.topic_id == topic])
    assert len(world.admin.get(f"/api/projects/{number}/topics/{topics[0]}/top").json()["top"]) == 3
    assert "d5" in world.admin.get(f"/projects/{number}/topics/{topics[0]}").text


def test_agreement_of_shared_topics_is_that_of_all(
    world: World, begun: tuple[int, Actor], monkeypatch: pytest.MonkeyPatch
) -> None:
    number, _ = begun
    bob = world.person("bob")
    topic = world.admin.get(f"/api/projects/{number}/topics").json()[0]["id"]
    plan = {"mode": "hand", "assignments": [{"topic": topic, "person": bob.number, "tool": "pairs"}]}
    assert world.admin.post(f"/api/projects/{number}/assignments", plan).status_code == 201
    label_all(bob, tasks(bob)[0], SimulatedAssessor.of_order("bob", ORDER[::-1]))
    found = project_records(world.store, number, LabellingCache())

    def everything() -> tuple[object, ...]:
        report = agreements.agreement_report(found)
        contested = dashboard.disagreements(found)
        return report, contested, agreements.agreement_by_topic(found), dashboard.glance(found, 1e9)

    of_shared = everything()
    assert len(agreements.shared_topics(found)) == 2
    monkeypatch.setattr(agreements, "shared_topics", lambda chosen: chosen)
    assert of_shared == everything()


def test_a_warm_server_has_its_routes_and_templates(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from fastapi import routing

    from topkit.web.pages import render

    warm_up(world.app)
    templates = render._templates("en").env
    assert len(templates.cache or ()) >= len(templates.list_templates())

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a route was built during a request")

    monkeypatch.setattr(routing._EffectiveRouteContext, "from_api_route", refuse)
    assert world.admin.get("/").status_code == 200
    assert world.admin.get("/api/projects").json() == []


def test_the_home_page_shows_the_standing_of_every_kind_of_task(
    world: World, begun: tuple[int, Actor], monkeypatch: pytest.MonkeyPatch
) -> None:
    number, ann = begun
    world.project(ann, strategy="heap", k=2)
    with world.store.read() as connection:
        rows = labellings_of(connection, person_id=ann.number)
        cache = LabellingCache()
        for _ in range(2):  # replayed, then known
            standings = standings_of(connection, rows, cache)
            assert [standing.done for standing in standings] == [True, False, False, False, False, False]
            assert [standing.progress.asked > 0 for standing in standings] == [True, True, *(False,) * 4]
    monkeypatch.setattr(records, "MOST_TOPICS", 0)  # counts the documents of all topics of the project
    counted = project_records(world.store, number, LabellingCache())
    assert [record.standing.progress for record in counted] == [s.progress for s in standings[:3]]
    monkeypatch.undo()
    page = ann.get("/").text
    assert page.count("Not started") == 4
    assert page.count("<b>Complete</b>") == 1


def test_the_home_page_asks_the_same_of_the_database_for_more_documents(world: World) -> None:
    asked = []
    for count in (8, 80):
        ann = world.person(f"ann {count}")
        number = world.project()
        more = "".join(f"x{i},words\n" for i in range(count))
        assert world.admin.upload(f"/api/projects/{number}/documents", f"id,text\n{more}").status_code == 201
        plan = {"mode": "overlap", "people": [ann.number], "copies": 1}
        assert world.admin.post(f"/api/projects/{number}/assignments", plan).status_code == 201
        with statements(world) as sent:
            assert "Not started" in ann.get("/").text
            assert not any("document.title" in text for text in sent)
        asked.append([text for text in sent if "candidate" in text or "labelling" in text])
    assert asked[0] == asked[1]
    assert len(asked[0]) == 2


def test_an_import_lets_judgments_in_between(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = world.person("ann")
    number = world.project(ann)
    path = f"/api/labellings/{tasks(ann)[0]}"
    text = world.admin.get(f"/api/projects/{number}/exports/project").text
    saved = []

    def judge(_: float) -> None:
        turn = ann.get(path).json()
        if turn["question"] is not None:
            saved.append(ann.post(f"{path}/answers", entry(turn, "a")).status_code)

    monkeypatch.setattr(bundle, "CHUNK", 4)
    monkeypatch.setattr(bundle, "time", SimpleNamespace(sleep=judge))
    renamed = text.replace('"name": "', '"name": "copy of ', 1)
    copy = world.admin.upload("/api/projects/import", renamed, "p.jsonl")
    assert copy.status_code == 201, copy.text
    assert len(saved) > 3
    assert set(saved) == {200}
