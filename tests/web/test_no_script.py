"""A browser that runs no scripts: joining and signing in work, other forms say that nothing was changed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import PASSWORD, Server

pytestmark = pytest.mark.slow


def test_a_browser_without_scripts(server: Server, browser: Browser) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    visited: list[str] = []
    page.on("framenavigated", lambda frame: visited.append(frame.url))
    page.goto(server.admin_link())
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Set password and start").click()
    expect(page.get_by_role("heading", name="Projects", exact=True)).to_be_visible()
    page.goto(f"{server.address}/account")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill("a wrong password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The name or the password is wrong.")).to_be_visible()
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"{server.address}/projects/new")
    page.get_by_label("Name", exact=True).fill("never made")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("Nothing was changed.")).to_be_visible()
    page.goto(server.address)
    expect(page.get_by_text("There are no projects yet")).to_be_visible()
    assert not [url for url in visited if "?" in url or "password" in url.lower()]
