"""Helpers are shared through ``tests.support``, so that test modules can be moved and run on their own."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMPORT = re.compile(r"^\s*(?:from|import) (tests\b[\w.]*)", re.MULTILINE)


def test_only_helpers_of_tests_are_imported() -> None:
    imported = {
        (str(path.relative_to(ROOT)), name)
        for folder in ("tests", "bench", "tools", "docs")
        for path in (ROOT / folder).rglob("*.py")
        for name in IMPORT.findall(path.read_text(encoding="utf-8"))
    }
    assert len(imported) > 20
    assert {(path, name) for path, name in imported if not name.startswith("tests.support")} == set()
