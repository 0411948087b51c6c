"""Malicious documents in a real browser: no script runs, and no request leaves the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.support.browser import Server, press, shown
from tests.support.web_stage import QUERIES, open_task, start

pytestmark = [pytest.mark.browser, pytest.mark.slow]

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

    def note_and_dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    ann.on("dialog", note_and_dismiss)
    open_task(ann, server.address, QUERIES["t1"])
    seen: dict[str, str] = {}
    while ann.locator("#documents").is_visible():
        question = shown(ann)
        for side, name in zip("ab", question, strict=True):
            frame = ann.locator(f"#frame-{side} iframe")
            assert "allow-scripts" not in (frame.get_attribute("sandbox") or "allow-scripts")
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
    alone = ann.context.new_page()  # in a separate window, the document is blocked too
    for url in seen.values():
        alone.goto(url)
        alone.wait_for_timeout(50)
        assert alone.url == url
        assert alone.evaluate("window.pwned") is None
    assert not dialogs
    assert asked == []
    control = ann.context.new_page()  # the same document without the frame and the policy does run
    control.set_content(HOSTILE["script"].replace("EVIL", evil))
    control.wait_for_timeout(300)
    assert control.evaluate("window.pwned") == 1
    assert asked == ["/a"]


def test_a_page_elsewhere_is_shown_in_the_sandbox(
    server: Server, admin: Page, tmp_path: Path, outside: tuple[str, list[str]]
) -> None:
    address, asked = outside
    documents = [{"id": name, "title": name, "url": f"{address}/{name}"} for name in ("one", "two", "three")]
    _, (ann,) = start(server, admin, tmp_path, ["Hal"], documents)
    open_task(ann, server.address, QUERIES["t1"])
    left, right = shown(ann)
    expect(ann.frame_locator("#frame-a iframe").locator("h1")).to_have_text(f"/{left}")
    expect(ann.frame_locator("#frame-b iframe").locator("h1")).to_have_text(f"/{right}")
    assert ann.evaluate("window.pwned") is None
    assert set(asked) == {f"/{left}", f"/{right}"}
