"""The code blocks and commands of docs/judges.md run in order, against a local endpoint."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.chat_server import ChatServer, prefers_longer
from tests.support.cli import topkit_here
from tests.support.judging import biased_world
from topkit.data.judgments import Judgments
from topkit.labelling import write_judgments_csv
from topkit.labelling.judges import Prompt

PAGE = (Path(__file__).parent.parent / "docs" / "judges.md").read_text()


def test_every_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_judgments_csv(Judgments(preferences=tuple(biased_world(1).people)), "people.csv")
    server = ChatServer(prefers_longer)
    commands = 0
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
        text = text.replace("http://localhost:8000/v1", server.url)
        if language == "python":
            exec(compile(text, "docs/judges.md", "exec"), {})  # noqa: S102
        elif language == "toml":
            Path("prompt.toml").write_text(text)
            assert Prompt.read("prompt.toml").words == {"gleich": "tie"}
        else:
            for command, *expected in (part.splitlines() for part in text.split("$ ")[1:]):
                done = topkit_here(*shlex.split(command)[1:])
                assert done.returncode == 0, (command, done.stderr)
                for line in expected:
                    assert line in done.stdout, (command, line, done.stdout)
                commands += 1
    server.close()
    assert commands == 4
    assert Path("top.qrels").read_text().splitlines()[0] == "q1 0 d1 2"
    assert Path("questions.csv").read_text().startswith("query,a,b,answer")
