"""Judging in a browser: every kind of document, keys, small windows, dark mode, remarks, languages, axe."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.web_live import LiveWorld, violations
from tests.support.web_world import Actor, label_all, tasks
from topkit.labelling import SimulatedAssessor
from topkit.web.settings import Settings

pytestmark = pytest.mark.browser

LONG = "\n\n".join(f"Paragraph {i} about trees that cool the streets of a city." for i in range(80))
KINDS = [
    {"id": "text", "title": "A long text", "text": LONG},
    {"id": "page", "title": "page", "html": '<h1>Trees</h1><p><a id="out" href="OUT/elsewhere">more</a></p>'},
    {
        "id": "markdown",
        "title": "Markdown",
        "markdown": "# Shade\n\n* **cool** trees <script>top.pwned=1</script>\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "![a leaf](leaf.png) ![spy](http://evil.example/x.png) [bad](javascript:top.pwned=1)",
    },
    {"id": "table", "title": "Table", "table": "tree,shade\noak,deep\nbirch,light"},
    {"id": "picture", "title": "A leaf", "image": "leaf.png", "text": "A green leaf."},
    {
        "id": "product",
        "title": "Watering can",
        "image": "leaf.png",
        "price": "19 €",
        "text": "Holds 9 l.",
        "colour": "green",
    },
    {"id": "arabic", "title": "الأشجار", "text": "الأشجار تبرد المدن في الصيف. " * 20},
]


def png() -> bytes:
    """A small green picture."""
    rows = b"".join(b"\0" + b"\x20\x80\x30" * 8 for _ in range(8))

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveWorld]:
    with LiveWorld(Settings(str(tmp_path_factory.mktemp("web") / "labels.db"))) as created:
        yield created


@pytest.fixture(scope="module")
def ann(world: LiveWorld) -> Actor:
    return world.person("ann")


@pytest.fixture(scope="module")
def project(world: LiveWorld, ann: Actor) -> int:
    """A project whose documents are of every kind, judged in pairs."""
    guide = "Prefer texts about **shade**.\n\n*Example:* a text about cooling beats one about fruit."
    body = {"name": "kinds", "k": 2, "tools": "pairs", "instructions": guide}
    number = int(world.admin.post("/api/projects", body).json()["id"])
    path = f"/api/projects/{number}"
    topics = "id,query,description\nk1,trees that cool cities,Which says more?\nk2,second topic,\n"
    assert world.admin.upload(f"{path}/topics", topics).status_code == 201
    lines = "".join(json.dumps(row) + "\n" for row in KINDS).replace("OUT", world.address)
    assert world.admin.upload(f"{path}/documents", lines, "kinds.jsonl").status_code == 201
    assert world.admin.upload(f"{path}/pictures", png(), "leaf.png").status_code == 201
    plan = {"mode": "overlap", "people": [ann.number], "copies": 1}
    assert world.admin.post(f"{path}/assignments", plan).status_code == 201
    return number


@pytest.fixture(scope="module")
def page(world: LiveWorld, browser: Browser, ann: Actor, project: int) -> Page:
    """Ann at work on the first topic."""
    opened = world.visit(browser, ann)
    opened.goto(f"/label/{tasks(ann)[0]}")
    opened.wait_for_selector("#tool[data-seq]")
    return opened


def documents(world: LiveWorld, project: int) -> dict[str, int]:
    rows = world.admin.get(f"/api/projects/{project}/documents").json()["documents"]
    return {row["key"]: row["id"] for row in rows}


def tasks_of(actor: Actor, project: str) -> list[int]:
    return [row["labelling"] for row in actor.get("/api/tasks").json() if row["project"] == project]


def show(page: Page, document: int) -> None:
    """Put a document into the left frame, as the tool does."""
    page.evaluate("id => showDocument('a', {id, key: String(id), title: '', kind: 'text'})", document)
    expect(page.frame_locator("#frame-a iframe").locator("body")).to_be_attached()


def wait_until(page: Page, condition: str) -> None:
    """Wait for a condition; Playwright's own function needs eval, which the policy of the page forbids."""
    for _ in range(100):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


