"""The app in a real browser: an admin, assessors with a keyboard, lost connections, a hidden tab."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import PASSWORD, Server, accept, invite, label, make_project, press, seq, shown
from tests.support.web_stage import ORDER, QUERIES, choose, judgments, open_task, start, write_material
from topkit.labelling import SimulatedAssessor

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_two_assessors_label_a_topic_by_keyboard(server: Server, admin: Page, tmp_path: Path) -> None:
    project, (ann, bob) = start(server, admin, tmp_path, ["Ann Lee", "Bob"])
    judge = SimulatedAssessor.of_order("ann", ORDER, bad_below=2.5)  # fig and nut are bad

    open_task(ann, server.address, QUERIES["t1"])
    expect(ann.frame_locator("#frame-a iframe").locator("mark").first).to_be_visible()  # query terms
    label(ann, judge, 2)

    question = shown(ann)  # answered by mistake, then undone
    press(ann, "tie")
    ann.keyboard.press("u")
    ann.wait_for_selector('#tool[data-seq="4"]')
    assert shown(ann) == question

    ann.keyboard.press("Space")  # the clock stops, documents are hidden, answers are ignored
    expect(ann.get_by_text("The clock is stopped", exact=True)).to_be_visible()
    stopped_at = ann.locator("#clock").inner_text()
    ann.keyboard.press("ArrowLeft")
    ann.wait_for_timeout(1200)
    assert ann.locator("#clock").inner_text() == stopped_at
    assert seq(ann) == 4
    ann.keyboard.press("Space")
    expect(ann.locator("#documents")).to_be_visible()

    ann.reload()  # in the middle: the same question again
    ann.wait_for_selector('#tool[data-seq="4"]')
    assert shown(ann) == question
    label(ann, judge)
    expect(ann.get_by_role("heading", name="This topic is complete")).to_be_visible()
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
    admin.get_by_label("assessors per topic").fill("1")
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

    # a lost connection: the page says so, keeps the judgment and saves it once when the connection is back
    ann.context.set_offline(True)
    ann.keyboard.press("ArrowRight")
    expect(ann.locator("#notice")).to_contain_text("connection is lost")
    ann.context.set_offline(False)
    ann.wait_for_selector('#tool[data-seq="2"]')
    expect(ann.locator("#notice")).to_be_hidden()

    # the reply of the server is lost, and the page is closed: the judgment is sent again and counts once
    ann.route("**/answers", lambda route: (route.fetch(), route.abort()))
    ann.keyboard.press("ArrowRight")
    expect(ann.locator("#notice")).to_contain_text("connection is lost")
    ann.unroute("**/answers")
    ann.reload()
    ann.wait_for_selector('#tool[data-seq="3"]')

    # a second tab continues; the first one explains this and shows the current question
    other = ann.context.new_page()
    other.goto(ann.url)
    press(other, "a")
    ann.keyboard.press("ArrowLeft")
    expect(ann.locator("#notice")).to_contain_text("another tab")
    ann.wait_for_selector('#tool[data-seq="4"]')
    assert shown(ann) == shown(other)

    # back and forward again
    ann.go_back()
    ann.go_forward()
    ann.wait_for_selector('#tool[data-seq="4"]')
    press(ann, "a")

    # the server is killed and restarted: the page continues by itself
    port = server.port
    server.kill()
    ann.keyboard.press("ArrowLeft")
    expect(ann.locator("#notice")).to_contain_text("connection is lost")
    server.start(port)
    ann.wait_for_selector('#tool[data-seq="6"]', timeout=60_000)
    assert len(judgments(server, "Dora")) == 6


def test_a_hidden_tab_does_not_count(server: Server, admin: Page, tmp_path: Path) -> None:
    _, (ann,) = start(server, admin, tmp_path, ["Eve"])
    begun = time.monotonic()
    open_task(ann, server.address, QUERIES["t1"])
    hide = """(state) => {
        Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    ann.evaluate(hide, "hidden")
    ann.wait_for_timeout(2500)
    ann.evaluate(hide, "visible")
    press(ann, "a")
    elapsed = time.monotonic() - begun
    ann.wait_for_timeout(1500)
    press(ann, "a")
    seconds = [row[1] for row in judgments(server, "Eve")]
    assert seconds[0] < elapsed - 2.4  # without the time in which the tab was hidden
    assert seconds[1] > 1.4


def test_names_for_a_screen_reader(server: Server, admin: Page, tmp_path: Path) -> None:
    _, (ann,) = start(server, admin, tmp_path, ["Flo"])
    open_task(ann, server.address, QUERIES["t1"])
    for frame, side in (("#frame-a iframe", "on the left"), ("#frame-b iframe", "on the right")):
        assert side in (ann.locator(frame).get_attribute("title") or "")
    names = [button.inner_text() for button in ann.get_by_role("button").all()]
    assert all(any(letter.isalpha() for letter in name) for name in names)
    expect(ann.get_by_role("heading", level=1)).to_have_text(QUERIES["t1"])
    press(ann, "a")
    expect(ann.get_by_role("status")).to_contain_text("Question 2")  # for screen readers
    ann.keyboard.press("Tab")  # everything can be reached without a mouse
    reached = set()
    for _ in range(25):
        reached.add(ann.evaluate("document.activeElement.dataset.answer || document.activeElement.tagName"))
        ann.keyboard.press("Tab")
    assert {"a", "b", "tie", "bad-a", "bad-b"} <= reached
