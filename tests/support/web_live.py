"""An app of :mod:`tests.support.web_world` on a real port in this process, for browsers."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import axe_playwright_python
import uvicorn
from playwright.sync_api import Browser, Frame, Page

from tests.support.web_world import Actor, World
from topkit.web.guard import COOKIE
from topkit.web.settings import Settings

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
"""The rules of WCAG 2.2 AA that axe can check."""


class LiveWorld(World):
    """A world that browsers can visit at ``address``."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        config = uvicorn.Config(self.app, port=0, lifespan="off", log_level="error", ws="none")
        self.server = uvicorn.Server(config)
        self.app.state.server = self.server

    def __enter__(self) -> Self:
        super().__enter__()
        self._thread = threading.Thread(target=self.server.run, daemon=True)
        self._thread.start()
        while not self.server.started:
            time.sleep(0.02)
        port = self.server.servers[0].sockets[0].getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.should_exit = True
        self._thread.join(20)
        super().__exit__(kind, error, trace)

    def visit(self, browser: Browser, actor: Actor | None, **options: Any) -> Page:
        """A page of a new browser context in which the person is signed in."""
        context = browser.new_context(base_url=self.address, **options)
        if actor is not None:
            context.add_cookies([{"name": COOKIE, "value": actor.cookie, "url": self.address}])
        return context.new_page()


def violations(page: Page | Frame) -> list[str]:
    """What axe finds on a page, as lines "rule: elements"."""
    page.evaluate(AXE)
    found = page.evaluate(
        "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}, iframes: false})", AA
    )
    return [
        f"{rule['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for rule in found["violations"]
        for node in rule["nodes"][:3]
    ]
