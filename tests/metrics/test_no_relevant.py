"""Queries without a relevant document: how many there are, and what the convention gives them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import topkit as tk
from topkit.cli import command_line
from topkit.data import Dataset, Grade, Judgments, Preference, Run

LINES = "1 qid:a 1:0\n0 qid:a 1:0\n0 qid:b 1:0\n0 qid:c 1:0\n"


def data() -> Dataset:
    return Dataset.build([[0.0]] * 4, [1, 0, 0, 0], ["a", "a", "b", "c"])


@pytest.mark.parametrize(("convention", "value"), [("yahoo", "1"), ("trec", "0")])
def test_an_evaluation_says_how_many_and_what_they_count(convention: str, value: str) -> None:
    e = tk.evaluate(data(), [4.0, 3.0, 2.0, 1.0], "ndcg@1", convention)
    assert e.without_relevant == 2
    assert "2 of 3 queries have no relevant document: NDCG, AP" in str(e)
    assert f"0/0 count {value}, the others 0" in str(e)


def test_the_smallest_relevant_grade_decides() -> None:
    """mslr counts grades from 2 as relevant, so query a has no relevant document either."""
    assert tk.evaluate(data(), [4.0, 3.0, 2.0, 1.0], "p@1", "mslr").without_relevant == 3


def test_nothing_is_said_if_every_query_has_one() -> None:
    e = tk.evaluate(data().select([0]), [1.0, 2.0], "ndcg@1")
    assert e.without_relevant == 0
    assert "no relevant document:" not in str(e).splitlines()[-1].split("convention")[0]
    assert e.remark == ""


def test_relevant_documents_that_were_not_returned_count() -> None:
    judged = Judgments((Grade("q", "a", 0), Grade("q", "b", 1), Grade("r", "a", 0)))
    run = Run.of({"q": [("a", 1.0)], "r": [("a", 1.0)]})
    assert tk.evaluate_run(judged, run, "rr").without_relevant == 1


def test_preferences_have_no_relevant_documents() -> None:
    judged = Judgments(preferences=(Preference("q", "a", "b", "a"),))
    e = tk.evaluate_run(judged, Run.of({"q": [("a", 2.0), ("b", 1.0)]}), "ppref")
    assert e.without_relevant is None
    assert e.remark == ""


def test_the_command_says_it_in_the_note_and_in_json(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text(LINES)
    (tmp_path / "s").write_text("4\n3\n2\n1\n")
    arguments = ["eval", str(tmp_path / "data.txt"), str(tmp_path / "s"), "--metrics", "ndcg@1"]
    printed = CliRunner().invoke(command_line(), arguments)
    assert "2 of 3 queries have no relevant document" in printed.output
    body = json.loads(CliRunner().invoke(command_line(), [*arguments, "--format", "json"]).output)
    assert body["queries"] == {
        "s": {"queries": 3, "queries_without_relevant": 2, "value_without_relevant": 1.0}
    }
