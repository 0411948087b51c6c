"""The notebooks of the documentation run, and the outputs stored in them are those of this version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.notebooks import executed

NOTEBOOKS = sorted((Path(__file__).parent.parent / "docs" / "notebooks").glob("*.ipynb"))


def printed(cell: Any) -> str:
    """What a cell printed; pictures and tables are not compared, because they depend on library versions."""
    return "".join(output["text"] for output in cell.get("outputs", ()) if output["output_type"] == "stream")


def test_there_are_five() -> None:
    assert len(NOTEBOOKS) == 5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_prints_what_is_stored(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("TOPKIT_THREADS", "1")
    stored = nbformat.read(path, as_version=4)
    fresh = executed(path)
    for before, after in zip(stored.cells, fresh.cells, strict=True):
        assert printed(after) == printed(before), after.source
    assert any(printed(cell) for cell in stored.cells)
    kinds = {
        kind for cell in stored.cells for output in cell.get("outputs", ()) for kind in output.get("data", ())
    }
    assert "image/png" in kinds
