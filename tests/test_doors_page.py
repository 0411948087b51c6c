"""The code blocks of docs/doors.md and docs/formats.md run, section by section, each in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sections import run_blocks, sections

PAGES = {(page, title): text for page in ("doors.md", "formats.md") for title, text in sections(page).items()}


@pytest.mark.filterwarnings("ignore")  # short training does not converge; PyTerrier warns of pandas
@pytest.mark.parametrize(("page", "title"), list(PAGES))
def test_the_blocks_of_a_section_run(
    page: str, title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKIT_THREADS", "1")
    run_blocks(PAGES[page, title], f"docs/{page}")
