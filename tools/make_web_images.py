"""Takes the screenshots of the labelling app in docs/images: a small project on a desktop and a phone.

Run ``python -m tools.make_web_images`` in the root of the repository. Chromium must be installed.
"""

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize
from tests.support.browser import Server, accept, chromium, invite, label, make_project, press, seq

from topkit.labelling import SimulatedAssessor

IMAGES = Path(__file__).parent.parent / "docs" / "images"
COLOURS = 96
"""Few colours keep the files small."""
TOPICS = {
    "t1": (
        "trees that cool cities",
        "Which text says more about how trees lower the temperature of streets?",
    ),
    "t2": ("fast growing trees", "Which text helps more to choose a tree that gives shade within ten years?"),
    "t3": (
        "trees for small gardens",
        "Which text helps more to choose a tree for a garden of 100 square metres?",
    ),
}
TREES = {
    "Norway maple": "A dense crown gives deep shade. In one study, streets under maples were 4 degrees "
    "cooler at noon, because trees block the sun and their leaves let water evaporate.",
    "Honey locust": "Light shade, tolerant of salt and drought, and therefore often planted along streets.",
    "London plane": "Large trees with broad leaves. Rows of planes cool a city square by shade and by "
    "evaporation, more than any awning, and they bear hard pruning.",
    "Silver birch": "Grows fast when young, casts little shade, and suits small gardens with poor soil.",
    "Small-leaved lime": "A steady source of shade and of nectar. Its dense crown cools the pavement below.",
    "Ginkgo": "Slow and upright. Yellow in autumn, nearly free of pests, at home in streets everywhere.",
    "Scots pine": "An evergreen of sandy soils, seldom planted in cities.",
    "Hornbeam": "Bears pruning to any shape, which makes it the tree of hedges and small gardens.",
    "Field maple": "A small maple for dry places; cools courtyards where larger trees find no room.",
    "Apple": "Blossom in May, fruit in September; half-standard trees fit most gardens.",
}


def shoot(page: Page, name: str) -> None:
    """Save a screenshot of the window."""
    page.wait_for_timeout(400)
    path = IMAGES / f"web-{name}.png"
    page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size // 1024} KB")


def write_material(folder: Path) -> tuple[Path, Path]:
    topics, documents = folder / "topics.jsonl", folder / "trees.jsonl"
    rows = [
        {"id": key, "query": query, "description": description}
        for key, (query, description) in TOPICS.items()
    ]
    topics.write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = [{"id": name, "title": name, "text": text} for name, text in TREES.items()]
    documents.write_text("".join(json.dumps(row) + "\n" for row in texts))
    return topics, documents


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    topics, documents = write_material(folder)
    server = Server(str(folder / "labels.db"))
    desktop, phone = ViewportSize(width=1180, height=720), ViewportSize(width=390, height=780)
    with chromium() as browser:
        admin = browser.new_context(viewport=desktop).new_page()
        accept(admin, server.admin_link())
        assessors = []
        for name, size in (("Assessor 1", desktop), ("Assessor 2", phone), ("Assessor 3", desktop)):
            page = browser.new_context(viewport=size).new_page()
            accept(page, invite(admin, server.address, name))
            assessors.append(page)
        shoot(admin, "people")
        project = make_project(admin, server.address, "City trees", topics, documents, k=3)
        admin.reload()
        shoot(admin, "material")
        admin.get_by_role("button", name="Assign all topics").click()
        admin.wait_for_url(project)
        graded = make_project(
            admin, server.address, "City trees, graded", topics, documents, k=3, tools="grades"
        )
        admin.get_by_role("button", name="Assign all topics").click()
        admin.wait_for_url(graded)
        orders = [
            list(TREES),
            ["London plane", "Norway maple", *list(TREES)[3:], "Honey locust"],
            list(TREES),
        ]
        for page, order in zip(assessors, orders, strict=True):
            believed = SimulatedAssessor.of_order("x", order, bad_below=1.5)
            for link in page_links(page, server.address):
                page.goto(link)
                seq(page)
                pairs = page.locator("#tool").get_attribute("data-tool") == "pairs"
                name = "phone" if page.viewport_size and page.viewport_size["width"] < 500 else "desktop"
                if pairs and "cities" in page.title():
                    label(page, believed, 4)
                    shoot(page, f"pairs-{name}")
                if pairs:
                    label(page, believed, 10_000 if "gardens" not in page.title() else 3)
                elif name == "desktop":
                    press(page, "good")
                    shoot(page, "grades")
                    break
        spread_times(server.database)
        assessors[0].goto(server.address)
        shoot(assessors[0], "tasks")
        admin.goto(project)
        shoot(admin, "dashboard")
        admin.set_viewport_size(phone)
        shoot(admin, "dashboard-phone")
        admin.set_viewport_size(desktop)
        admin.goto(f"{project}/agreement")
        shoot(admin, "agreement")
        admin.goto(f"{project}/topics/1")
        shoot(admin, "topic")
    server.stop()


def spread_times(database: str) -> None:
    """Replace the times: these assessors answer at once, but people need seconds."""
    chance = random.Random(0)
    with sqlite3.connect(database) as connection:
        for row in connection.execute("SELECT labelling, seq FROM judgment").fetchall():
            seconds = 11 * chance.lognormvariate(-0.125, 0.6)
            connection.execute(
                "UPDATE judgment SET seconds = ? WHERE labelling = ? AND seq = ?", (seconds, *row)
            )


def page_links(page: Page, address: str) -> list[str]:
    """The labellings on the start page of an assessor."""
    page.goto(address)
    links = page.locator(".tasks a").all()
    return [address + (link.get_attribute("href") or "") for link in links]


if __name__ == "__main__":
    main()
