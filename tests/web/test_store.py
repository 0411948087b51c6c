"""Both databases: migrations, backup and restore, the doctor, assignment."""

from __future__ import annotations

import gzip
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from tests.support.cli import topkit_here
from tests.support.databases import fresh_database
from tests.support.web_world import ORDER, World, entry, label_all, labelled_project, tasks
from topkit.data.errors import InputError
from topkit.labelling import SimulatedAssessor
from topkit.web.assign import cyclic, overlapping
from topkit.web.backup import restore_backup, write_backup
from topkit.web.doctor import examine
from topkit.web.judging import Judgment
from topkit.web.schema import judgment, metadata
from topkit.web.settings import Settings
from topkit.web.store import open_store
from topkit.web.store.engine import make_engine, migrate, newest_revision, revision_of
from topkit.web.store.judgments import append_judgments

FIRST = Path(__file__).parent / "first_schema.sql"


def test_migrations_make_what_the_code_expects(database: str) -> None:
    store = open_store(Settings(database))
    with store.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert revision_of(connection) == newest_revision() != "0001"
    store.close()


def test_a_store_of_the_first_schema_opens(tmp_path: Path) -> None:
    """The file was written with the first schema, in the middle of a labelling, which then continues."""
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as old:
        old.executescript(FIRST.read_text())
        before = old.execute("SELECT * FROM judgment ORDER BY labelling, seq").fetchall()
    old.close()
    assert len(before) == 7
    with World(Settings(str(path))) as world:
        with world.store.read() as connection:
            assert revision_of(connection) == newest_revision()
            after = connection.execute(
                sa.select(judgment).order_by(judgment.c.labelling, judgment.c.seq)
            ).all()
        assert [tuple(row) for row in after] == before
        ann = world.signed_in("ann")
        path_of = f"/api/labellings/{tasks(ann)[0]}"
        assert ann.get(path_of).json()["asked"] == 5  # seven judgments, one of them an undo
        last = label_all(
            ann, tasks(ann)[0], SimulatedAssessor.of_order("ann", ["d4", "d2", "d5", "d1", "d3", "d6"])
        )
        assert [one["key"] for one in last["result"]] == ["d4", "d2"]
        found = list(examine(world.store, Settings(str(tmp_path / "old.db"))))
        assert any("labellings can be replayed" in one.text and one.good for one in found)


@pytest.mark.parametrize("revision", ["0001", "0002"])
def test_every_schema_migrates_with_its_data(database: str, revision: str) -> None:
    engine = make_engine(Settings(database))
    migrate(engine, revision)
    with engine.begin() as connection:
        connection.execute(
            sa.text(
                "INSERT INTO project (name, k, strategy, tools, seed, created)"
                " VALUES ('old', 3, 'heap', 'both', 1, 2.5)"
            )
        )
    engine.dispose()
    store = open_store(Settings(database))
    with store.read() as connection:
        row = connection.execute(sa.text("SELECT name, k, created, instructions FROM project")).one()
    assert tuple(row) == ("old", 3, 2.5, "")
    store.close()


def test_a_newer_or_foreign_store_is_refused(tmp_path: Path) -> None:
    settings = Settings(str(tmp_path / "x.db"))
    store = open_store(settings)
    with store.write() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    store.close()
    with pytest.raises(InputError, match="schema 9999"):
        open_store(settings)
    with pytest.raises(InputError, match="does not exist"):
        open_store(Settings(str(tmp_path / "none.db")), create=False)
    with pytest.raises(InputError, match="unsupported database"):
        open_store(Settings("mysql://x/y"))
    (tmp_path / "text.db").write_text("this is not a database, but some words that are long enough")
    with pytest.raises(InputError, match="not a topkit database"):
        open_store(Settings(str(tmp_path / "text.db")))


def test_the_constraints_refuse_a_second_judgment(any_world: World) -> None:
    ann = any_world.person("ann")
    any_world.project(ann)
    labelling = tasks(ann)[0]
    path = f"/api/labellings/{labelling}"
    ann.post(f"{path}/answers", entry(ann.get(path).json(), "a", key="one"))
    for duplicate in (Judgment(1, "two", "d1", "d2", "a", 1.0), Judgment(2, "one", "d1", "d2", "a", 1.0)):
        with pytest.raises(sa.exc.IntegrityError), any_world.store.write() as connection:
            append_judgments(connection, [(labelling, duplicate)])


