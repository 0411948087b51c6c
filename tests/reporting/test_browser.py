"""A report opens in a browser only where a person can see it."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path

import pytest

from topkit.reporting.browser import open_in_browser


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    addresses: list[str] = []

    def record(url: str) -> bool:
        addresses.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", record)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    return addresses


def test_it_opens_on_a_terminal_with_a_display(opened: list[str], tmp_path: Path) -> None:
    assert open_in_browser(tmp_path / "a report.html")
    assert opened == [(tmp_path / "a report.html").as_uri()]


def test_it_does_not_open_without_a_display(
    opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY")
    assert not open_in_browser(tmp_path / "report.html")
    assert opened == []


def test_it_does_not_open_in_a_pipe(
    opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert not open_in_browser(tmp_path / "report.html")
    assert opened == []


def test_a_browser_that_fails_is_not_an_error(
    opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(url: str) -> bool:
        raise webbrowser.Error("no browser")

    monkeypatch.setattr(webbrowser, "open", fail)
    assert not open_in_browser(tmp_path / "report.html")
