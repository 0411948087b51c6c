"""The code blocks and commands of docs/judges.md run in order, against a local endpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.chat_server import ChatServer, prefers_longer
from tests.support.judging import biased_world
from tests.support.pages import run_page
from topkit.data.judgments import Judgments
from topkit.labelling import write_judgments_csv
from topkit.labelling.judges import Prompt

PAGE = (Path(__file__).parent.parent / "docs" / "judges.md").read_text()


def test_every_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_judgments_csv(Judgments(preferences=tuple(biased_world(1).people)), "people.csv")
    server = ChatServer(prefers_longer)
    try:
        run_page(PAGE.replace("http://localhost:8000/v1", server.url), "judges.md")
    finally:
        server.close()
    assert Prompt.read("prompt.toml").words == {"gleich": "tie"}
    assert Path("top.qrels").read_text().splitlines()[0] == "q1 0 d1 2"
    assert Path("questions.csv").read_text().startswith("query,a,b,answer")
