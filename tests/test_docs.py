"""The documentation cannot lag behind the code: pages are written from the dictionaries, and examples run."""

from __future__ import annotations

import contextlib
import doctest
import io
import pkgutil
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

import topkit as tk
from tests.support.pages import blocks_of
from topkit.cli import command_line
from topkit.cli.catalogue import ENTRIES

DOCS = Path(__file__).resolve().parent.parent / "docs"
FOLDERS = {
    "ranker": "rankers",
    "loss": "losses",
    "measure": "measures",
    "strategy": "strategies",
    "fusion method": "aggregators",
    "click model": "click-models",
}
"""Kind of method → the folder of its reference pages."""
SLOW = ("tune-and-mix", "coordinate-ascent", "sortnet", "adaboost-mh", "mcrank", "mallows", "focusedsvm")
"""Methods whose examples may take ten seconds on a busy machine."""


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    sys.path.insert(0, str(DOCS))
    try:
        found: dict[str, str] = import_module("reference").all_pages()
    finally:
        sys.path.remove(str(DOCS))
    return found


def test_every_method_has_a_page_that_says_when_to_use_it(pages: dict[str, str]) -> None:
    for what, entries in ENTRIES.items():
        folder = FOLDERS[what]
        for name, entry in entries().items():
            page = pages[f"{folder}/{name}"]
            assert entry.use, f"{what} {name}: add a paragraph that starts with 'Use it' to its docstring"
            assert entry.use in page
            assert f"[`{name}`]({name}.md)" in pages[f"{folder}/index"]
            for setting in entry.settings.values():
                assert f"| `{setting.name}` |" in page
                assert setting.meaning in page


def test_the_command_says_when_to_use_a_method() -> None:
    done = CliRunner().invoke(command_line(["rankers"]), ["rankers", "ranksvm"])
    assert done.exit_code == 0
    assert ENTRIES["ranker"]()["ranksvm"].use in done.output


def test_every_convention_is_described(pages: dict[str, str]) -> None:
    for name in tk.CONVENTIONS:
        assert f"| `{name}` |" in pages["conventions"]


def test_figures_of_the_guides_are_on_the_pages_of_methods(pages: dict[str, str]) -> None:
    page = pages["rankers/adarank"]
    assert "| AdaRank.NDCG | 0.2312 | 0.231 |" in page or "`python -m bench.svm_boosting topk`" in page
    assert "| (50, 10) | 150.7 |" in pages["strategies/heap"]
    assert "`python -m bench.labelling counts`" in pages["strategies/heap"]
    assert "`agreement`" in pages["aggregators/agreement"]


def test_a_measure_shows_its_value_under_each_convention(pages: dict[str, str]) -> None:
    # labels 0, 3, 1 at ranks 1 to 3, gain 2^y - 1, discount 1/log2(1 + r); ideal 3, 2, 1:
    # (7/log2 3 + 1/log2 4)/(7 + 3/log2 3 + 1/2) = 4.9165/9.3928 = 0.5234
    assert "| 0.5234 | 0.5234 |" in pages["measures/ndcg"]


def examples() -> list[object]:
    """The example of each method; those that take long are marked."""
    return [
        pytest.param(f"{FOLDERS[what]}/{name}", marks=[pytest.mark.slow] if name in SLOW else [])
        for what, entries in ENTRIES.items()
        for name in entries()
    ]


@pytest.mark.filterwarnings("ignore::topkit.compute.NotConverged")
@pytest.mark.parametrize("page", examples())
def test_the_example_of_the_method_runs(page: str, pages: dict[str, str]) -> None:
    (code,) = [block.text for block in blocks_of(pages[page]) if block.language == "python"]
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, page, "exec"), {})  # noqa: S102


def test_every_command_has_help_with_an_example(pages: dict[str, str]) -> None:
    sections = pages["commands"].split("\n## ")[1:]
    assert len(sections) >= 5
    for section in sections:
        assert "Example" in section, section.splitlines()[0]


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = {DOCS / "index.md"}
    open_pages = [DOCS / "index.md"]
    while open_pages:
        page = open_pages.pop()
        if not page.exists() or page.suffix != ".md":
            continue
        for toctree in re.findall(r"```{toctree}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for line in toctree.splitlines():
                if line and not line.startswith(":"):
                    below = (page.parent / line).resolve()
                    found = below.with_name(f"{below.name}.ipynb")
                    found = found if found.exists() else below.with_name(f"{below.name}.md")
                    open_pages += [] if found in listed else [found]
                    listed.add(found)
    written = {
        page
        for page in (*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb"))
        if page.relative_to(DOCS).parts[0] not in ("_build", "reference")
    }
    assert written <= listed, sorted(str(page) for page in written - listed)


MODULES = [info.name for info in pkgutil.walk_packages(tk.__path__, "topkit.") if "__main__" not in info.name]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    module = import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
