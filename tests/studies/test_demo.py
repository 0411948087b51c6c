"""The demo, whole: a newcomer's first five minutes must not fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from topkit.studies import demo


def test_the_data_that_comes_with_the_package() -> None:
    data = demo.demo_data()
    assert (data.n_queries, len(data), data.n_features) == (29, 406, 15)
    assert data.names_of_documents()[0] == "copy.copy"


@pytest.mark.slow
def test_the_story_from_labels_to_report(tmp_path: Path) -> None:
    said: list[str] = []
    path = demo.run_demo(tmp_path / "out", seed=0, say=said.append)
    assert path.read_text().startswith("<!doctype html>")
    story = "\n".join(said)
    for name in (demo.BASELINE, *demo.RANKERS):
        assert f"\n{name}" in story
    assert "convention yahoo" in story
    assert "preferences" in story
