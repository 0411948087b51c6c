"""The demo, whole: a newcomer's first five minutes must not fail."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

import topkit as tk
from topkit.labelling import read_preferences_csv
from topkit.studies import demo
from topkit.studies.demo_data import demo_data, documents, topics


def test_the_data_that_comes_with_the_package() -> None:
    data = demo_data()
    assert (data.n_queries, len(data), data.n_features) == (120, 1680, 8)
    assert data.names_of_documents()[0] == "copy.copy"


def test_questions_and_documents_belong_together() -> None:
    data = demo_data()
    names = {document.id for document in documents()}
    for topic, (qid, rows) in zip(topics(), data, strict=True):
        assert topic.id == qid
        assert topic.description.endswith((".", "?"))
        assert set(topic.relevance) == set(data.names_of_documents()[rows].tolist()) <= names
        grades = dict(zip(data.names_of_documents()[rows].tolist(), data.y[rows].tolist(), strict=True))
        assert {name: int(value) for name, value in topic.relevance.items()} == grades


def test_a_document_that_this_python_lacks_is_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    monkeypatch.delattr(shutil, "copystat")
    (found,) = [document for document in documents() if document.id == "shutil.copystat"]
    assert found.fields["summary"] == "shutil copystat"


@pytest.mark.slow
def test_the_story_from_documents_to_report(tmp_path: Path) -> None:
    said: list[str] = []
    out = tmp_path / "out"
    path = demo.run_demo(out, seed=0, say=said.append)
    page = path.read_text()
    assert page.startswith("<!doctype html>")
    story = "\n".join(said)
    for name in (demo.BASELINE, demo.ALL_FIELDS, *demo.RANKERS, demo.ON_PREFERENCES):
        assert f"\n{name}" in story
    for name in (*demo.RANKERS, demo.ON_PREFERENCES):  # the demo has to convince
        assert re.search(rf"^{name} +\S+▲ +\S+ +\S+▲ +\S+▲$", story, re.MULTILINE), name
    assert len(demo.RANKERS) == 5
    for word in (
        "convention yahoo",
        "heap",
        "adaptive",
        "topkit label serve",
        "with your own data",
        str(path),
    ):
        assert word in story
    for word in (
        "Query by query",
        "Most important features",
        "statistically significant",
    ):
        assert word in page
    assert any(topic.query in page for topic in topics())  # the hardest questions are shown by their words
    judgments, _ = read_preferences_csv(out / "preferences.csv")
    assert {one.assessor for one in judgments.preferences} == {"assessor 1", "assessor 2"}
    labelled = tk.read_parquet(out / "labelled.parquet")
    assert str(labelled.truth) == "top-5"
    with (out / "topics.csv").open(newline="") as stream:
        assert len(list(csv.DictReader(stream))) == 120
    with (out / "documents.csv").open(newline="") as stream:
        shown = {row["id"] for row in csv.DictReader(stream)}
    run = tk.read_run(out / "bm25.run")
    assert {doc for query in run for doc, _ in run[query]} <= shown
