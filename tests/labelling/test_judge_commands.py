"""``topkit label judge`` and ``topkit label audit-judge`` as a user types them, with a local endpoint."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chat_server import ChatServer, documents_of, prefers_longer
from tests.support.cli import topkit_here as topkit
from tests.support.judging import judge_words, judging_files, kill_and_resume


@pytest.fixture
def server() -> Iterator[ChatServer]:
    running = ChatServer(prefers_longer)
    yield running
    running.close()


def test_judge_writes_judgments_and_qrels(server: ChatServer, tmp_path: Path) -> None:
    files = judging_files(tmp_path, queries=2, documents=6)
    out, qrels = tmp_path / "judgments.csv", tmp_path / "top.qrels"
    words = judge_words(files, server.url, out)
    dry = topkit(*words, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert dry.stdout.startswith("2 queries: ")
    assert server.requests == []
    assert not out.exists()
    words += ["--prices", "1,2", "--set", "temperature=0.5", "--set", "top_p=1"]
    result = topkit(*words, "--qrels", qrels)
    assert result.returncode == 0, result.stderr
    assert "spent" in result.stdout
    assert server.requests[0]["temperature"] == 0.5
    assert server.requests[0]["top_p"] == 1
    rows = list(csv.DictReader(out.open()))
    assert {row["assessor"] for row in rows} == {"m"}
    texts = {f"q{q}d{d}": "" for q in range(2) for d in range(6)}
    for line in files["docs.jsonl"].read_text().splitlines():
        texts[line.split('"')[3]] = line
    best = {q: max((d for d in texts if d.startswith(q)), key=lambda d: len(texts[d])) for q in ("q0", "q1")}
    top = [line.split() for line in qrels.read_text().splitlines()]
    assert {query: document for query, _, document, grade in top if grade == "3"} == best
    sent = len(server.requests)
    again = topkit(*words)
    assert again.returncode == 0
    assert len(server.requests) == sent  # the cache beside the output
    assert "0 requests" in again.stdout


def test_routing_by_files(server: ChatServer, tmp_path: Path) -> None:
    """The model is unsure about documents with an odd length; people get those questions as a file."""
    files = judging_files(tmp_path, queries=2, documents=6)

    def reply(messages: list[dict[str, str]]) -> str:
        sure = all(len(text) % 2 == 0 for text in documents_of(messages))
        return json.dumps({"answer": prefers_longer(messages), "confidence": 0.95 if sure else 0.6})

    server.reply = reply
    out, questions = tmp_path / "judgments.csv", tmp_path / "people.csv"
    words = [*judge_words(files, server.url, out), "--check", "0", "--ask-people", str(questions)]
    first = topkit(*words)
    assert first.returncode == 0, first.stderr
    asked = list(csv.DictReader(questions.open()))
    assert asked
    assert f"{len(asked)} questions for people; fill the column answer of {questions}" in first.stdout
    with questions.open("w") as stream:
        writer = csv.DictWriter(stream, asked[0])
        writer.writeheader()
        writer.writerows({**row, "answer": "tie", "assessor": "ann"} for row in asked)
    answered = tmp_path / "answered.csv"
    questions.rename(answered)
    second = topkit(*words, "--people", str(answered))
    assert second.returncode == 0, second.stderr
    assessors = [row["assessor"] for row in csv.DictReader(out.open())]
    assert "ann" in assessors
    assert "m" in assessors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--order", "odd"], "unknown order 'odd'"),
        (["--structure", "xml"], "unknown structure 'xml'"),
        (["--prices", "1"], "invalid --prices '1'; write two numbers"),
        (["--budget-money", "1"], "a budget of money needs prices"),
        (["--strategy", "best"], "unknown strategy 'best'"),
        (["--prompt", "missing.toml"], "missing.toml: cannot read the prompt"),
        (
            ["--budget-requests", "3"],
            "the budget of 3 requests is used up; raise the budget",
        ),
    ],
)
def test_judge_names_what_is_wrong(
    server: ChatServer, tmp_path: Path, words: list[str], message: str
) -> None:
    files = judging_files(tmp_path, queries=1, documents=4)
    out = tmp_path / "judgments.csv"
    result = topkit(*judge_words(files, server.url, out), *words)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not out.exists()


def test_missing_documents_and_queries_are_named(server: ChatServer, tmp_path: Path) -> None:
    files = judging_files(tmp_path, queries=1, documents=3)
    words = judge_words(files, server.url, tmp_path / "out.csv")
    files["queries.tsv"].write_text("q7\tother\n")
    assert "queries.tsv: query 'q0' is missing" in topkit(*words).stderr
    files["docs.jsonl"].write_text('{"id": "q0d0", "text": "x"}\n')
    assert "docs.jsonl: 2 of 3 documents are missing, such as 'q0d1'" in topkit(*words).stderr


def test_replies_without_an_answer_end_the_command(server: ChatServer, tmp_path: Path) -> None:
    server.reply = lambda messages: "I'm sorry."
    files = judging_files(tmp_path, queries=1, documents=4)
    result = topkit(*judge_words(files, server.url, tmp_path / "out.csv"))
    assert result.returncode == 1
    assert "replies have no answer that can be understood" in result.stderr


@pytest.mark.slow
def test_a_killed_run_continues(server: ChatServer, tmp_path: Path) -> None:
    server.delay = 0.01
    files = judging_files(tmp_path)
    out = tmp_path / "judgments.csv"
    words = judge_words(files, server.url, out)
    killed = kill_and_resume(server, words, tmp_path / "judgments.csv.replies.jsonl", out, kills=3)
    assert killed.delivered_before == sorted(killed.delivered_before)
    assert killed.asked_again == 0
    assert killed.paid_twice == 0
    whole = tmp_path / "whole.csv"
    result = topkit(*judge_words(files, server.url, whole))
    assert result.returncode == 0, result.stderr

    def bare(text: str) -> list[str]:
        return [line.rpartition(",")[0] for line in text.splitlines()]  # seconds differ

    assert bare(killed.output) == bare(whole.read_text())


def test_audit_of_a_model_of_recorded_answers_and_of_a_simulation(server: ChatServer, tmp_path: Path) -> None:
    files = judging_files(tmp_path, queries=3, documents=5)
    texts = {line.split('"')[3]: len(line) for line in files["docs.jsonl"].read_text().splitlines()}
    lines = ["query,a,b,answer,assessor,seconds"]
    for q in range(3):
        docs = [d for d in texts if d.startswith(f"q{q}d")]
        lines += [
            f"q{q},{a},{b},{'a' if texts[a] > texts[b] else 'b'},ann,5"
            for i, a in enumerate(docs)
            for b in docs[:i]
        ]
    people = tmp_path / "people.csv"
    people.write_text("\n".join(lines) + "\n")
    page = tmp_path / "audit.html"
    shared = ["label", "audit-judge", people, "--documents", files["docs.jsonl"]]
    asked = topkit(
        *[*shared, "--queries", files["queries.tsv"], "--url", server.url, "--model", "m"],
        *["--pairs", "20", "--repeats", "1", "--out", page],
    )
    assert asked.returncode == 0, asked.stderr
    assert "agreement with people" in asked.stdout
    assert len(server.requests) == 40
    assert page.read_text().startswith("<!doctype html>")
    recorded = topkit(*shared, "--recorded", people)
    assert recorded.returncode == 0, recorded.stderr
    simulated = topkit(*shared, "--simulate", "flips=0.1,length=0.02", "--pairs", "25")
    assert simulated.returncode == 0, simulated.stderr
    assert "100 answers about 25 pairs" in simulated.stdout
    for words, message in (
        ([], "there is no judge to audit"),
        (["--simulate", "noise=1"], "unknown fault 'noise'"),
        (["--simulate", "flips=much"], "invalid --simulate"),
    ):
        wrong = topkit("label", "audit-judge", people, *words)
        assert wrong.returncode == 1
        assert message in wrong.stderr
