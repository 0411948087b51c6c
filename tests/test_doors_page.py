"""The code blocks of docs/doors.md run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "doors.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore::topkit.compute.NotConverged")
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_code_block_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pandas", "sklearn", "ir_measures"):
        if library in BLOCKS[number]:
            pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], f"docs/doors.md block {number + 1}", "exec"), {})  # noqa: S102