def test_a_backup_with_long_rows_is_restored(world: World, tmp_path: Path) -> None:
    """Rows of several megabytes each in a line, and one row that is longer than a line of other files."""
    number = world.project()
    texts = "".join(json.dumps({"id": f"x{i}", "text": "word " * 4000}) + "\n" for i in range(300))
    assert world.admin.upload(f"/api/projects/{number}/documents", texts, "x.jsonl").status_code == 201
    picture = b"\x89PNG\r\n\x1a\n" + bytes(3_500_000)
    assert world.admin.upload(f"/api/projects/{number}/pictures", picture, "large.png").status_code == 201
    path = tmp_path / "backup.jsonl"
    written = write_backup(world.store, path)
    with path.open(encoding="utf-8") as lines:
        assert sum(len(line) > 1_100_000 for line in lines) == 1  # the picture
    restored = restore_backup(Settings(str(tmp_path / "restored.db")), path)
    assert restored == {name: count for name, count in written.items() if count}


def test_backup_and_restore_into_either_database(
    any_world: World, database: str, tmp_path: Path, postgres: str
) -> None:
    number = labelled_project(any_world)
    whole = any_world.admin.get(f"/api/projects/{number}/exports/project").text
    path = tmp_path / "backup.jsonl.gz"
    counts = write_backup(any_world.store, path)
    assert counts["judgment"] > 20
    with fresh_database(postgres) as other:
        for target in (str(tmp_path / "restored.db"), other):
            restored = restore_backup(Settings(target), path)
            assert restored == {name: count for name, count in counts.items() if count}
            with World(Settings(target), admin="second") as world:
                assert world.admin.get(f"/api/projects/{number}/exports/project").text == whole
                assert world.store.secret == any_world.store.secret
                world.project(world.person("new"))  # ids continue after the restored ones
            with pytest.raises(InputError, match="not empty"):
                restore_backup(Settings(target), path)
    content = tmp_path / "cut.jsonl"
    text = gzip.decompress(path.read_bytes()).decode()
    for broken in ("", "{}\n", text[:-100], text.replace("d5", "d6", 1)):
        content.write_text(broken)
        with pytest.raises(InputError, match="not a backup"):
            restore_backup(Settings(str(tmp_path / "never.db")), content)


def test_the_doctor_sees_what_is_wrong(any_world: World, database: str) -> None:
    labelled_project(any_world)
    settings = Settings(database)
    assert [one.text for one in examine(any_world.store, settings) if not one.good] == [
        "admins who can sign in: 0; start the server to get a link"
    ]
    with any_world.store.write() as connection:
        connection.execute(judgment.delete().where(judgment.c.labelling == 1, judgment.c.seq == 3))
        connection.execute(
            judgment.update().where(judgment.c.labelling == 2, judgment.c.seq == 1).values(a="d99")
        )
    troubles = "\n".join(one.text for one in examine(any_world.store, settings) if not one.good)
    assert "labelling 1: the sequence numbers have gaps" in troubles
    assert "labelling 2: judgment 1" in troubles


def test_the_assignment_of_the_paper() -> None:
    """Everybody uses both tools, nobody sees a query in both, and every topic is judged in both.

    Four assessors and more: twice in each tool, so that agreement can be measured.
    """
    for many in (2, 3, 4, 5, 8):
        rounds = 2 if many >= 4 else 1
        for topics in (many, 2 * many + 1, 50):
            found = cyclic(list(range(topics)), [100 + i for i in range(many)])
            assert len({(one.topic, one.person) for one in found}) == len(found) == 2 * rounds * topics
            for tool in ("pairs", "grades"):
                assert {one.person for one in found if one.tool == tool} == {100 + i for i in range(many)}
                assert sorted(one.topic for one in found if one.tool == tool) == sorted(
                    rounds * [*range(topics)]
                )
    with pytest.raises(InputError, match="two assessors"):
        cyclic([1], [1])


def test_the_papers_assignment_gives_agreement_in_both_tools(any_world: World) -> None:
    people = [any_world.person(f"assessor {i}") for i in range(4)]
    number = any_world.project(*people, mode="cyclic", tools="both")
    for person in people:
        for labelling in tasks(person):
            label_all(person, labelling, SimulatedAssessor.of_order("same", ORDER, borders=(2, 4, 6, 7.5)))
    report = any_world.admin.get(f"/api/projects/{number}/agreement").json()
    assert report["implied"]["compared"] > 0
    assert report["grades"]["compared"] > 0
    assert report["implied"]["overall"] == report["grades"]["overall"] == 1.0


