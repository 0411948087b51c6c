"""A real server and a real browser, for the browser tests and the screenshots of the docs."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from playwright.sync_api import Browser, Page, expect, sync_playwright

from topkit.labelling import Question, SimulatedAssessor

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PASSWORD = "correct horse battery"  # noqa: S105 - of people who exist for one test
KEYS = {"a": ["ArrowLeft"], "b": ["ArrowRight"], "tie": ["ArrowDown"]}
KEYS |= {"bad-a": ["b", "ArrowLeft"], "bad-b": ["b", "ArrowRight"]}
KEYS |= {name: [str(i)] for i, name in enumerate(("bad", "fair", "good", "excellent", "perfect"), 1)}


class Server:
    """``topkit label serve`` in a separate process."""

    def __init__(self, database: str, port: int = 0, *options: str, errors: IO[str] | None = None) -> None:
        self.database, self.options, self.errors = database, options, errors
        self.address, self.link = "", ""
        self.start(port)

    def start(self, port: int = 0) -> None:
        command = [sys.executable, "-m", "topkit", "label", "serve", "--port", str(port), *self.options]
        self.process = subprocess.Popen(
            [*command, "--database", self.database], stdout=subprocess.PIPE, stderr=self.errors, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        url = re.search(r"http://[\w.:]+", line)
        assert url is not None, line
        self.address = url[0]
        self.port = int(self.address.rsplit(":", 1)[1])

    def admin_link(self) -> str:
        """The one-time link that the first run prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().split()[-1]

    def kill(self) -> None:
        """Kill with SIGKILL."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        if self.process.stdout is not None:
            self.process.stdout.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, or another one that is installed."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path is not None, "install chromium: make browser"
    expect.set_options(timeout=30_000)  # the default of 5 seconds is too short on a busy machine
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def accept(page: Page, link: str) -> None:
    """Join with an invitation link."""
    page.goto(link)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Set password and start").click()
    page.wait_for_url("**/")


def invite(page: Page, address: str, name: str) -> str:
    """Create the link for a new assessor (as admin)."""
    page.goto(f"{address}/people")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Create link").click()
    return page.get_by_label(f"Link for {name}").input_value()


def make_project(
    page: Page, address: str, name: str, topics: Path, documents: Path, k: int, tools: str = "pairs"
) -> str:
    """Create a project with its material (as admin); returns its URL."""
    page.goto(f"{address}/projects/new")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("How many top documents").fill(str(k))
    page.get_by_label("Tools").select_option(tools)
    page.get_by_role("button", name="Create").click()
    page.wait_for_url("**/material")
    for label, button, path in (
        ("CSV, TSV or JSON Lines with id, query", "Import topics", topics),
        ("CSV, TSV or JSON Lines with id, title", "Import documents", documents),
    ):
        page.get_by_label(label).set_input_files(path)
        with page.expect_response(lambda response: response.request.method == "POST"):
            page.get_by_role("button", name=button).click()
        page.get_by_text("already there").wait_for()
    return page.url.removesuffix("/material")


def seq(page: Page) -> int:
    """The sequence number on the page."""
    page.wait_for_selector("#tool[data-seq]")
    return int(page.locator("#tool").get_attribute("data-seq") or 0)


def shown(page: Page) -> Question:
    """The documents on the screen, by title (which equals the key in these tests)."""
    pairs = page.locator("#tool").get_attribute("data-tool") == "pairs"
    return Question(
        page.locator("#title-a").inner_text(), page.locator("#title-b").inner_text() if pairs else None
    )


def press(page: Page, answer: str) -> None:
    """Answer with the keyboard and wait until the answer is saved."""
    before = seq(page)
    for key in KEYS[answer]:
        page.keyboard.press(key)
    page.wait_for_selector(f'#tool[data-seq="{before + 1}"]')


def label(page: Page, judge: SimulatedAssessor, most: int = 10_000) -> int:
    """Answer like the judge with the keyboard, until the topic is complete or ``most`` answers are given."""
    count = 0
    seq(page)
    while count < most and page.locator("#documents").is_visible():
        press(page, judge.judge("", shown(page)).answer)
        count += 1
    return count
