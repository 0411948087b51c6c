"""The code blocks of docs/loop.md run, one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.pages import run_page

PAGE = (Path(__file__).parents[2] / "docs" / "loop.md").read_text(encoding="utf-8")


def test_code_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    loop = run_page(PAGE, "loop.md")["loop"]
    assert loop.minutes <= 15
    assert loop.estimate.value > 0.7
