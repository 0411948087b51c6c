"""The code blocks of docs/loop.md run, one after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "loop.md").read_text(encoding="utf-8")


def test_code_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL), 1):
        exec(compile(block, f"docs/loop.md block {number}", "exec"), names)  # noqa: S102
    assert names["loop"].minutes <= 15
    assert names["loop"].estimate.value > 0.7
