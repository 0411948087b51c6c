"""Long lists, empty pages, the glance at a project, and the languages of the interface."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import topkit.web
from tests.support.web_world import ORDER, World, label_all, tasks
from topkit.labelling import SimulatedAssessor
from topkit.web.dashboard.glance import DAY, _expected_end
from topkit.web.pages.translate import MARKED, languages, texts_of_template
from topkit.web.settings import Settings

WEB = Path(topkit.web.__file__).parent
SAME = {
    "topkit label",
    "topkit",
    "label",
    "tool",
    "B ←",
    "B →",
    "https://",
    "Esc",
    "X₁ \\ X₂",
    "A≻B",
    "A∼B",
    "A≺B",
}
"""Texts that are the same in every language, and the name of a style."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with World(Settings(str(tmp_path_factory.mktemp("web") / "labels.db"))) as created:
        yield created


def test_long_lists_are_paged_sorted_and_searched(world: World) -> None:
    people = [world.person(f"assessor {i:02}") for i in range(10)]
    project = world.project(*people)  # 3 topics × 10 assessors
    first = world.admin.get(f"/projects/{project}").text
    assert first.count("/topics/") == 25
    assert "1 / 2" in first
    assert '<form method="get" role="search"' in first  # a search changes nothing, so it is not posted
    second = world.admin.get(f"/projects/{project}?page=2").text
    assert second.count("/topics/") == 5
    found = world.admin.get(f"/projects/{project}?q=q2+assessor+03").text
    assert found.count("/topics/") == 1
    names = re.findall(r"assessor \d\d(?=</td>)", world.admin.get(f"/projects/{project}?sort=-assessor").text)
    assert names == sorted(names, reverse=True)
    for hostile in ("page=999999999999", "page=-1", "page=x", "sort=__class__", "q=%00%22%3E%3Cscript%3E"):
        shown = world.admin.get(f"/projects/{project}?{hostile}")
        assert shown.status_code == 200
        assert "<script>" not in shown.text.replace('<script type="application/json"', "")


def test_a_long_title_does_not_break_a_table(world: World) -> None:
    ann, bob = world.person("ann " + "x" * 90), world.person("bob")
    project = world.project(ann, bob)
    for actor, order in ((ann, ORDER), (bob, ORDER[::-1])):
        label_all(actor, tasks(actor)[0], SimulatedAssessor.of_order("x", order))
    page = world.admin.get(f"/projects/{project}/adjudication").text
    assert page.count('data-pair="') == 10  # of 28
    css = (WEB / "static" / "app.css").read_text()
    assert re.search(r"td\.long \{[^}]*overflow-wrap: anywhere", css)


def test_empty_pages_say_what_to_do_next(world: World) -> None:
    number = int(world.admin.post("/api/projects", {"name": "empty"}).json()["id"])
    assert "Import topics and documents first" in world.admin.get(f"/projects/{number}").text
    assert "at least two assessors" in world.admin.get(f"/projects/{number}/agreement").text
    assert "as soon as two assessors" in world.admin.get(f"/projects/{number}/adjudication").text
    assert "Add some below" in world.admin.get(f"/projects/{number}/quality").text
    assert "at least four topics" in world.admin.get(f"/projects/{number}/learning").text
    assert "An admin assigns topics" in world.person("new").get("/").text


def test_a_glance_at_a_project(world: World) -> None:
    ann, bob = world.person("gale"), world.person("gus")
    project = world.project(ann, bob)
    label_all(ann, tasks(ann)[0], SimulatedAssessor.of_order("x", ORDER))
    glance = world.admin.get(f"/api/projects/{project}/glance").json()
    assert (glance["complete"], glance["labellings"]) == (1, 6)
    assert (glance["people_today"], glance["people"]) == (1, 2)
    assert glance["today"] == glance["judgments"] > 5
    assert 0 < glance["share"] < 0.5
    assert glance["hours_left"] == pytest.approx(glance["left"] * 1.5 / 3600, rel=0.1)  # 1.5 s per judgment
    assert glance["end"] is not None
    assert f'data-glance="/api/projects/{project}/glance"' in world.admin.get("/?q=project").text


def test_the_expected_end_by_hand() -> None:
    """70 judgments in the last 7 days are 10 per day; 35 are left: 3.5 days after noon of 1 January."""
    now = time.mktime((2026, 1, 1, 12, 0, 0, 0, 0, 0)) - time.timezone
    times = [now - 7 * DAY + i * DAY / 10 for i in range(70)]
    assert _expected_end(times, 35, now) == "2026-01-05"
    assert _expected_end([], 35, now) is None
    assert _expected_end(times, 0, now) is None
    assert _expected_end([now - 10], 1e9, now) is None


@pytest.mark.parametrize("code", [code for code in languages() if code != "en"])
def test_a_language_is_complete_and_keeps_every_value(code: str) -> None:
    language = languages()[code]
    texts = {
        text for path in (WEB / "templates").glob("*.html") for text in texts_of_template(path.read_text())
    }
    needed = {text for text in texts if len(text) > 1 and not text.startswith("http")} - SAME
    assert needed - language.texts.keys() == set()
    script = {text for path in (WEB / "static").glob("*.js") for text in MARKED.findall(path.read_text())}
    assert script - {"{count} left"} - language.script.keys() == set()  # an example in a comment
    for english, translated in language.texts.items():
        values = [sorted(re.findall(r"\{\{\s*(\w+)", text)) for text in (english, translated)]
        assert values[0] == values[1] or '"' in english, english
        assert "<" not in translated
    for english, translated in language.script.items():
        assert sorted(re.findall(r"\{\w+\}", english)) == sorted(re.findall(r"\{\w+\}", translated)), english
    assert all(len(forms) == 2 for forms in language.plurals.values())


def test_the_language_of_a_page(world: World) -> None:
    def heading(accepted: str, cookie: str = "") -> str:
        headers = {"accept-language": accepted, "cookie": f"language={cookie}"}
        return str(world.anonymous.client.get("/login", headers=headers).text)

    assert "<h1>Anmelden</h1>" in heading("fr-FR, de-CH;q=0.8, en;q=0.5")
    assert "<h1>Iniciar sesión</h1>" in heading("de", "es")
    assert "<h1>Sign in</h1>" in heading("xx, *;q=0.1")
    assert "<h1>Sign in</h1>" in heading("", "../../etc/passwd")
    chosen = world.anonymous.get("/language/de")
    assert (chosen.status_code, chosen.headers["location"]) == (303, "/")
    assert "language=de" in chosen.headers["set-cookie"]
    assert "set-cookie" not in world.anonymous.get("/language/nothing").headers


def test_nothing_moves_for_people_who_prefer_reduced_motion() -> None:
    css = (WEB / "static" / "app.css").read_text(encoding="utf-8")
    moving = re.sub(r"@media \(prefers-reduced-motion: no-preference\) \{[^{}]*\{[^{}]*\}\s*\}", "", css)
    assert "transition" in css
    assert not re.search(r"transition|animation|scroll-behavior", moving)
    scripts = "".join(path.read_text(encoding="utf-8") for path in (WEB / "static").glob("*.js"))
    assert not re.search(r'behavior: "smooth"|\.animate\(', scripts)
