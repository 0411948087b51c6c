"""Import of material, export of judgments, and their import."""

from __future__ import annotations

import json
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import topkit as tk
from tests.support.web_world import ORDER, World, label_all, labelled_project, tasks
from topkit.data.errors import InputError
from topkit.labelling import SimulatedAssessor
from topkit.labelling.files import read_grades_csv, read_preferences_csv
from topkit.web import bundle
from topkit.web.imports import read_material, read_prior, read_topics
from topkit.web.project_file import read_project
from topkit.web.settings import Settings
from topkit.web.store import open_store, projects
from topkit.web.store.projects import Document, Topic

TREC_TOPICS = """<top>
<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations.

<narr> Narrative:
A relevant document
names one.
</top>
<top><num>302</num><title>Poliomyelitis</title><desc>Is it gone?</desc></top>
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('id,query,description\n7,"a, b",why\n8,c,\n', [Topic("7", "a, b", "why"), Topic("8", "c")]),
        ("topic\ttitle\n7\ta b\n", [Topic("7", "a b")]),
        (
            '{"id": 7, "query": "a", "description": "d"}\n\n{"topic": "8", "text": "b"}\n',
            [Topic("7", "a", "d"), Topic("8", "b")],
        ),
        ("7\tfirst words\n8\tmore\n", [Topic("7", "first words"), Topic("8", "more")]),
        (
            ".I 001\n.W\nwhat laws\n.I 002\n.W\nwhat else\n",
            [Topic("1", "what laws"), Topic("2", "what else")],
        ),
        (
            TREC_TOPICS,
            [
                Topic(
                    "301",
                    "International Organized Crime",
                    "Identify organizations.\n\nA relevant document names one.",
                ),
                Topic("302", "Poliomyelitis", "Is it gone?"),
            ],
        ),
    ],
    ids=["csv", "tsv", "jsonl", "plain", "cranfield", "trec"],
)
def test_topics_of_every_format(tmp_path: Path, text: str, expected: list[Topic]) -> None:
    path = tmp_path / "topics"
    path.write_text(text)
    assert read_topics(path) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "unknown format"),
        ("id,query\n", "no topics"),
        ("id,query\n7,a\n7,b\n", "twice"),
        ("id,query\n,a\n", "no id"),
        ('{"id": 1}\n', "no query"),
        ("{nonsense\n", "invalid JSON"),
        ("just words\n", "unknown format"),
    ],
)
def test_bad_topics_say_what_is_wrong(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "topics"
    path.write_text(text)
    with pytest.raises(InputError, match=problem):
        read_topics(path)


def test_documents_of_every_kind(tmp_path: Path) -> None:
    rows = [
        {"id": "t", "title": "A  title", "text": "words", "topic": "7"},
        {"id": "h", "html": "<p>page</p>", "url": "https://x.example/"},
        {"id": "u", "url": "https://x.example/y?z=1"},
        {"id": "f", "title": "T", "abstract": "one", "body": "two"},
    ]
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_material(path) == [
        Document("t", "text", "A title", "words", "7"),
        Document("h", "html", "", "<p>page</p>"),
        Document("u", "url", "", "https://x.example/y?z=1"),
        Document("f", "text", "T", "one\n\ntwo"),
    ]
    for address in ("javascript:alert(1)", "file:///etc/passwd", "//x.example", "data:text/html,x"):
        path.write_text(json.dumps({"id": "u", "url": address}) + "\n")
        with pytest.raises(InputError, match="invalid URL"):
            read_material(path)
    corpus = tmp_path / "corpus"
    corpus.write_text("<DOC>\n<DOCNO> X-1 </DOCNO>\n<TEXT>\nwords here\n</TEXT>\n</DOC>\n")
    assert read_material(corpus) == [Document("X-1", "text", "", "words here")]


def test_a_run_names_candidates_and_is_the_prior(world: World, tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_text("q1 Q0 d3 1 2.5 x\nq1 Q0 d1 2 1.5 x\nq1 Q0 d7 3 9.5 x\nq9 Q0 d1 1 1 x\n")
    assert read_prior(path, 2) == {"q1": ["d7", "d3"], "q9": ["d1"]}
    ann = world.person("ann")
    number = world.project()
    said = world.admin.upload(f"/api/projects/{number}/run", path.read_bytes(), "x.run", depth=3)
    assert said.json()["message"].startswith("Prior ranking for 1 topic;")
    topics = world.admin.get(f"/api/projects/{number}/topics").json()
    assert [topic["candidates"] for topic in topics] == [3, 0, 0]
    hand = [{"topic": topics[0]["id"], "person": ann.number, "tool": "pairs"}]
    assert (
        world.admin.post(
            f"/api/projects/{number}/assignments", {"mode": "hand", "assignments": hand}
        ).status_code
        == 201
    )
    last = label_all(ann, tasks(ann)[0], SimulatedAssessor.of_order("ann", ["d7", "d3", "d1"]))
    assert [one["key"] for one in last["result"]] == ["d7", "d3", "d1"]
    again = world.admin.upload(f"/api/projects/{number}/run", path.read_bytes(), "x.run")
    assert "has labellings" in again.json()["detail"]


def test_every_export_reads_back_to_what_was_said(any_world: World, tmp_path: Path) -> None:
    number = labelled_project(any_world)

    def export(name: str) -> Path:
        answer = any_world.admin.get(f"/api/projects/{number}/exports/{name}")
        assert answer.status_code == 200, answer.text
        path = tmp_path / name
        path.write_bytes(answer.content)
        return path

    events = [json.loads(line) for line in export("jsonl").read_text().splitlines()]
    stands = [
        one for one in events if (one["answer"] != "undo" and one["seq"] != 1) or one["assessor"] == "bob"
    ]
    preferences, empty = read_preferences_csv(export("preferences-csv"))
    assert empty == 0
    said = [(p.query, p.a, p.b, p.answer, p.assessor, p.seconds) for p in preferences.preferences]
    assert said == [
        (one["query"], one["a"], one["b"], one["answer"], one["assessor"], one["seconds"])
        for one in stands
        if one["tool"] == "pairs"
    ]
    triples = tk.read_preferences(export("triples")).preferences
    assert [(p.query, p.a, p.b, p.winner) for p in triples] == [
        (p.query, p.a, p.b, p.winner) for p in preferences.preferences
    ]
    assert {p.assessor for p in triples} == {"ann_lee", "bob"}
    # the relevance i/2 of document i, cut at .5, 1.5, 2.5, 3.5, gives 1 1 2 2 3 3 4 4
    grades = {"d1": 1, "d2": 1, "d3": 2, "d4": 2, "d5": 3, "d6": 3, "d7": 4, "d8": 4}
    assert {grade.doc: grade.grade for grade in read_grades_csv(export("grades-csv")).grades} == grades
    letor = tk.read_letor(export("grades"), features=False)
    assert letor.doc_ids is not None
    assert dict(zip(letor.doc_ids.tolist(), letor.y.tolist(), strict=True)) == grades
    top = tk.read_letor(export("top-k"), features=False, truth="top-3")
    assert top.doc_ids is not None
    first = dict(zip(top.doc_ids.tolist()[:8], top.y.tolist()[:8], strict=True))
    assert first == {**dict.fromkeys(ORDER, 0), "d5": 3, "d2": 2, "d8": 1}
    qrels = tk.read_qrels(export("qrels")).grades_by_query()
    assert qrels["q2"] == grades
    assert qrels["q1"] == first


def test_a_project_comes_back_the_same(any_world: World, tmp_path: Path) -> None:
    number = labelled_project(any_world)
    names = ("project", "top-k", "grades", "qrels", "triples", "preferences-csv", "grades-csv", "jsonl")
    before = {name: any_world.admin.get(f"/api/projects/{number}/exports/{name}").text for name in names}
    with World(Settings(str(tmp_path / "other.db"))) as other:
        made = other.admin.upload("/api/projects/import", before["project"], "project.jsonl")
        assert made.status_code == 201, made.text
        there = made.json()["id"]
        after = {name: other.admin.get(f"/api/projects/{there}/exports/{name}").text for name in names}
        assert after == before
        clash = other.admin.upload("/api/projects/import", before["project"], "project.jsonl")
        assert "already" in clash.json()["detail"]
        renamed = other.admin.upload("/api/projects/import", before["project"], "p.jsonl", name="second")
        assert renamed.status_code == 201
        forged = before["project"].replace('"answer": "a"', '"answer": "b"')
        lines = before["project"].splitlines()
        for broken in (
            "",
            "{}",
            "nonsense",
            "\n".join(lines[1:]),
            before["project"].replace("[1, ", "[7, "),
            before["project"].replace('"d5"', '"d99"', 1),
            forged[:-40],
        ):
            answer = other.admin.upload("/api/projects/import", broken, "p.jsonl", name="third")
            assert answer.status_code == 400, answer.text
        assert (
            len(other.admin.get("/api/projects").json()) == 2
        )  # a file is imported completely or not at all


def project_lines(count: int) -> list[dict[str, object]]:
    """A project of ``count`` topics with two documents each."""
    settings = {"name": "p", "k": 2, "strategy": "adaptive", "tools": "pairs", "seed": 0, "instructions": ""}
    topics: list[dict[str, object]] = [
        {"topic": f"q{i}", "query": "words", "description": ""} for i in range(count)
    ]
    documents: list[dict[str, object]] = [
        {"document": f"d{i}", "kind": "text", "title": "", "body": "text"} for i in range(2 * count)
    ]
    candidates: list[dict[str, object]] = [
        {"candidates": f"q{i}", "documents": [f"d{2 * i}", f"d{2 * i + 1}"], "prior": []}
        for i in range(count)
    ]
    return [{"project": settings, "version": 1}, *topics, *documents, *candidates]


def written(path: Path, records: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def _note(statements: list[str], *event: Any) -> None:
    statements.append(event[2])


def test_the_import_of_a_project_is_linear(tmp_path: Path) -> None:
    """The number of statements does not depend on the size of the project."""
    work = []
    for count in (20, 80):
        store = open_store(Settings(str(tmp_path / f"{count}.db")))
        statements: list[str] = []
        sa.event.listen(store.engine, "before_cursor_execute", partial(_note, statements))
        file = read_project(written(tmp_path / "p.jsonl", project_lines(count)))
        number = bundle.import_project(store, file)
        work.append(len(statements))
        with store.read() as connection:
            assert len(projects.topics_of(connection, number)) == count
            assert projects.documents_of(connection, number, 0, 1)[0] == 2 * count
        store.close()
    assert work[0] == work[1]


@pytest.mark.parametrize(
    ("line", "change", "problem"),
    [
        (0, {"version": 3}, "version 1 or 2"),
        (1, {"topic": 7}, "topic: expected a text, got '7'"),
        (2, {"topic": "q0"}, "topic 'q0' appears twice"),
        (4, {"kind": "pdf"}, "unknown kind of document 'pdf'"),
        (5, {"document": "d0"}, "document 'd0' appears twice"),
        (4, {"body": "a\0b"}, "body: expected a text"),
        (4, {"body": "\ud800"}, "invalid"),
        (7, {"candidates": "q9"}, "there is no topic 'q9'"),
        (7, {"documents": ["d0", "d0"]}, "twice"),
        (7, {"documents": ["d99"]}, "not a document"),
        (7, {"prior": ["d3"]}, "not a candidate"),
        (8, {"candidates": "q0"}, "appears twice"),
        (1, {"versions": [["old", "", 10**400]]}, "invalid"),
    ],
)
def test_an_invalid_project_names_the_line(
    tmp_path: Path, line: int, change: dict[str, object], problem: str
) -> None:
    records = project_lines(2)
    assert len(records) == 9
    records[line] = {**records[line], **change}
    path = written(tmp_path / "p.jsonl", records)
    with pytest.raises(InputError, match=problem) as error:
        read_project(path)
    assert error.value.line == line + 1


def test_exports_of_nothing(world: World) -> None:
    number = world.project(world.person("ann"))
    for name, status in (
        ("jsonl", 200),
        ("preferences-csv", 200),
        ("qrels", 200),
        ("top-k", 400),
        ("grades", 400),
    ):
        assert world.admin.get(f"/api/projects/{number}/exports/{name}").status_code == status


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<top>\n<num>1\n<title>a\n</top>\n<top>\n<num>2\n<title>b\n", 5),
        ("<top>\n<num>1\n<title>a\n<top>\n<num>2\n<title>b\n</top>\n", 1),
    ],
)
def test_a_trec_topic_that_does_not_end_is_named(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "topics").write_text(text)
    with pytest.raises(InputError, match="has no </top>") as caught:
        read_topics(tmp_path / "topics")
    assert caught.value.line == line


def test_thousands_of_open_topics_are_refused_at_the_first(tmp_path: Path) -> None:
    """A search for each missing end through the rest of the file would take minutes here."""
    (tmp_path / "topics").write_text("<top>\n<num>1\n<title>a\n" * 100_000)
    with pytest.raises(InputError, match="has no </top>") as caught:
        read_topics(tmp_path / "topics")
    assert caught.value.line == 1


def test_topics_of_spreadsheets(tmp_path: Path) -> None:
    (tmp_path / "topics.csv").write_bytes("id;query;description\n7;red, wings;é\n".encode("utf-8-sig"))
    assert read_topics(tmp_path / "topics.csv") == [Topic("7", "red, wings", "é")]
    (tmp_path / "topics.csv").write_text('id,query\n1,"a\n2,b\n')
    with pytest.raises(InputError, match="never closed") as caught:
        read_topics(tmp_path / "topics.csv")
    assert caught.value.line == 2


EXCEL = "id;query;description\n7;„Flügel“ – Kühlung;5 €\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_spreadsheets_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "topics.csv"
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    path.write_bytes(mark + EXCEL.replace("\n", "\r\n").encode(encoding))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Windows-1252 is read with a warning
        assert read_topics(path) == [Topic("7", "„Flügel“ – Kühlung", "5 €")]


def test_long_fields_are_read(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(f'id;text\n1;"{"word " * 60_000}"\n2;short\n')  # 300 KB; Python's own limit is 128 KB
    assert [len(document.body) for document in read_material(path)] == [299_999, 5]


@pytest.mark.parametrize(
    ("name", "content", "problem", "line"),
    [
        ("d.csv", b"id,text\na,b\nc d,e\n", "the id 'c d' of a document contains spaces", 3),
        ("t.csv", b"id,query\na,b\nc d,e\n", "the id 'c d' of a topic contains spaces", 3),
        ("d.jsonl", b'{"id": "a", "text": "b"}\n{"id": "a\\u00a0b", "text": "b"}\n', "contains spaces", 2),
        (
            "d.jsonl",
            b'{"id": "a", "text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
            "nested too deeply",
            1,
        ),
        ("d.csv", "id;text\n1;a\n".encode("utf-16-le"), "UTF-16 needs a byte-order mark", 1),
        ("d.csv", b'id,text\n1,"open\n2,b\n', "a quote is opened here and never closed", 2),
        ("d.csv", b"id,text\n1," + b"x" * 2_000_001 + b"\n", "shorten it to 2,000,000", 2),
        ("d.jsonl", b'{"id": "a", "text": "' + b"x" * (5 << 20) + b'"}\n', "longer than 4 MB", 1),
    ],
)
def test_what_cannot_be_read_names_the_line_and_the_remedy(
    tmp_path: Path, name: str, content: bytes, problem: str, line: int
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        (read_topics if name.startswith("t") else read_material)(path)
    assert problem in str(error.value)
    assert error.value.line == line
    assert error.value.remedy
