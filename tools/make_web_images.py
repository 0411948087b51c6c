"""Takes the screenshots of the labelling app in docs/images: a small project on a desktop and a phone.

Run ``python -m tools.make_web_images`` in the root of the repository. Chromium must be installed.
"""

from __future__ import annotations

import io
import json
import random
import sqlite3
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize
from tests.support.browser import Server, accept, chromium, invite, label, make_project, press, seq
from tests.support.web_live import LiveWorld
from tests.support.web_world import ORDER, Actor, entry, label_all, tasks

from topkit.labelling import Question, SimulatedAssessor
from topkit.web.settings import Settings

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
    texts = [{"id": name.replace(" ", "-"), "title": name, "text": text} for name, text in TREES.items()]
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
    manage(folder)


def manage(folder: Path) -> None:
    """The pages of a manager: cards, gold questions, adjudication, learning, and kinds of documents."""
    with LiveWorld(Settings(str(folder / "managed.db"))) as world, chromium() as browser:
        admin = world.visit(browser, world.admin, viewport=ViewportSize(width=1180, height=760))
        people = [world.person(name) for name in ("Assessor 1", "Assessor 2", "Assessor 3")]
        project = quality_project(world, people)
        learned = learning_project(world, people[0])
        admin.goto("/")
        admin.wait_for_timeout(1500)
        shoot(admin, "cards")
        for path, name in ((f"{project}/quality", "quality"), (f"{project}/adjudication", "adjudication")):
            admin.goto(f"/projects/{path}")
            shoot(admin, name)
        admin.goto(f"/projects/{learned}/learning")
        shoot(admin, "learning")
        page = world.visit(browser, kinds_project(world), viewport=ViewportSize(width=1180, height=640))
        page.goto("/")
        page.locator(".tasks a").first.click()
        page.wait_for_selector("#tool[data-seq]")
        shoot(page, "kinds")


def quality_project(world: LiveWorld, people: list[Actor]) -> int:
    """Three assessors with different opinions and paces, gold questions, a remark and a decision."""
    project = world.project(*people, name="Wing cooling")
    path = f"/api/projects/{project}"
    for a, b in (("d5", "d4"), ("d2", "d6"), ("d8", "d3"), ("d5", "d1"), ("d2", "d7"), ("d1", "d4")):
        for topic in ("q1", "q2", "q3"):
            world.admin.post(
                f"{path}/gold", {"topic": topic, "a": a, "b": b, "answer": "a", "note": "Clear."}
            )
    world.admin.call("PUT", f"{path}/gold-rate", json={"rate": 0.3})
    chance = random.Random(1)
    for number, actor in enumerate(people):
        for labelling in tasks(actor):
            order = ORDER[:]
            for _ in range(4 * number):
                i = chance.randrange(len(order) - 1)
                order[i], order[i + 1] = order[i + 1], order[i]
            judge = SimulatedAssessor.of_order("x", order)
            turn = actor.get(f"/api/labellings/{labelling}").json()
            while turn["question"] is not None:
                seconds = 90.0 if chance.random() < 0.03 else 8 * chance.lognormvariate(-0.125, 0.4)
                body = entry(turn, "", seconds=round(seconds, 2))
                body["answer"] = judge.judge("", Question(body["a"], body["b"])).answer
                turn = actor.post(f"/api/labellings/{labelling}/answers", body).json()["turn"]
    remark = {"a": "d5", "b": "d2", "flagged": True, "text": "Both texts are the same paper."}
    world.admin.post(f"{path}/gold", {"topic": "q1", "a": "d5", "b": "d6", "answer": "a"})
    people[1].post(f"/api/labellings/{tasks(people[1])[0]}/remarks", remark)
    return project


def learning_project(world: LiveWorld, actor: Actor) -> int:
    """Fourteen judged topics whose texts tell which document is better, with some noise."""
    created = world.admin.post("/api/projects", {"name": "Tree notes", "k": 2, "tools": "pairs"})
    project = int(created.json()["id"])
    path = f"/api/projects/{project}"
    words = [
        "oak",
        "elm",
        "fir",
        "ash",
        "yew",
        "bay",
        "fig",
        "nut",
        "box",
        "may",
        "pine",
        "lime",
        "plum",
        "pear",
    ]
    topics = "id,query\n" + "".join(f"t{i},{word}\n" for i, word in enumerate(words))
    world.admin.upload(f"{path}/topics", topics)
    chance = random.Random(3)
    values = {f"t{i}d{j}": (j + chance.random() * 2.5, j) for i in range(len(words)) for j in range(6)}
    rows = [
        {
            "id": key,
            "title": "note",
            "text": " ".join([words[int(key[1:].split("d")[0])]] * n + ["x"] * (9 - n)),
            "topic": key.split("d")[0],
        }
        for key, (_, n) in values.items()
    ]
    world.admin.upload(f"{path}/documents", "".join(json.dumps(row) + "\n" for row in rows), "x.jsonl")
    plan = {"mode": "overlap", "people": [actor.number], "copies": 1}
    world.admin.post(f"{path}/assignments", plan)
    for task in actor.get("/api/tasks").json():
        if task["project"] == "Tree notes":
            own = [key for key in values if key.startswith(f"{task['topic']}d")]
            order = sorted(own, key=lambda key: -values[key][0])
            label_all(actor, task["labelling"], SimulatedAssessor.of_order("x", order))
    world.admin.post(f"{path}/learning", {})
    world.app.state.learning.wait(project)
    return project


def kinds_project(world: LiveWorld) -> Actor:
    """A product card beside a table."""
    actor = world.person("Assessor 4")
    created = world.admin.post("/api/projects", {"name": "Watering", "k": 1, "tools": "pairs"})
    path = f"/api/projects/{created.json()['id']}"
    world.admin.upload(f"{path}/topics", "id,query\nw,watering can for a balcony\n")
    picture = io.BytesIO()
    drawing = Image.new("RGB", (220, 140), "#dbe7dc")
    drawing.paste("#2f6b46", (60, 50, 150, 120))
    drawing.paste("#2f6b46", (150, 60, 195, 72))
    drawing.save(picture, "PNG")
    world.admin.upload(f"{path}/pictures", picture.getvalue(), "can.png")
    rows = [
        {
            "id": "can",
            "title": "Watering can, 9 litres",
            "image": "can.png",
            "price": "19 €",
            "text": "A light can for balconies.",
            "colour": "green",
            "weight": "0.6 kg",
        },
        {"id": "table", "title": "Cans compared", "table": "can,litres,balcony\nsmall,3,yes\nlarge,12,no"},
    ]
    world.admin.upload(f"{path}/documents", "".join(json.dumps(row) + "\n" for row in rows), "x.jsonl")
    world.admin.post(f"{path}/assignments", {"mode": "overlap", "people": [actor.number], "copies": 1})
    return actor


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
