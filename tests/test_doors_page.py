"""The code blocks of docs/doors.md and docs/formats.md run, section by section, each in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.pages import run_page, sections_of, skip_without_libraries

DOCS = Path(__file__).parent.parent / "docs"
PAGES = {
    (page, title): text
    for page in ("doors.md", "formats.md")
    for title, text in sections_of((DOCS / page).read_text(encoding="utf-8")).items()
}


@pytest.mark.filterwarnings("ignore")  # short training does not converge; PyTerrier warns of pandas
@pytest.mark.parametrize(("page", "title"), list(PAGES))
def test_the_blocks_of_a_section_run(
    page: str, title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKIT_THREADS", "1")
    skip_without_libraries(PAGES[page, title])
    run_page(PAGES[page, title], f"docs/{page}, {title}")
