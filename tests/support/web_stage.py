"""The start of every browser test: material, a project, signed-in assessors."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from playwright.sync_api import Page

from tests.support.browser import Server, accept, invite, make_project

ORDER = ["elm", "oak", "fir", "ash", "yew", "bay", "fig", "nut"]
TEXTS = {name: f"The {name} is a tree. Trees cool the streets of a city in summer." for name in ORDER}
QUERIES = {"t1": "trees that cool cities", "t2": "fast growing trees"}


def write_material(folder: Path, documents: list[dict[str, str]] | None = None) -> tuple[Path, Path]:
    topics, texts = folder / "topics.csv", folder / "documents.jsonl"
    rows = "".join(f'{key},"{query}","Which text says more about it?"\n' for key, query in QUERIES.items())
    topics.write_text("id,query,description\n" + rows)
    chosen = documents or [{"id": name, "title": name, "text": text} for name, text in TEXTS.items()]
    texts.write_text("".join(json.dumps(document) + "\n" for document in chosen))
    return topics, texts


def start(
    server: Server, admin: Page, folder: Path, names: list[str], documents: list[dict[str, str]] | None = None
) -> tuple[str, list[Page]]:
    """Create a project with two topics, and new assessors who all judge both."""
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
    admin.get_by_label("assessors per topic").fill(str(len(names)))
    admin.get_by_role("button", name="Assign all topics").click()
    admin.wait_for_url(project)
    return project, pages


def choose(admin: Page, names: list[str]) -> None:
    """Select exactly these assessors."""
    for box in admin.locator(".checks label").all():
        box.locator("input").set_checked(box.inner_text().strip() in names)


def judgments(server: Server, name: str) -> list[tuple[str, float]]:
    """The stored answers and seconds, in order."""
    query = """SELECT answer, seconds FROM judgment JOIN labelling ON labelling.id = judgment.labelling
        JOIN person ON person.id = labelling.person WHERE person.name = ? ORDER BY labelling, seq"""
    with sqlite3.connect(server.database) as connection:
        return connection.execute(query, [name]).fetchall()


def open_task(page: Page, address: str, query: str) -> None:
    page.goto(address)
    page.get_by_role("link", name=query).click()
    page.wait_for_selector("#tool[data-seq]")
