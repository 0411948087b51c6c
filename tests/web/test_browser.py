"""The app in a real browser: an admin, assessors with keyboards, lost connections, hostile documents."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.driver import (
    PASSWORD,
    Server,
    accept,
    chromium,
    invite,
    label,
    make_project,
    press,
    seq,
    shown,
)
from topkit.labelling import SimulatedAssessor

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ORDER = ["elm", "oak", "fir", "ash", "yew", "bay", "fig", "nut"]
TEXTS = {name: f"The {name} is a tree. Trees cool the streets of a city in summer." for name in ORDER}
QUERIES = {"t1": "trees that cool cities", "t2": "fast growing trees"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(str(tmp_path_factory.mktemp("web") / "labels.db"))
    yield made
    made.stop()


@pytest.fixture(scope="module")
def admin(server: Server, browser: Browser) -> Page:
    page = browser.new_context().new_page()
    accept(page, server.admin_link())
    return page


@pytest.fixture
def outside() -> Iterator[tuple[str, list[str]]]:
    """Another site: its address, and what it was asked for."""
    asked: list[str] = []

    class Note(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        do_POST = do_GET  # noqa: N815 - named by http.server

        def log_message(self, *_: object) -> None:
            pass

    site = ThreadingHTTPServer(("127.0.0.1", 0), Note)
    Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_port}", asked
    site.shutdown()
    site.server_close()


def write_material(folder: Path, documents: list[dict[str, str]] | None = None) -> tuple[Path, Path]:
    topics, texts = folder / "topics.csv", folder / "documents.jsonl"
    told = "".join(f'{key},"{query}","Which text says more about it?"\n' for key, query in QUERIES.items())
    topics.write_text("id,query,description\n" + told)
    chosen = documents or [{"id": name, "title": name, "text": text} for name, text in TEXTS.items()]
    texts.write_text("".join(json.dumps(one) + "\n" for one in chosen))
    return topics, texts


def start(
    server: Server, admin: Page, folder: Path, names: list[str], documents: list[dict[str, str]] | None = None
) -> tuple[str, list[Page]]:
    """A project of two topics, and new assessors who all judge both."""
    browser = admin.context.browser
    assert browser is not None
    pages = []
    for name in names:
        link = invite(admin, server.address, name)
        page = browser.new_context().new_page()
        accept(page, link)
        pages.append(page)
    topics, texts = write_material(folder, documents)
    project = make_project(admin, server.address, f"Trees of {names[0]}", topics, texts, k=3)
    choose(admin, names)
    admin.get_by_label("assessors a topic").fill(str(len(names)))
    admin.get_by_role("button", name="Assign all topics").click()
    admin.wait_for_url(project)
    return project, pages


def choose(admin: Page, names: list[str]) -> None:
    """Check these assessors and no others."""
    for box in admin.locator(".checks label").all():
        box.locator("input").set_checked(box.inner_text().strip() in names)


def judgments(server: Server, name: str) -> list[tuple[str, float]]:
    """What is in the store: answers and seconds, in order."""
    query = """SELECT answer, seconds FROM judgment JOIN labelling ON labelling.id = judgment.labelling
        JOIN person ON person.id = labelling.person WHERE person.name = ? ORDER BY labelling, seq"""
    with sqlite3.connect(server.database) as connection:
        return connection.execute(query, [name]).fetchall()


def open_task(page: Page, address: str, query: str) -> None:
    page.goto(address)
    page.get_by_role("link", name=query).click()
    page.wait_for_selector("#tool[data-seq]")


def test_two_assessors_label_a_topic_by_keyboard(server: Server, admin: Page, tmp_path: Path) -> None:
    project, (ann, bob) = start(server, admin, tmp_path, ["Ann Lee", "Bob"])
    believed = SimulatedAssessor.of_order("ann", ORDER, bad_below=2.5)  # fig and nut are bad

    open_task(ann, server.address, QUERIES["t1"])
    expect(ann.frame_locator("#frame-a iframe").locator("mark").first).to_be_visible()  # query terms
    label(ann, believed, 2)

    wrong = shown(ann)  # a slip of the finger, taken back
    press(ann, "tie")
    ann.keyboard.press("u")
    ann.wait_for_selector('#tool[data-seq="4"]')
    assert shown(ann) == wrong

    ann.keyboard.press("Space")  # the clock stops, documents are hidden, answers are not taken
    expect(ann.get_by_text("The clock is stopped", exact=True)).to_be_visible()
    stood = ann.locator("#clock").inner_text()
    ann.keyboard.press("ArrowLeft")
    ann.wait_for_timeout(1200)
    assert ann.locator("#clock").inner_text() == stood
    assert seq(ann) == 4
    ann.keyboard.press("Space")
    expect(ann.locator("#documents")).to_be_visible()

    ann.reload()  # in the middle: the same question again
    ann.wait_for_selector('#tool[data-seq="4"]')
    assert shown(ann) == wrong
    label(ann, believed)
    expect(ann.get_by_role("heading", name="This topic is done")).to_be_visible()
    assert ann.locator("#result li").all_inner_texts() == ORDER[:3]

    open_task(bob, server.address, QUERIES["t1"])
    label(bob, SimulatedAssessor.of_order("bob", ORDER))
    assert bob.locator("#result li").all_inner_texts() == ORDER[:3]

    admin.goto(project)
    admin.locator("table").get_by_role("link", name="t1").first.click()
    keys = [row.get_attribute("data-key") for row in admin.locator("#top tr[data-key]").all()]
    assert keys == ORDER[:3]
    admin.goto(f"{project}/agreement")
    expect(admin.locator('[data-table="implied"] .overall')).to_have_text("100.0 %")
    found = [row[0] for row in judgments(server, "Ann Lee")]
    assert found.count("undo") == 1
    assert found.count("bad-a") + found.count("bad-b") >= 1

    # an assessor sees only their own work
    mine = bob.url
    ann.goto(mine)
    expect(ann.get_by_text("no such labelling")).to_be_visible()
    ann.goto(project)
    expect(ann.get_by_text("Only admins")).to_be_visible()
    # and signs in again with the password
    ann.goto(f"{server.address}/account")
    ann.get_by_role("button", name="Sign out").click()
    ann.wait_for_url("**/login")
    ann.get_by_label("Name").fill("Ann Lee")
    ann.get_by_label("Password").fill(PASSWORD)
    ann.get_by_role("button", name="Sign in").click()
    expect(ann.get_by_role("heading", name="My work")).to_be_visible()


def test_grades_by_keyboard_and_by_touch(server: Server, admin: Page, tmp_path: Path) -> None:
    browser = admin.context.browser
    assert browser is not None
    link = invite(admin, server.address, "Cem")
    topics, documents = write_material(tmp_path)
    project = make_project(admin, server.address, "Graded trees", topics, documents, k=2, tools="grades")
    phone = browser.new_context(viewport={"width": 390, "height": 780}, has_touch=True).new_page()
    accept(phone, link)
    admin.reload()
    choose(admin, ["Cem"])
    admin.get_by_label("assessors a topic").fill("1")
    admin.get_by_role("button", name="Assign all topics").click()
    admin.wait_for_url(project)
    open_task(phone, server.address, QUERIES["t2"])
    grades = {name: float(4 - place) for place, name in enumerate(ORDER[:5])}
    judge = SimulatedAssessor("cem", grades | dict.fromkeys(ORDER[5:], 0.0))
    label(phone, judge, 4)
    while phone.locator("#documents").is_visible():
        before = seq(phone)
        answer = judge.judge("", shown(phone)).answer
        phone.get_by_role("button", name=answer.capitalize()).tap()
        phone.wait_for_selector(f'#tool[data-seq="{before + 1}"]')
    assert phone.locator("#result li").all_inner_texts() == ORDER[:2]
    for path in ("/", "/account"):
        phone.goto(server.address + path)
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_nothing_is_lost_or_doubled(server: Server, admin: Page, tmp_path: Path) -> None:
    _, (ann,) = start(server, admin, tmp_path, ["Dora"])
    open_task(ann, server.address, QUERIES["t1"])

    # a double click is one judgment
    ann.evaluate("() => { const b = document.querySelector('[data-answer=a]'); b.click(); b.click(); }")
    ann.wait_for_selector('#tool[data-seq="1"]')

    # a lost connection: the judgment waits, the page says so, and it is saved once when the line is back
    ann.context.set_offline(True)
    ann.keyboard.press("ArrowRight")
    expect(ann.locator("#notice")).to_contain_text("connection is lost")
    ann.context.set_offline(False)
    ann.wait_for_selector('#tool[data-seq="2"]')
    expect(ann.locator("#notice")).to_be_hidden()

    # the answer of the server is lost on the way, and the page is closed: it is sent again, and counts once
    ann.route("**/answers", lambda route: (route.fetch(), route.abort()))
    ann.keyboard.press("ArrowRight")
    expect(ann.locator("#notice")).to_contain_text("connection is lost")
    ann.unroute("**/answers")
    ann.reload()
    ann.wait_for_selector('#tool[data-seq="3"]')

    # a second tab goes on; the first one is told and shows the open question
    other = ann.context.new_page()
    other.goto(ann.url)
    press(other, "a")
    ann.keyboard.press("ArrowLeft")
    expect(ann.locator("#notice")).to_contain_text("another tab")
    ann.wait_for_selector('#tool[data-seq="4"]')
    assert shown(ann) == shown(other)

    # the back button, and forth again
    ann.go_back()
    ann.go_forward()
    ann.wait_for_selector('#tool[data-seq="4"]')
    press(ann, "a")

    # the server is killed and comes back: the page goes on by itself
    port = server.port
    server.kill()
    ann.keyboard.press("ArrowLeft")
    expect(ann.locator("#notice")).to_contain_text("connection is lost")
    server.start(port)
    ann.wait_for_selector('#tool[data-seq="6"]', timeout=15_000)
    assert len(judgments(server, "Dora")) == 6


def test_a_hidden_tab_does_not_count(server: Server, admin: Page, tmp_path: Path) -> None:
    _, (ann,) = start(server, admin, tmp_path, ["Eve"])
    open_task(ann, server.address, QUERIES["t1"])
    hide = """(state) => {
        Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    ann.evaluate(hide, "hidden")
    ann.wait_for_timeout(2500)
    ann.evaluate(hide, "visible")
    press(ann, "a")
    ann.wait_for_timeout(1500)
    press(ann, "a")
    seconds = [row[1] for row in judgments(server, "Eve")]
    assert seconds[0] < 2.4
    assert seconds[1] > 1.4


HOSTILE = {
    "script": "<script>parent.pwned = 1; top.pwned = 1; fetch('EVIL/a')</script><p>text</p>",
    "handler": """<img src=x onerror="top.pwned = 1"><body onload='top.pwned = 1'>text""",
    "address": """<a id=go href="javascript:top.pwned = 1" target=_top>text</a>
        <iframe src='javascript:top.pwned=1'></iframe>
        <meta http-equiv=refresh content='0;url=EVIL/refresh'>""",
    "drawing": """<svg onload='top.pwned=1'><script>top.pwned=1</script><use href='EVIL/x.svg#a'/></svg>
        <img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='top.pwned=1'/>">""",
    "style": """<style>@import 'EVIL/i.css'; body{background:url(EVIL/b.png)}
        html{position:fixed;inset:0;z-index:9999}</style><link rel=stylesheet href=EVIL/l.css>""",
    "form": """<form action=EVIL/f target=_top><button id=go>text</button></form>
        <base href=EVIL/><object data=EVIL/o></object>
        <embed src=EVIL/e><video src=EVIL/v autoplay></video>""",
}


def test_hostile_documents_are_inert(
    server: Server, admin: Page, tmp_path: Path, outside: tuple[str, list[str]]
) -> None:
    evil, asked = outside
    documents = [
        {"id": name, "title": name, "html": body.replace("EVIL", evil)} for name, body in HOSTILE.items()
    ]
    escaped = "<script>top.pwned=1</script><img src=x onerror=top.pwned=1>"
    documents.append({"id": "words", "title": escaped, "text": escaped})
    _, (ann,) = start(server, admin, tmp_path, ["Gil"], documents)
    dialogs: list[str] = []
    ann.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    open_task(ann, server.address, QUERIES["t1"])
    seen: dict[str, str] = {}
    while ann.locator("#documents").is_visible():
        question = shown(ann)
        for side, name in zip("ab", question, strict=True):
            frame = ann.locator(f"#frame-{side} iframe")
            assert frame.get_attribute("sandbox") == ""
            inside = ann.frame_locator(f"#frame-{side} iframe")
            expect(inside.locator("body")).to_be_attached()
            if inside.locator("#go").count():
                inside.locator("#go").click(no_wait_after=True)
            seen[str(name)] = server.address + (frame.get_attribute("src") or "")
        ann.wait_for_timeout(150)
        assert ann.evaluate("window.pwned") is None
        assert ann.url.startswith(server.address)
        press(ann, "a")  # the keys still reach the page after a click into a document
    assert set(seen) == {*HOSTILE, escaped}
    alone = ann.context.new_page()  # in a window of its own, a document can do no more
    for url in seen.values():
        alone.goto(url)
        alone.wait_for_timeout(50)
        assert alone.url == url
        assert alone.evaluate("window.pwned") is None
    assert not dialogs
    assert asked == []
    control = ann.context.new_page()  # the same document without our frame and policy does run
    control.set_content(HOSTILE["script"].replace("EVIL", evil))
    control.wait_for_timeout(300)
    assert control.evaluate("window.pwned") == 1
    assert asked == ["/a"]


def test_names_for_a_screen_reader(server: Server, admin: Page, tmp_path: Path) -> None:
    _, (ann,) = start(server, admin, tmp_path, ["Flo"])
    open_task(ann, server.address, QUERIES["t1"])
    for frame, side in (("#frame-a iframe", "on the left"), ("#frame-b iframe", "on the right")):
        assert side in (ann.locator(frame).get_attribute("title") or "")
    names = [button.inner_text() for button in ann.get_by_role("button").all()]
    assert all(any(letter.isalpha() for letter in name) for name in names)
    expect(ann.get_by_role("heading", level=1)).to_have_text(QUERIES["t1"])
    press(ann, "a")
    expect(ann.get_by_role("status")).to_contain_text("Question 2")  # spoken politely
    ann.keyboard.press("Tab")  # everything can be reached without a mouse
    reached = set()
    for _ in range(25):
        reached.add(ann.evaluate("document.activeElement.dataset.answer || document.activeElement.tagName"))
        ann.keyboard.press("Tab")
    assert {"a", "b", "tie", "bad-a", "bad-b"} <= reached