def test_every_kind_of_document_is_shown(world: LiveWorld, page: Page, project: int) -> None:
    ids = documents(world, project)
    inside = page.frame_locator("#frame-a iframe")
    show(page, ids["markdown"])
    expect(inside.locator("li strong mark")).to_have_text("cool")
    expect(inside.locator("td").first).to_have_text("1")
    expect(inside.get_by_text("<script>")).to_be_visible()  # as text
    assert inside.locator("img").count() == 1  # the uploaded one only
    assert inside.locator("a[href^=javascript]").count() == 0
    show(page, ids["table"])
    expect(inside.locator("th").first).to_have_text("tree")
    show(page, ids["picture"])
    assert inside.locator("img").evaluate("image => image.naturalWidth") == 8
    show(page, ids["product"])
    expect(inside.locator(".price")).to_have_text("19 €")
    expect(inside.locator("dt")).to_have_text("colour")
    show(page, ids["arabic"])
    assert inside.locator("pre").evaluate("pre => getComputedStyle(pre).direction") == "rtl"
    assert page.evaluate("window.pwned") is None


def test_a_link_in_a_document_opens_a_new_tab(world: LiveWorld, page: Page, project: int) -> None:
    show(page, documents(world, project)["page"])
    link = page.frame_locator("#frame-a iframe").locator("#out")
    with page.context.expect_page() as opened:
        link.click()
    assert opened.value.url.endswith("/elsewhere")
    assert opened.value.evaluate("window.opener") is None
    opened.value.close()
    expect(page.frame_locator("#frame-a iframe").locator("h1")).to_have_text("Trees")  # still there


def test_documents_scroll_by_keyboard_and_keys_work_after_a_click(
    world: LiveWorld, page: Page, project: int
) -> None:
    show(page, documents(world, project)["text"])
    inside = page.frame_locator("#frame-a iframe")
    top = "() => document.querySelector('#frame-a iframe').contentWindow.scrollY"
    page.locator("#main").focus()
    page.keyboard.press("PageDown")
    wait_until(page, f"({top})() > 50")
    inside.locator("p, pre").first.click(position={"x": 40, "y": 40})
    before = page.locator("#tool").get_attribute("data-seq")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#tool")).not_to_have_attribute("data-seq", str(before))
    # with the keyboard in the frame: it scrolls by itself, and ← still answers
    show(page, documents(world, project)["text"])
    page.wait_for_timeout(150)
    page.evaluate("byTab = true")  # as if the person had reached the frame with Tab
    page.locator("#frame-a iframe").focus()
    page.keyboard.press("End")
    wait_until(page, f"({top})() > 200")
    before = page.locator("#tool").get_attribute("data-seq")
    page.keyboard.press("u")
    expect(page.locator("#tool")).not_to_have_attribute("data-seq", str(before))


def test_skip_flag_comment_guidelines_and_the_overlay(world: LiveWorld, page: Page, project: int) -> None:
    page.reload()
    page.wait_for_selector("#tool[data-seq]")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Shortcuts")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.locator("#notice")).to_contain_text("The admins will see this")
    page.keyboard.press("c")
    page.get_by_label("What should the admins know?").fill("The picture is missing.")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#notice")).to_contain_text("The admins will see this")
    page.keyboard.press("g")
    expect(page.locator("#guide strong")).to_have_text("shade")
    page.reload()
    expect(page.locator("#guide")).to_be_visible()  # it stays open
    before = int(page.locator("#tool").get_attribute("data-seq") or 0)
    page.keyboard.press("s")
    page.wait_for_selector(f'#tool[data-seq="{before + 1}"]')
    texts = [row["text"] for row in world.admin.get(f"/api/projects/{project}/remarks").json()]
    assert sorted(texts) == ["", "The picture is missing."]