def test_repeated_answers_are_not_agreement_on_the_dashboard(any_world: World) -> None:
    """The heap asks pairs repeatedly; two people who always disagree must not seem to agree."""
    ann, bob = any_world.person("ann"), any_world.person("bob")
    number = any_world.project(ann, bob, strategy="heap", k=8)
    for person, order in ((ann, ORDER), (bob, ORDER[::-1])):
        label_all(person, tasks(person)[0], SimulatedAssessor.of_order("x", order))
    report = any_world.admin.get(f"/api/projects/{number}/agreement").json()
    assert report["asked"]["compared"] == sum(map(sum, report["asked"]["counts"])) / 2 > 0
    assert report["asked"]["overall"] == 0.0
    assert report["asked"]["fleiss"] < -0.9
    assert report["implied"]["fleiss"] < -0.9


def test_overlapping_assignment() -> None:
    found = overlapping([1, 2, 3, 4], [7, 8, 9, 10], ["pairs", "grades"], 2)
    for topic in (1, 2, 3, 4):
        here = [one for one in found if one.topic == topic]
        assert sorted(one.tool for one in here) == ["grades"] * 2 + ["pairs"] * 2
        assert len({one.person for one in here}) == 4
    with pytest.raises(InputError, match="need at least 4 assessors, got 3"):
        overlapping([1], [7, 8, 9], ["pairs", "grades"], 2)


def test_nobody_gets_one_query_in_both_tools(any_world: World) -> None:
    ann, bob = any_world.person("ann"), any_world.person("bob")
    number = any_world.project(tools="both")
    people = [ann.number, bob.number]
    path = f"/api/projects/{number}/assignments"
    assert (
        any_world.admin.post(path, {"mode": "cyclic", "people": people})
        .json()["message"]
        .startswith("Labellings: 6 new")
    )
    again = any_world.admin.post(path, {"mode": "cyclic", "people": people}).json()["message"]
    assert again == "Labellings: 0 new, 6 already there."
    turned = any_world.admin.post(path, {"mode": "cyclic", "people": people[::-1]})
    assert turned.status_code == 400
    assert "other tool" in turned.json()["detail"]
    labelling = tasks(ann)[-1]
    turn = ann.get(f"/api/labellings/{labelling}").json()  # loads its state into memory
    assert any_world.admin.call("DELETE", f"/api/labellings/{labelling}").status_code == 200
    answer = ann.post(
        f"/api/labellings/{labelling}/answers", entry(turn, "good" if turn["tool"] == "grades" else "a")
    )
    assert answer.status_code == 404
    assert ann.get(f"/api/labellings/{labelling}").status_code == 404
    assert (
        any_world.admin.post(path, {"mode": "cyclic", "people": people})
        .json()["message"]
        .startswith("Labellings: 1 new")
    )
    assert labelling not in tasks(ann)  # the new one has a different id


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Import, export, backup, restore and doctor from the command line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topics.csv").write_text("id,query\nq1,wings\n")
    (tmp_path / "docs.csv").write_text("id,text\nd1,one\nd2,two\nd3,three\n")
    (tmp_path / "x.run").write_text("q1 Q0 d2 1 2 x\nq1 Q0 d1 2 1 x\n")

    def label(*words: str) -> subprocess.CompletedProcess[str]:
        return topkit_here("label", *words)

    material = ["--topics", "topics.csv", "--documents", "docs.csv", "--run", "x.run"]
    assert "1 topic with a prior ranking" in label("import", "--name", "wings", *material).stdout
    assert "wrote p.jsonl" in label("export", "wings", "--out", "p.jsonl").stdout
    assert '"prior": ["d2", "d1"]' in (tmp_path / "p.jsonl").read_text()
    assert label("import", "p.jsonl", "--database", "second.db").returncode == 0
    assert label("backup", "b.jsonl.gz").returncode == 0
    assert (tmp_path / "b.jsonl.gz").stat().st_mode & 0o077 == 0
    assert label("restore", "b.jsonl.gz", "--database", "third.db").returncode == 0
    done = label("doctor", "--database", "third.db")
    assert done.returncode == 1  # there is no admin yet
    assert "good  schema" in done.stdout
    wrong = label("export", "nothing", "--out", "x")
    assert wrong.returncode == 1
    assert "there is no project 'nothing'" in wrong.stderr


def test_the_app_does_not_import_numba(tmp_path: Path) -> None:
    program = """
import sys
from topkit.web.serve import serve
from topkit.web.app import create_app
from topkit.web.settings import Settings
app = create_app(Settings(sys.argv[1]))
app.openapi()
print(sorted({"numba", "scipy", "pyarrow", "lightgbm", "matplotlib", "pandas"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "x.db")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
