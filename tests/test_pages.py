"""Every code block of the README and of the documentation runs, page by page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.page_files import names_of_page, write_page_files
from tests.support.pages import FENCE, Block, blocks_of, check_commands, run_page, skip_without_libraries

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NOT_WRITTEN_BY_HAND = ("_build", "reference")
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted(DOCS.rglob("*.md"))
        if page.relative_to(DOCS).parts[0] not in NOT_WRITTEN_BY_HAND
    ),
]
SLOW = {"tutorial.md", "studies.md", "tune-and-mix.md", "annotation-manager.md", "researcher.md", "scale.md"}
"""Pages whose blocks take more than ten seconds."""
OWN_TESTS = {
    "doors.md": "test_doors_page.py",
    "formats.md": "test_doors_page.py",
    "judges.md": "test_judges_page.py",
    "loop.md": "loop/test_loop_page.py",
    "results.md": "test_results_and_shell_pages.py",
    "shell.md": "test_results_and_shell_pages.py",
}
"""Pages that need files or a server of their own, and the test that runs their blocks."""


@pytest.fixture(scope="module")
def page_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    write_page_files(folder)
    return folder


def marked(page: Path) -> object:
    name = str(page.relative_to(ROOT))
    return pytest.param(page, id=name, marks=[pytest.mark.slow] if page.name in SLOW else [])


@pytest.mark.filterwarnings("ignore::topkit.compute.NotConverged")
@pytest.mark.filterwarnings("ignore:The line search algorithm did not converge")
@pytest.mark.parametrize("page", [marked(page) for page in PAGES if page.name not in OWN_TESTS])
def test_blocks_of_the_page_run(
    page: Path, page_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.read_text(encoding="utf-8")
    skip_without_libraries(text)
    shutil.copytree(page_files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKIT_THREADS", "1")  # studies then run in this process
    run_page(text, page.name, names_of_page(page.name) if blocks_of(text) else {})


@pytest.mark.parametrize(("page", "test"), OWN_TESTS.items())
def test_pages_left_out_have_a_test(page: str, test: str) -> None:
    assert page in (ROOT / "tests" / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_command_hides_in_a_block_that_is_only_shown(page: Path) -> None:
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        if match[2].strip() in ("", "text"):
            first = match[3].strip().split(" ")[0]
            assert first not in ("topkit", "$", "pip", ">>>"), f"{page.name}: {match[3]}"


def test_the_runner_finds_blocks_and_what_follows_them() -> None:
    page = "# A\n\n```python\nprint(1)\n```\n\n```text\n1\n```\nwords\n```text\n2\n```\n"
    assert blocks_of(page) == [
        Block("python", "print(1)\n", 3, False),
        Block("text", "1\n", 7, True),
        Block("text", "2\n", 11, False),
    ]


def test_the_runner_reports_wrong_output_and_wrong_options() -> None:
    with pytest.raises(AssertionError, match=r"page.md:5"):
        run_page("```python\nprint(1)\n```\n\n```text\n2\n```\n", "page.md")
    check_commands("topkit serve model --port 8080  # a comment\ncurl localhost:8080 | jq .\n", "page")
    with pytest.raises(pytest.fail.Exception, match="No such option"):
        check_commands("topkit serve model --prot 8080", "page")
    with pytest.raises(AssertionError, match="unknown program"):
        check_commands("rm -rf /", "page")