@pytest.mark.parametrize(("width", "height"), [(780, 340), (320, 256), (640, 512), (360, 640)])
def test_documents_are_readable_in_small_windows(page: Page, width: int, height: int) -> None:
    """A phone on its side, 400 % and 200 % zoom of 1280 × 1024, and a small phone."""
    page.set_viewport_size({"width": width, "height": height})
    for side in "ab":
        box = page.locator(f"#frame-{side} iframe").bounding_box()
        assert box is not None
        assert box["height"] >= 120
        assert box["width"] >= min(250, width - 70) / (1 if width < 720 else 1.2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("[data-answer=a]").scroll_into_view_if_needed()
    expect(page.locator("[data-answer=a]")).to_be_in_viewport()
    page.set_viewport_size({"width": 1280, "height": 720})


def test_a_server_error_is_told_apart_from_a_lost_connection(page: Page) -> None:
    page.reload()
    page.wait_for_selector("#tool[data-seq]")
    before = int(page.locator("#tool").get_attribute("data-seq") or 0)
    page.route("**/answers", lambda route: route.fulfill(status=503, body="no"))
    page.locator("#main").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#notice")).to_contain_text("server reports an error (503)")
    page.unroute("**/answers")
    page.route("**/answers", lambda route: route.abort())
    expect(page.locator("#notice")).to_contain_text("connection is lost")
    page.unroute("**/answers")
    page.wait_for_selector(f'#tool[data-seq="{before + 1}"]', timeout=20_000)


def test_signing_in_again_returns_to_the_question(
    world: LiveWorld, browser: Browser, ann: Actor, project: int
) -> None:
    person = world.admin.post(f"/api/people/{ann.number}/link").json()["link"].removeprefix("/invite/")
    words = "several words for ann"
    world.anonymous.post("/api/invitations/accept", {"token": person, "password": words})
    again = world.signed_in("ann")
    ann.cookie, ann.csrf = again.cookie, again.csrf
    opened = world.visit(browser, ann)
    path = f"/label/{tasks(ann)[1]}"
    opened.goto(path)
    opened.wait_for_selector("#tool[data-seq]")
    opened.context.clear_cookies()
    opened.keyboard.press("ArrowLeft")
    opened.get_by_role("link", name="Sign in and continue").click()
    opened.get_by_label("Name").fill("ann")
    opened.get_by_label("Password").fill(words)
    opened.get_by_role("button", name="Sign in").click()
    opened.wait_for_url(f"**{path}")
    opened.wait_for_selector('#tool[data-seq="1"]')  # the judgment was kept and sent
    opened.goto("/login?next=//evil.example/")
    assert opened.url == f"{world.address}/"
    opened.context.close()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing_on_any_page(
    world: LiveWorld, browser: Browser, ann: Actor, project: int, scheme: str
) -> None:
    bob = world.person(f"bob {scheme}")
    graded = world.project(ann, bob, tools="grades", name=f"graded {scheme}")
    for actor, order in ((ann, "d1 d2 d3 d4 d5 d6 d7 d8"), (bob, "d8 d7 d6 d5 d4 d3 d2 d1")):
        (number,) = [
            row["labelling"] for row in actor.get("/api/tasks").json() if row["project"] == f"graded {scheme}"
        ][:1]
        grades = {key: float(4 * (i < 2)) for i, key in enumerate(order.split())}
        label_all(actor, number, SimulatedAssessor("x", grades))
    world.admin.post(f"/api/projects/{graded}/gold", {"topic": "q1", "a": "d1", "answer": "perfect"})
    admin = world.visit(browser, world.admin, color_scheme=scheme)
    assessor = world.visit(browser, ann, color_scheme=scheme)
    nobody = world.visit(browser, None, color_scheme=scheme)
    topic = world.admin.get(f"/api/projects/{graded}/topics").json()[0]["id"]
    link = world.admin.post("/api/invitations", {"name": f"zoe {scheme}"}).json()["link"]
    ids = documents(world, project)
    open_grades = [
        row["labelling"] for row in ann.get("/api/tasks").json() if row["project"] == f"graded {scheme}"
    ][1]
    parts = ("", "/material", "/agreement", "/adjudication", "/quality", "/learning", "/models", "/programs")
    own = [f"/projects/{graded}{part}" for part in (*parts, "/settings", f"/topics/{topic}")]
    problems: dict[str, list[str]] = {}
    for visitor, paths in (
        (nobody, ["/login", link]),
        (assessor, ["/", "/account", "/label/999999", f"/label/{tasks(ann)[0]}", f"/label/{open_grades}"]),
        (admin, ["/", "/people", "/audit", "/tokens", "/projects/new", f"/projects/{project}", *own]),
    ):
        for path in paths:
            visitor.goto(path)
            if path.startswith("/label/") and "999999" not in path:
                visitor.wait_for_selector("#tool[data-seq]")
            problems[path] = violations(visitor)
    for kind, number in ids.items():  # without the sandbox, in which axe could not run
        shown = world.admin.get(f"/api/projects/{project}/documents/{number}")
        assessor.set_content(shown.text)
        problems[f"document {kind}"] = violations(assessor)
    for visitor in (admin, assessor, nobody):
        visitor.context.close()
    assert {path: found for path, found in problems.items() if found} == {}
    assert len(problems) > 27


def test_the_pages_in_german(world: LiveWorld, browser: Browser, ann: Actor, project: int) -> None:
    german = world.visit(browser, ann, locale="de-AT")
    german.goto(f"/label/{tasks(ann)[0]}")
    german.wait_for_selector("#tool[data-seq]")
    assert german.locator("html").get_attribute("lang") == "de"
    expect(german.get_by_role("button", name="Links ist besser")).to_be_visible()
    expect(german.locator("#left")).to_contain_text("noch etwa")
    german.goto("/")
    german.get_by_role("link", name="English").click()
    expect(german.get_by_role("heading", name="My work")).to_be_visible()
    german.context.close()
