"""The documentation cannot lag behind the code: pages are written from the dictionaries, and examples run."""

from __future__ import annotations

import doctest
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

import topkit as tk

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    reference = import_module("reference")
    return {name: page() for name, page in reference.PAGES.items()}


def test_every_measure_and_convention_is_described(pages: dict[str, str]) -> None:
    for name in tk.METRICS:
        assert f"| `{name}` |" in pages["measures"]
    for name in tk.CONVENTIONS:
        assert f"| `{name}` |" in pages["conventions"]


def test_every_command_has_help_with_an_example(pages: dict[str, str]) -> None:
    sections = pages["commands"].split("\n## ")[1:]
    assert len(sections) >= 5
    for section in sections:
        assert "Example" in section, section.splitlines()[0]


def test_every_page_is_in_the_table_of_contents() -> None:
    index = (DOCS / "index.md").read_text()
    for page in DOCS.glob("*.md"):
        assert page.stem == "index" or f"\n{page.stem}\n" in index, page.name


MODULES = [info.name for info in pkgutil.walk_packages(tk.__path__, "topkit.") if "__main__" not in info.name]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    module = import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
