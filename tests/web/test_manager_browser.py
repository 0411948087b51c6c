"""A manager in a browser: cards, the live dashboard, adjudication, gold questions, programs, learning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.web_live import LiveWorld, violations
from tests.support.web_world import ORDER, Actor, entry, label_all, tasks
from topkit.labelling import SimulatedAssessor
from topkit.web.settings import Settings

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveWorld]:
    folder = tmp_path_factory.mktemp("web")
    with LiveWorld(Settings(str(folder / "labels.db"), models=True, exports=folder / "exports")) as created:
        yield created


@pytest.fixture(scope="module")
def people(world: LiveWorld) -> list[Actor]:
    return [world.person("ann"), world.person("bob")]


@pytest.fixture(scope="module")
def project(world: LiveWorld, people: list[Actor]) -> int:
    """Two assessors who disagree about the first two documents of the first topic."""
    number = world.project(*people, name="Wings")
    for actor, order in zip(people, (ORDER, [ORDER[1], ORDER[0], *ORDER[2:]]), strict=True):
        label_all(actor, tasks(actor)[0], SimulatedAssessor.of_order("x", order))
    return number


@pytest.fixture(scope="module")
def page(world: LiveWorld, browser: Browser) -> Page:
    return world.visit(browser, world.admin)


def test_the_card_and_the_live_dashboard(
    world: LiveWorld, page: Page, project: int, people: list[Actor]
) -> None:
    page.goto("/")
    card = page.locator(".tiles .card")
    expect(card.locator("[data-value=labellings]")).to_have_text("2 / 6")
    expect(card.locator("[data-value=people]")).to_have_text("2 / 2")
    assert "%" in card.locator("[data-value=agreement]").inner_text()
    page.goto(f"/projects/{project}")
    page.wait_for_selector("#live[data-updates]")
    before = int(page.locator("#live [data-value=today]").inner_text())
    path = f"/api/labellings/{tasks(people[0])[1]}"
    people[0].post(f"{path}/answers", entry(people[0].get(path).json(), "a"))
    expect(page.locator("#live [data-value=today]")).to_have_text(str(before + 1))
    page.get_by_label("Topic, assessor or status").fill("q2 bob")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#labellings tbody tr, #labellings tr:has(td)")).to_have_count(1)


def test_a_disagreement_is_settled_by_one_click(world: LiveWorld, page: Page, project: int) -> None:
    page.goto(f"/projects/{project}/adjudication")
    pair = page.locator("[data-pair]")
    expect(pair).to_have_count(1)
    pair.get_by_label("Why").fill("It answers the query.")
    pair.get_by_label("use as a gold question").check()
    pair.get_by_role("button", name="First is better").click()
    expect(page.get_by_role("heading", name="Everything is settled")).to_be_visible()
    page.get_by_role("link", name="Settled").click()
    expect(page.locator(".settled")).to_contain_text("It answers the query.")
    expect(page.locator(".settled")).to_contain_text("root")
    page.get_by_role("button", name="Withdraw the decision").click()
    expect(page.get_by_role("link", name="Open")).to_contain_text("1")
    page.goto("/audit")
    expect(page.get_by_text("Settle a pair of documents").first).to_be_visible()


def test_gold_questions_on_the_page(page: Page, project: int, tmp_path: Path) -> None:
    page.goto(f"/projects/{project}/quality")
    page.get_by_label("Share of the questions").select_option("0.1")
    page.get_by_role("button", name="Set the share").click()
    expect(page.get_by_role("status")).to_contain_text("10 %")
    file = tmp_path / "gold.csv"
    file.write_text(f"topic,a,b,answer\nq1,{ORDER[0]},{ORDER[-1]},a\nq1,{ORDER[1]},{ORDER[-1]},b\n")
    page.get_by_text("Import a file").click()
    page.get_by_label("CSV with the columns").set_input_files(file)
    page.get_by_role("button", name="Import gold questions").click()
    expect(page.get_by_role("status")).to_contain_text("2 new")
    expect(page.locator("#scores")).to_contain_text("ann")
    assert violations(page) == []
    page.get_by_role("button", name="Remove the gold question q1").first.click()
    expect(page.get_by_role("status")).to_contain_text("was removed")


def test_tokens_webhooks_schedules_and_models(page: Page, project: int) -> None:
    page.goto("/tokens")
    page.get_by_label("Name").fill("nightly")
    page.get_by_label("label: answer questions").check()
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("status")).to_contain_text("topkit_")
    assert violations(page) == []
    page.reload()
    expect(page.get_by_role("cell", name="read label")).to_be_visible()
    page.goto(f"/projects/{project}/programs")
    page.get_by_label("URL").fill("https://example.org/hook")
    page.get_by_role("button", name="Add webhook").click()
    expect(page.get_by_role("status")).to_contain_text("Copy the secret")
    page.get_by_role("button", name="Add schedule").click()
    expect(page.get_by_role("status")).to_contain_text("on schedule")
    assert violations(page) == []
    page.goto(f"/projects/{project}/models")
    for label, value in (("Name", "small"), ("URL", "http://localhost:1/v1"), ("Model", "m")):
        page.get_by_label(label, exact=label == "Model").fill(value)
    page.get_by_role("button", name="Add the model").click()
    expect(page.get_by_role("cell", name="model:small")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("cell", name="stopped")).to_be_visible()


def test_learning_on_the_page(world: LiveWorld, page: Page, project: int) -> None:
    page.goto(f"/projects/{project}/learning")
    page.get_by_role("button", name="Train a ranker").click()
    expect(page.get_by_role("status").last).to_contain_text("Training")
    world.app.state.learning.wait(project)
    page.reload()
    expect(page.get_by_text("at least 4 complete topics")).to_be_visible()
    assert violations(page) == []


def test_a_picture_is_uploaded_on_the_page(page: Page, project: int, tmp_path: Path) -> None:
    picture, text = tmp_path / "leaf.png", tmp_path / "words.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n and the rest")
    text.write_text("<svg onload=alert(1)>")
    page.goto(f"/projects/{project}/material")
    upload = page.locator("section", has=page.get_by_role("heading", name="Pictures"))
    for file, told in ((picture, "1 picture stored"), (text, "'words.png' is not a picture")):
        upload.get_by_label("PNG, JPEG").set_input_files(file)
        upload.get_by_role("button", name="Upload pictures").click()
        expect(page.get_by_role("status")).to_contain_text(told)
    upload.get_by_text("Names").click()
    expect(upload.get_by_role("listitem")).to_have_text(["leaf.png"])
    assert violations(page) == []


def test_no_page_is_wider_than_a_phone(
    world: LiveWorld, browser: Browser, project: int, people: list[Actor]
) -> None:
    """Tables become blocks with the headings in front of the values."""
    phone = world.visit(browser, world.admin, viewport={"width": 390, "height": 780}, color_scheme="dark")
    topic = world.admin.get(f"/api/projects/{project}/topics").json()[0]["id"]
    parts = ("", "/material", "/agreement", "/adjudication", "/quality", "/learning", "/models", "/programs")
    paths = [f"/projects/{project}{part}" for part in (*parts, "/settings", f"/topics/{topic}")]
    widths = {}
    for path in ("/", "/people", "/audit", "/tokens", "/account", *paths):
        phone.goto(path)
        widths[path] = phone.evaluate("document.documentElement.scrollWidth")
    assert {path: width for path, width in widths.items() if width > 390} == {}
    phone.goto(f"/projects/{project}/settings")
    assert phone.locator("#work td[data-label=Judgments]").first.is_visible()
    assert violations(phone) == []
    phone.context.close()
