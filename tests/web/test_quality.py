"""Gold questions, adjudication, agreement by topic and assessors, unusual times, remarks, the audit log."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tests.support.cli import topkit_here
from tests.support.web_world import ORDER, Actor, World, entry, label_all, tasks
from topkit.labelling import Question, SimulatedAssessor
from topkit.web.gold import GoldQuestion, due
from topkit.web.schema import audit, judgment, person
from topkit.web.settings import Settings


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with World(Settings(str(tmp_path_factory.mktemp("web") / "labels.db"))) as created:
        yield created


@pytest.fixture
def world(shared: World) -> Iterator[World]:
    """One app for all tests; afterwards the names are free again and the audit log is empty."""
    yield shared
    with shared.store.write() as connection:
        renamed = person.c.name + sa.cast(person.c.id, sa.Text)
        connection.execute(person.update().where(person.c.name != "root").values(name=renamed))
        connection.execute(audit.delete())


def gold(world: World, project: int, rate: float, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        saved = world.admin.post(f"/api/projects/{project}/gold", row)
        assert saved.status_code == 201, saved.text
    assert (
        world.admin.call("PUT", f"/api/projects/{project}/gold-rate", json={"rate": rate}).status_code == 200
    )


def all_gold(topic: str) -> list[dict[str, Any]]:
    """Every pair of documents of a topic with the answer of the true order."""
    return [
        {"topic": topic, "a": a, "b": b, "answer": "a" if ORDER.index(a) < ORDER.index(b) else "b"}
        for i, a in enumerate(sorted(ORDER))
        for b in sorted(ORDER)[i + 1 :]
    ]


def test_gold_questions_are_mixed_in_at_the_rate_and_change_no_result(world: World) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    project = world.project(ann, bob, strategy="heap")
    gold(world, project, 0.4, all_gold("q1"))
    careful = SimulatedAssessor.of_order("ann", ORDER)
    careless = SimulatedAssessor.of_order("bob", ORDER[::-1])
    last = label_all(ann, tasks(ann)[0], careful)
    label_all(bob, tasks(bob)[0], careless)
    assert [row["key"] for row in last["result"]] == ORDER[:3]
    with world.store.read() as connection:
        stored = list(
            connection.scalars(sa.select(judgment.c.answer).where(judgment.c.labelling == tasks(ann)[0]))
        )
    mixed = sum(answer.startswith("gold:") for answer in stored)
    assert 0.15 < mixed / len(stored) < 0.65
    assert last["asked"] == len(stored)  # the page cannot tell gold questions apart
    report = world.admin.get(f"/api/projects/{project}/gold-scores").json()
    scores = {row["assessor"]: row for row in report["scores"]}
    # every pair is gold here, so each answer counts, mixed in or not
    assert scores["ann"]["answered"] == scores["ann"]["right"] == len(stored)
    assert scores["bob"]["right"] == 0
    assert scores["ann"]["recent"] == 1.0
    assert len(scores["ann"]["moving"]) == len(stored)
    assert {row["assessor"] for row in report["mistakes"]} == {"bob"}
    assert any(row["mixed_in"] for row in report["mistakes"])
    exported = world.admin.get(f"/api/projects/{project}/exports/preferences-csv").text
    assert exported.count(",ann,") + exported.count("ann") >= 1
    rows = [line for line in exported.splitlines()[1:] if "ann" in line]
    assert len(rows) == len(stored) - mixed  # gold answers are not judgments


def test_an_undone_gold_question_is_asked_again(world: World) -> None:
    ann = world.person("ann")
    project = world.project(ann)
    gold(world, project, 0.5, all_gold("q1"))
    path = f"/api/labellings/{tasks(ann)[0]}"
    turn = ann.get(path).json()
    for number in range(12):
        question, asked = turn["question"], turn["asked"]
        turn = ann.post(f"{path}/answers", entry(turn, "a")).json()["turn"]
        undone = ann.post(f"{path}/undo", {"seq": turn["seq"] + 1, "key": f"undo {number}"}).json()["turn"]
        assert (undone["question"], undone["asked"]) == (question, asked)
        again = ann.post(f"{path}/answers", entry(undone, "a"))
        turn = again.json()["turn"]
        if turn["question"] is None:
            break


def test_a_gold_answer_sent_twice_counts_once_and_survives_a_restart(world: World) -> None:
    ann = world.person("ann")
    project = world.project(ann)
    gold(world, project, 0.5, all_gold("q1"))
    path = f"/api/labellings/{tasks(ann)[0]}"
    for _ in range(8):
        turn = ann.get(path).json()
        if turn["question"] is None:
            break
        body = entry(turn, "tie")
        outcomes = [ann.post(f"{path}/answers", body).json()["outcome"] for _ in range(2)]
        assert outcomes == ["saved", "already"]
        now = ann.get(path).json()
        world.app.state.journal._states.clear()  # as another process would see it
        assert ann.get(path).json() == now


@pytest.mark.parametrize(("rate", "share"), [(0.0, 0.0), (0.1, 0.1), (0.5, 0.5)])
def test_the_rate_is_kept_on_average(rate: float, share: float) -> None:
    questions = [GoldQuestion(i, f"x{i}", f"y{i}", "a") for i in range(3)]
    asked = Question("p", "q")
    count = 4000
    hits = sum(
        due(questions, rate, seed, [("p", "r")] * (seed % 7), asked) is not None for seed in range(count)
    )
    assert abs(hits / count - share) <= 4 * math.sqrt(max(share * (1 - share), 1e-12) / count)


def test_gold_is_never_a_pair_that_was_judged() -> None:
    questions = [GoldQuestion(1, "x", "y", "a")]
    assert due(questions, 1.0, 0, [("y", "x")], Question("p", "q")) is None
    assert due(questions, 1.0, 0, [], Question("y", "x")) is None
    assert due(questions, 1.0, 0, [("x", "z")], Question("p", "q")) == questions[0]
    sides = {GoldQuestion(i, "x", "y", "a").shown(5) for i in range(40)}
    assert sides == {Question("x", "y"), Question("y", "x")}


def test_gold_for_grades_and_from_a_file(world: World) -> None:
    ann = world.person("ann")
    project = world.project(ann, tools="grades")
    path = f"/api/projects/{project}/gold"
    file = "topic;a;b;answer;note\nq1;d1;;perfect;clear case\nq1;d2;;bad;\n"
    assert world.admin.upload(f"{path}/import", file).json()["message"] == "Gold questions: 2 new, 0 changed."
    world.admin.call("PUT", f"{path}-rate", json={"rate": 0.5})
    judge = SimulatedAssessor("ann", {f"d{i}": float(4 * (i == 1)) for i in range(1, 9)})
    label_all(ann, tasks(ann)[0], judge)
    (score,) = world.admin.get(f"/api/projects/{project}/gold-scores").json()["scores"]
    assert score["right"] == score["answered"] >= 2
    for text, problem in (
        ("topic,a,b\nq1,d1,d2\n", "column 'answer'"),
        ("topic,a,b,answer\nq1,d1,d2,perhaps\n", "invalid answer 'perhaps'"),
        ("topic,a,b,answer\nq9,d1,d2,a\n", "no topic 'q9'"),
        ("topic,a,b,answer\nq1,d1,d99,a\n", "no document 'd99'"),
        ("topic,a,b,answer\nq1,d1,d1,a\n", "compared with itself"),
        ("topic,a,b,answer\nq1,,d1,a\n", "line 2"),
    ):
        refused = world.admin.upload(f"{path}/import", text)
        assert refused.status_code == 400
        assert problem in refused.json()["detail"]
    assert len(world.admin.get(path).json()) == 2
    number = world.admin.get(path).json()[0]["id"]
    assert world.admin.call("DELETE", f"{path}/{number}").status_code == 200
    assert world.admin.call("DELETE", f"{path}/{number}").status_code == 404


def disagreeing(world: World) -> tuple[int, Actor, Actor]:
    """Two assessors who disagree about the first two documents only."""
    ann, bob = world.person("ann"), world.person("bob")
    project = world.project(ann, bob)
    other = [ORDER[1], ORDER[0], *ORDER[2:]]
    for actor, order in ((ann, ORDER), (bob, other)):
        label_all(actor, tasks(actor)[0], SimulatedAssessor.of_order("x", order))
    return project, ann, bob


def test_a_disagreement_is_settled_and_the_top_follows(world: World) -> None:
    project, _, _ = disagreeing(world)
    path = f"/api/projects/{project}"
    (row,) = world.admin.get(f"{path}/disagreements").json()
    assert {document["key"] for document in row["documents"]} == set(ORDER[:2])
    assert row["settled"] is None
    for best in ORDER[:2]:
        other = next(key for key in ORDER[:2] if key != best)
        body = {"a": other, "b": best, "verdict": "b", "reason": "It answers the question.", "gold": True}
        assert world.admin.post(f"{path}/topics/{row['topic']}/decisions", body).status_code == 201
        top = world.admin.get(f"{path}/topics/{row['topic']}/top").json()["top"]
        assert [document["key"] for document in top] == [best, other, ORDER[2]]
        (settled,) = world.admin.get(f"{path}/disagreements").json()
        assert settled["settled"]["prefers"] == best
        assert settled["settled"]["person"] == "root"
        assert settled["settled"]["reason"] == "It answers the question."
        labels = world.admin.get(f"{path}/exports/top-k").text.splitlines()
        assert any(line.startswith("3 ") and line.endswith(best) for line in labels)
    assert len(world.admin.get(f"{path}/decisions").json()) == 2  # the first decision is kept
    (question,) = world.admin.get(f"{path}/gold").json()
    assert (question["a"], question["b"], question["answer"]) == (ORDER[0], ORDER[1], "b")
    tie = {"a": ORDER[0], "b": ORDER[1], "verdict": "tie"}
    world.admin.post(f"{path}/topics/{row['topic']}/decisions", tie)
    top = world.admin.get(f"{path}/topics/{row['topic']}/top").json()["top"]
    assert [document["place"] for document in top] == [1, 1, 3]
    world.admin.post(f"{path}/topics/{row['topic']}/decisions", {**tie, "verdict": "open"})
    assert world.admin.get(f"{path}/disagreements").json()[0]["settled"] is None
    wrong = {"a": "d1", "b": "nothing", "verdict": "a"}
    assert world.admin.post(f"{path}/topics/{row['topic']}/decisions", wrong).status_code == 400


def test_agreement_by_topic_and_by_two_assessors(world: World) -> None:
    """8 documents give 28 pairs; of the 27 or 28 that answers imply, the two disagree on one."""
    project, _, _ = disagreeing(world)
    cem = world.person("cem")
    topic = world.admin.get(f"/api/projects/{project}/topics").json()[0]["id"]
    by_hand = [{"topic": topic, "person": cem.number, "tool": "pairs"}]
    world.admin.post(f"/api/projects/{project}/assignments", {"mode": "hand", "assignments": by_hand})
    label_all(cem, tasks(cem)[0], SimulatedAssessor.of_order("cem", ORDER))
    (one,) = world.admin.get(f"/api/projects/{project}/agreement/topics").json()
    assert one["name"] == "q1"
    groups = {
        row["name"]: row for row in world.admin.get(f"/api/projects/{project}/agreement/assessors").json()
    }
    assert set(groups) == {"ann and bob", "ann and cem", "bob and cem"}
    assert groups["ann and cem"]["agreement"] == 1.0
    two = groups["ann and bob"]
    assert two["agreement"] == pytest.approx(1 - 1 / two["compared"])
    assert one["compared"] == sum(row["compared"] for row in groups.values())


def test_every_change_is_in_the_audit_log_and_no_secret(world: World) -> None:
    project, ann, _ = disagreeing(world)
    world.admin.call("PATCH", f"/api/projects/{project}", json={"instructions": "Read <both>."})
    world.admin.post("/api/invitations", {"name": "zoe"})
    ann.call(
        "PUT", "/api/session/password", json={"password": "the old secret", "new": "the new secret words"}
    )
    refused = ann.call("PATCH", f"/api/projects/{project}", json={"instructions": "Mine."})
    assert refused.status_code == 403
    log = world.admin.get("/api/audit", params={"count": 1000}).json()
    actions = [row["action"] for row in log["entries"]]
    for action in (
        "POST /api/projects",
        "POST /api/projects/{number}/topics",
        "POST /api/projects/{number}/documents",
        "POST /api/projects/{number}/assignments",
        "PATCH /api/projects/{number}",
        "POST /api/invitations",
    ):
        assert actions.count(action) == 1, action
    assert not any("answers" in action for action in actions)  # judgments are a log themselves
    changed = next(row for row in log["entries"] if row["action"] == "PATCH /api/projects/{number}")
    assert (changed["person"], changed["project"]) == ("root", project)
    assert changed["detail"]["body"] == {"instructions": "Read <both>."}
    with world.store.read() as connection:
        texts = " ".join(connection.scalars(sa.select(audit.c.detail)))
    assert "secret" not in texts
    found = world.admin.get("/api/audit", params={"q": "zoe"}).json()
    assert found["total"] == 1
    page = world.admin.get("/audit", params={"project": project}).text
    assert "or change its instructions" in page
    assert "&lt;both&gt;" in page
    assert ann.get("/api/audit").status_code == 403


def test_a_command_is_in_the_audit_log_too(tmp_path: Path) -> None:
    database, topics = tmp_path / "labels.db", tmp_path / "topics.csv"
    topics.write_text("id,query\nq1,wings\n")
    done = topkit_here("label", "import", "--database", database, "--name", "x", "--topics", topics)
    assert done.returncode == 0, done.stderr
    with World(Settings(str(database))) as world:
        entries = world.admin.get("/api/audit").json()["entries"]
    assert any(row["person"] == "command line" and row["action"].endswith("label import") for row in entries)


def test_a_change_that_fails_leaves_no_entry(world: World) -> None:
    project = world.project()
    before = world.admin.get("/api/audit").json()["total"]
    world.admin.post("/api/projects", {"name": "x", "strategy": "none such"})
    world.admin.upload(f"/api/projects/{project}/topics", "nonsense")
    assert world.admin.get("/api/audit").json()["total"] == before


def test_remarks_reach_the_admin(world: World) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    project = world.project(ann)
    path = f"/api/labellings/{tasks(ann)[0]}"
    question = ann.get(path).json()["question"]
    body = {"a": question["a"]["key"], "b": question["b"]["key"], "flagged": True, "text": "The text is cut."}
    assert ann.post(f"{path}/remarks", body).status_code == 201
    assert bob.post(f"{path}/remarks", body).status_code == 404
    assert ann.post(f"{path}/remarks", {**body, "flagged": False, "text": " "}).status_code == 400
    assert ann.post(f"{path}/remarks", {**body, "a": "nothing"}).status_code == 400
    (row,) = world.admin.get(f"/api/projects/{project}/remarks").json()
    assert (row["assessor"], row["topic_key"], row["text"], row["resolved"]) == (
        "ann",
        "q1",
        "The text is cut.",
        None,
    )
    resolve = f"/api/projects/{project}/remarks/{row['id']}/resolve"
    assert world.admin.post(resolve).status_code == 200
    assert world.admin.post(resolve).status_code == 404
    assert world.admin.get(f"/api/projects/{project}/remarks").json()[0]["resolver"] == "root"


def test_a_skipped_question_moves_on_and_is_not_exported(world: World) -> None:
    ann = world.person("ann")
    project = world.project(ann)
    path = f"/api/labellings/{tasks(ann)[0]}"
    turn = ann.get(path).json()
    after = ann.post(f"{path}/answers", entry(turn, "skip")).json()["turn"]
    assert after["question"] != turn["question"]
    assert after["asked"] == 1
    ann.post(f"{path}/answers", entry(after, "a"))
    exported = world.admin.get(f"/api/projects/{project}/exports/preferences-csv").text
    assert len(exported.splitlines()) == 2  # the header and one preference
    rows = [
        json.loads(line)
        for line in world.admin.get(f"/api/projects/{project}/exports/jsonl").text.splitlines()
    ]
    assert [row["answer"] for row in rows] == ["skip", "a"]


def test_unusual_times(world: World) -> None:
    ann = world.person("ann")
    project = world.project(ann, strategy="heap")
    path = f"/api/labellings/{tasks(ann)[0]}"
    turn, number = ann.get(path).json(), 0
    while turn["question"] is not None:
        seconds = 300.0 if number == 5 else 4.0 + number % 3
        turn = ann.post(f"{path}/answers", entry(turn, "a", seconds=seconds)).json()["turn"]
        number += 1
    assert number >= 8
    (row,) = world.admin.get(f"/api/projects/{project}/outliers").json()
    assert (row["assessor"], row["seconds"]) == ("ann", 300.0)
    assert row["score"] > 3.5


def test_the_pages_of_quality(world: World) -> None:
    project, _, _ = disagreeing(world)
    gold(world, project, 0.1, all_gold("q1")[:3])
    for page, text in (
        ("quality", "Accuracy on gold questions"),
        ("adjudication", "First is better"),
        ("agreement", "By two assessors"),
    ):
        shown = world.admin.get(f"/projects/{project}/{page}")
        assert shown.status_code == 200
        assert text in shown.text
    assert "Everything is settled" not in world.admin.get(f"/projects/{project}/adjudication").text
    assert "No pair matches" in world.admin.get(f"/projects/{project}/adjudication?q=zzz").text


def test_a_project_that_is_not_a_number_is_rejected_by_the_route(world: World) -> None:
    assert world.admin.call("PATCH", "/api/projects/x²", json={"instructions": "a"}).status_code == 422
