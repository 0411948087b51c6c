"""Sampling of candidates by hand, data sets with their cards, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from topkit.cli import command_line
from topkit.data import InputError, read_letor, read_parquet
from topkit.features import (
    SAMPLING,
    Analyser,
    Document,
    Index,
    NoCandidatesError,
    analyse_queries,
    build_dataset,
    build_index,
    sample,
)

# BM25 for "wing" falls from d0 to d5, as they have the same word once and grow longer; d6 and d7 have none.
TEXTS = ["wing" + " filler" * n for n in range(6)] + ["nothing here", "nothing at all"]
GRADES = {"q": {"d1": 2.0, "d3": 1.0, "d0": 0.0, "d7": 1.0, "gone": 1.0}, "other": {"d6": 0.0}}
EXPECTED = {
    "judged": [0, 1, 3, 7],
    "top": [0, 1],
    "top+relevant": [0, 1, 3, 7],
    "p+top": [0, 1, 2, 3, 4, 5],
    "matching": [0, 1, 2, 3, 4, 5],
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    documents = [Document(f"d{i}", {"text": text}) for i, text in enumerate(TEXTS)]
    return build_index(documents, tmp_path_factory.mktemp("index"), analyser=Analyser())


@pytest.mark.parametrize("strategy", SAMPLING)
def test_sampling_by_hand(index: Index, strategy: str) -> None:
    drawn = sample(index, analyse_queries(index, {"q": "wings"}), GRADES, strategy, depth=2)
    assert drawn.candidates.docs.tolist() == EXPECTED[strategy]
    assert drawn.relevant == 3  # d1, d3, d7
    assert drawn.relevant_kept == len({1, 3, 7} & set(EXPECTED[strategy]))
    assert drawn.queries_beyond == 1
    assert drawn.unknown == 1


def test_p_plus_top_goes_to_the_last_relevant_document_and_on(index: Index) -> None:
    drawn = sample(index, analyse_queries(index, {"q": "wing"}), {"q": {"d1": 1.0}}, "p+top", depth=2)
    assert drawn.candidates.docs.tolist() == [0, 1, 2, 3]  # the last is at place 2, and two more


def test_data_set_and_card(index: Index) -> None:
    queries = {"q": "wing", "empty": "unheard", "other": "nothing"}
    data, card = build_dataset(
        index, queries, GRADES | {"empty": {}}, features="bm25.text,length.text", sampling="matching"
    )
    assert data.qids == ("q", "other")
    assert data.feature_names == ("bm25.text", "length.text")
    assert data.names_of_documents().tolist() == ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"]
    assert data.y.tolist() == [0, 2, 0, 1, 0, 0, 0, 0]
    assert data.X[:6, 1].tolist() == [1, 2, 3, 4, 5, 6]
    assert (np.diff(data.X[:6, 0]) < 0).all()
    assert card.queries_left_out == ("empty",)
    assert card.queries_without_relevant == 1
    assert (card.relevant_judged, card.relevant_kept, card.judged_unknown) == (3, 2, 1)
    assert card.unjudged == 4  # d2, d4, d5; d7 for "other"
    assert "2 of 3 kept" in str(card)


def test_bad_settings(index: Index) -> None:
    queries = analyse_queries(index, {"q": "wing"})
    with pytest.raises(InputError, match="unknown sampling"):
        sample(index, queries, GRADES, "all")
    with pytest.raises(InputError, match="depth"):
        sample(index, queries, GRADES, "top", 0)
    with pytest.raises(NoCandidatesError, match="no query has a candidate"):
        build_dataset(index, {"q": "unheard"}, {"q": {}}, features="bm25.text")
    with pytest.raises(InputError, match="no stream 'title'"):
        build_dataset(index, {"q": "wing"}, {}, features="bm25.title")


def test_build_command(tmp_path: Path) -> None:
    lines = [json.dumps({"id": f"d{i}", "title": "x", "body": text}) for i, text in enumerate(TEXTS)]
    (tmp_path / "docs.jsonl").write_text("\n".join(lines))
    (tmp_path / "q.tsv").write_text("q\twing\nother\tnothing\n")
    (tmp_path / "qrels.txt").write_text("q 0 d1 2\nq 0 d3 1\nother 0 d6 1\n")
    common = ["features", "build", str(tmp_path / "docs.jsonl"), "--queries", str(tmp_path / "q.tsv")]
    common += ["--qrels", str(tmp_path / "qrels.txt"), "--sampling", "matching"]
    parquet, text = tmp_path / "data.parquet", tmp_path / "data.txt"
    meta = tmp_path / "meta.parquet"
    result = CliRunner().invoke(command_line(), [*common, "--out", str(parquet), "--meta", str(meta)])
    assert result.exit_code == 0, result.output
    assert "2 queries, 8 documents" in result.output
    data = read_parquet(parquet)
    assert data.n_features == 45
    card = json.loads((tmp_path / "data.parquet.card.json").read_text())
    assert card["sampling"] == "matching"
    assert card["features"] == list(data.feature_names or ())
    result = CliRunner().invoke(command_line(), [*common, "--out", str(text)])
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(read_letor(text).X, data.X)
    import pyarrow.parquet as pq

    rows = pq.read_table(meta).to_pylist()
    assert len(rows) == 8 * 3  # one term per query, three streams
    first = next(row for row in rows if row["document"] == "d1" and row["stream"] == "body")
    assert (first["query"], first["tf"], first["df"], first["length"], first["corpus_size"]) == (
        "q",
        1,
        6,
        2,
        8,
    )
    assert first["average_length"] == (1 + 2 + 3 + 4 + 5 + 6 + 1 + 1) / 8  # here, at and all are stop words
