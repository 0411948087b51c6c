"""Databases that are old, damaged, read-only or on a full disk: a sentence, and nothing is changed."""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.support.web_world import World, entry, labelled_project, tasks
from topkit.data.errors import InputError
from topkit.web.backup import restore_backup, write_backup
from topkit.web.doctor import Finding, examine
from topkit.web.settings import Settings
from topkit.web.store import open_store
from topkit.web.store.engine import open_to_read, revision_of

FIRST = Path(__file__).parent / "first_schema.sql"


def digest(folder: Path) -> dict[str, str]:
    """Every file of a folder with its content."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def command(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "topkit", "label", *words]
    return subprocess.run(line, capture_output=True, text=True, check=False)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database of the first schema, in a folder of its own."""
    path = tmp_path / "data" / "old.db"
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.executescript(FIRST.read_text())
    connection.close()
    return path


def test_the_doctor_changes_nothing(old: Path) -> None:
    before = digest(old.parent)
    done = command("doctor", "--database", str(old))
    assert done.returncode == 1
    assert "BAD   schema 0001" in done.stdout
    assert "back it up, then start the server" in done.stdout
    assert digest(old.parent) == before  # not upgraded, and no file was added


def test_the_doctor_reads_while_the_server_runs(world: World, tmp_path: Path) -> None:
    labelled_project(world)
    settings = Settings(str(tmp_path / "labels.db"))
    store = open_to_read(settings)
    texts = [finding.text for finding in examine(store, settings) if finding.good]
    assert any("3 of 3 labellings can be replayed" in text for text in texts)
    with pytest.raises(sa.exc.OperationalError, match="readonly"), store.write() as connection:
        connection.execute(sa.text("DELETE FROM judgment"))
    store.close()


def test_an_old_schema_is_backed_up_as_it_is(old: Path, tmp_path: Path) -> None:
    before = digest(old.parent)
    store = open_to_read(Settings(str(old)))
    counts = write_backup(store, tmp_path / "b.jsonl")
    store.close()
    assert digest(old.parent) == before
    assert restore_backup(Settings(str(tmp_path / "new.db")), tmp_path / "b.jsonl")["judgment"] == 7
    assert counts["judgment"] == 7
    restored = open_store(Settings(str(tmp_path / "new.db")))
    with restored.read() as connection:
        assert revision_of(connection) != "0001"
    restored.close()


def damaged(path: Path, place: float) -> None:
    """Overwrite some pages."""
    data = bytearray(path.read_bytes())
    start = int(len(data) * place) // 4096 * 4096
    data[start : start + 8192] = b"\xa5" * 8192
    path.write_bytes(data)


def test_a_damaged_database_gives_a_sentence(tmp_path: Path) -> None:
    whole = tmp_path / "labels.db"
    with World(Settings(str(whole))) as world:
        labelled_project(world)
    for place in (0.0, 0.2, 0.5, 0.9):
        path = tmp_path / f"damaged at {place}.db"
        shutil.copy(whole, path)
        damaged(path, place)
        settings = Settings(str(path))
        for act in (partial(_examined, settings), partial(_opened, settings)):
            found = act()
            assert any(not finding.good and "damaged" in finding.text for finding in found) == bool(found)


def _examined(settings: Settings) -> list[Finding]:
    try:
        return list(examine(open_to_read(settings), settings))
    except InputError as error:
        return [Finding(False, str(error))]


def _opened(settings: Settings) -> list[Finding]:
    try:
        open_store(settings).close()  # does not notice damage in tables that it does not read
    except InputError as error:
        return [Finding(False, str(error))]
    return []


def test_a_database_that_turns_bad_answers_503(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    with World(Settings(str(path))) as world:
        ann = world.person("ann")
        number = world.project(ann)
        labelling = f"/api/labellings/{tasks(ann)[0]}"
        turn = ann.get(labelling).json()
        with world.store.engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        sa.event.listen(
            world.store.engine,
            "checkout",
            lambda raw, *_: raw.execute(f"PRAGMA max_page_count={pages}"),  # as on a full disk
        )
        large = "id,text\n" + "".join(f"x{i},{'word ' * 500}\n" for i in range(100))
        reply = world.admin.upload(f"/api/projects/{number}/documents", large)
        assert reply.status_code == 503
        assert "Nothing was saved: the disk of the database is full" in reply.json()["detail"]
        assert world.admin.get(f"/api/projects/{number}/documents").json()["total"] == 8
        assert ann.post(f"{labelling}/answers", entry(turn, "a")).status_code in (200, 503)


@pytest.mark.slow
@pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root writes to read-only files"
)
def test_a_read_only_database_gives_a_sentence() -> None:
    # Not in pytest's folder: for root the commands run as another user, who cannot read that folder.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "data" / "labels.db"
        path.parent.mkdir()
        open_store(Settings(str(path))).close()
        path.chmod(0o444)
        path.parent.chmod(0o555)
        line = [sys.executable, "-m", "topkit", "label"]
        if os.geteuid() == 0:
            line = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *line]
        environment = {**os.environ, "HOME": folder}

        def run(*words: str) -> subprocess.CompletedProcess[str]:
            whole = [*line, *words, "--database", str(path)]
            return subprocess.run(whole, capture_output=True, text=True, check=False, env=environment)

        served = run("serve", "--port", "0")
        assert served.returncode == 1
        assert "the database is read-only" in served.stderr
        assert "good  integrity of the file: ok" in run("doctor").stdout
        path.parent.chmod(0o755)


def test_a_backup_to_a_full_disk_gives_a_sentence(world: World, tmp_path: Path) -> None:
    labelled_project(world)

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    target = tmp_path / "out" / "backup.jsonl"
    target.parent.mkdir()
    words = [sys.executable, "-m", "topkit", "label", "backup", str(target)]
    done = subprocess.run(
        [*words, "--database", str(tmp_path / "labels.db")],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=small_disk,
    )
    assert done.returncode == 1
    assert "cannot write the file" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(target.parent.iterdir()) == []  # nothing half-written
