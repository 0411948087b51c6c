"""The main paths in Firefox: judging by keyboard, documents, remarks, the dashboard of a manager."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.firefox import Firefox, firefox_path
from tests.support.web_live import LiveWorld
from tests.support.web_world import tasks
from topkit.web.guard import COOKIE
from topkit.web.settings import Settings

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(firefox_path() is None, reason="Firefox is not installed"),
]
SEQ = "document.getElementById('tool').dataset.seq"


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    folder = tmp_path / "profile"
    folder.mkdir()
    with Firefox(folder) as opened:
        yield opened


def test_judging_and_managing_in_firefox(tmp_path: Path, firefox: Firefox) -> None:
    with LiveWorld(Settings(str(tmp_path / "labels.db"))) as world:
        ann = world.person("ann")
        project = world.project(ann, instructions="Prefer **wings**.")
        long = json.dumps({"id": "d1", "title": "Paper 1", "text": "Cooling the wing.\n\n" * 200})
        world.admin.upload(f"/api/projects/{project}/documents", long, "x.jsonl")
        firefox.open(f"{world.address}/login")
        firefox.add_cookie(COOKIE, ann.cookie)
        firefox.open(f"{world.address}/label/{tasks(ann)[0]}")
        firefox.wait(f"{SEQ} === '0'")
        firefox.wait("document.querySelector('#frame-a iframe').contentDocument.querySelector('mark')")
        firefox.press("ArrowLeft")
        firefox.wait(f"{SEQ} === '1'")
        firefox.click("#frame-a iframe")  # the keys still answer after a click into a document
        firefox.press("ArrowRight")
        firefox.wait(f"{SEQ} === '2'")
        firefox.press("u")
        firefox.wait(f"{SEQ} === '3'")
        firefox.press("s")
        firefox.wait(f"{SEQ} === '4'")
        firefox.press("f")
        firefox.wait("document.getElementById('notice').textContent.includes('admins will see')")
        firefox.press("g")
        firefox.wait("document.querySelector('#guide strong').textContent === 'wings'")
        number = next(
            row["id"]
            for row in world.admin.get(f"/api/projects/{project}/documents").json()["documents"]
            if row["key"] == "d1"
        )
        firefox.run(f"showDocument('a', {{id: {number}, key: 'd1', title: 'x', kind: 'text'}})")
        firefox.wait(
            "document.querySelector('#frame-a iframe').contentDocument.body.textContent.length > 999"
        )
        firefox.press("PageDown")
        firefox.wait("document.querySelector('#frame-a iframe').contentWindow.scrollY > 20")
        firefox.add_cookie(COOKIE, world.admin.cookie)
        firefox.open(f"{world.address}/projects/{project}")
        firefox.wait("document.getElementById('live').dataset.updates > 0")
        firefox.open(f"{world.address}/projects/{project}/quality")
        assert firefox.run("return document.querySelectorAll('#remarks tr').length") == 2
        firefox.run("document.querySelector('#remarks button').click()")
        firefox.wait("!document.querySelector('#remarks button')")
