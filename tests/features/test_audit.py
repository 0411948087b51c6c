"""The audit on data sets with a known fault and without it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from topkit.cli import command_line
from topkit.data import Dataset, InputError, read_letor
from topkit.features import Document, Index, audit_dataset, build_dataset, build_index

QUERIES, MATCHING, RELEVANT = 12, 1500, 30


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Index, dict[str, dict[str, float]]]:
    """For each query 1,500 documents with its word, of which 30 are relevant: 10 near the top by BM25, 20
    long documents that name the word once, so that they lie beyond the first 1,000."""
    rng = np.random.default_rng(0)
    documents, grades = [], {}
    for q in range(QUERIES):
        relevant_grades = {}
        for i in range(MATCHING):
            relevant = i < RELEVANT
            times = int(rng.integers(4, 7)) if i < 10 else 1 if relevant else int(rng.integers(1, 6))
            length = 20 if i < 10 else 160 if relevant else int(rng.integers(20, 200))
            text = " ".join([f"query{q}"] * times + ["filler"] * length)
            documents.append(Document(f"{q}-{i}", {"text": text}))
            if relevant:
                relevant_grades[f"{q}-{i}"] = 1.0
        grades[f"q{q}"] = relevant_grades
    order = rng.permutation(len(documents))
    shuffled = [documents[i] for i in order]
    return build_index(shuffled, tmp_path_factory.mktemp("index")), grades


def sampled_dataset(corpus: tuple[Index, dict[str, dict[str, float]]], sampling: str) -> Dataset:
    index, grades = corpus
    queries = {f"q{q}": f"query{q}" for q in range(QUERIES)}
    names = "bm25.text,lm_jm.text,length.text,tf.text"
    return build_dataset(index, queries, grades, features=names, sampling=sampling, depth=1000)[0]


def test_top_1000_plus_all_relevant_is_called_out(corpus: tuple[Index, dict[str, dict[str, float]]]) -> None:
    audit = audit_dataset(sampled_dataset(corpus, "top+relevant"), cut=1000)
    assert not audit.passed
    worst = audit.findings[0]
    assert worst.verdict == "problem"
    assert "added below a cut by 'bm25.text'" in worst.text
    bm25 = next(single for single in audit.singles if single.feature == "bm25.text")
    assert bm25.reverse > bm25.forward > audit.random
    assert "12 of 12 queries (100%) have relevant documents below rank 1,000 by 'bm25.text'" in str(audit)
    assert "do not compare" in str(audit)


@pytest.mark.parametrize("sampling", ["p+top", "top", "matching"])
def test_the_other_samplings_pass(corpus: tuple[Index, dict[str, dict[str, float]]], sampling: str) -> None:
    audit = audit_dataset(sampled_dataset(corpus, sampling))
    assert audit.passed, str(audit)
    bm25 = next(single for single in audit.singles if single.feature == "bm25.text")
    assert bm25.forward > bm25.reverse


def test_a_feature_that_counts_down_is_not_a_bias(ragged: Dataset) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    X = np.stack([-y + rng.normal(size=400), rng.normal(size=400)], axis=1)
    audit = audit_dataset(Dataset.build(X, y, np.repeat(np.arange(20), 20), feature_names=["depth", "noise"]))
    assert audit.passed
    assert "'depth' with smaller values first" in str(audit)


def judged_only(names: list[str]) -> Dataset:
    """Judged documents whose irrelevant ones came from the top of BM25, the relevant ones from elsewhere."""
    rng = np.random.default_rng(3)
    y = np.tile(np.repeat([1.0, 0.0], [10, 20]), 20)
    bm25 = np.where(y > 0, rng.normal(5, 2, 600), rng.normal(9, 2, 600))
    noise = rng.normal(size=600)
    order = np.lexsort((rng.random(600), np.repeat(np.arange(20), 30)))  # the file order says nothing
    X = np.stack([bm25, noise], axis=1)[order]
    return Dataset.build(X, y[order], np.repeat(np.arange(20), 30), feature_names=names)


@pytest.mark.parametrize("name", ["bm25.text", "1"])
def test_a_feature_that_is_far_better_reversed_is_called_out(name: str) -> None:
    data = judged_only([name, "noise"])
    audit = audit_dataset(data)
    bm25 = audit.singles[0]
    assert bm25.reverse > 0.85 > 0.35 > bm25.forward
    assert not audit.passed
    worst = audit.findings[0]
    assert worst.verdict == "problem"
    assert worst.text.startswith(f"{name!r} ({bm25.reverse:.3f}, not reversed {bm25.forward:.3f}) ranks far")
    assert audit_dataset(data, falling=[name]).passed
    with pytest.raises(InputError, match="no feature 'bm52'"):
        audit_dataset(data, falling=["bm52"])


def test_lengths_and_depths_are_expected_to_fall() -> None:
    assert audit_dataset(judged_only(["length.body", "noise"])).passed
    assert audit_dataset(judged_only(["url_depth", "noise"])).passed
    assert not audit_dataset(judged_only(["strengths", "noise"])).passed


def test_leaks_constants_duplicates_and_empty_queries() -> None:
    rng = np.random.default_rng(2)
    y = np.tile([1.0, 0.0, 0.0, 0.0, 0.0], 10)  # the relevant document is always the first of the file
    y[45:] = 0
    X = np.column_stack([rng.normal(size=50), np.ones(50), np.repeat(np.arange(10), 5), -y])
    X[2] = X[1]
    ids = [f"d{i}" for i in range(50)]
    ids[7] = ids[6]
    names = ["noise", "one", "query", "leak"]
    data = Dataset.build(X, y, np.repeat(np.arange(10), 5), doc_ids=ids, feature_names=names)
    text = str(audit_dataset(data))
    assert "1 of 10 queries has no relevant document" in text
    assert "1 constant feature in all data: one" in text
    assert "1 constant feature within every query: query" in text
    assert "'leak' alone reaches map" in text
    assert "'order in the file' alone reaches map 1.000" in text
    assert "1 duplicate document id within a query" in text
    assert (
        "2 documents (4.0%) have the same features as another document of their query; 0 of them differ"
        in text
    )


def test_queries_in_two_parts() -> None:
    def part(*queries: tuple[str, str]) -> Dataset:
        rows = [(qid, doc) for qid, docs in queries for doc in docs]
        X = np.random.default_rng(0).normal(size=(len(rows), 2))
        labels = np.arange(len(rows)) % 2
        return Dataset.build(X, labels, [q for q, _ in rows], doc_ids=[d for _, d in rows])

    train = part(("1", "abcde"), ("2", "fghij"), ("3", "klmno"))
    clean = audit_dataset({"train": train, "test": part(("4", "vwxyz"), ("5", "abcxy"))})
    assert any("no query occurs in several parts" in finding.text for finding in clean.findings)
    audit = audit_dataset({"train": train, "test": part(("2", "qrs"), ("9", "abcde"))})
    texts = [finding.text for finding in audit.findings if finding.verdict == "problem"]
    assert "1 query is in more than one part: 2 in train and test" in texts
    assert any("1 in train and 9 in test" in text for text in texts)


def test_nothing_to_rank_and_bad_settings(ragged: Dataset) -> None:
    alike = ragged.with_labels(np.zeros(len(ragged)), ragged.truth)
    assert "no query has both" in str(audit_dataset(alike))
    with pytest.raises(InputError, match="no data set"):
        audit_dataset({})
    with pytest.raises(InputError, match="no feature 'x'"):
        audit_dataset(ragged, cut=3, by="x")


def test_command_and_plot(tmp_path: Path, ragged: Dataset) -> None:
    ragged.to_letor(tmp_path / "a.txt")
    plot = tmp_path / "audit.svg"
    result = CliRunner().invoke(
        command_line(), ["data", "audit", str(tmp_path / "a.txt"), "--plot", str(plot)]
    )
    assert result.exit_code == 0, result.output
    assert "verdict: passed" in result.output
    assert "<svg" in plot.read_text()


@pytest.mark.real_data
def test_letor_sets_pass_with_what_is_known_of_them(real_data: Path) -> None:
    folder = real_data / "MQ2008" / "Fold1"
    audit = audit_dataset({name: read_letor(folder / f"{name}.txt") for name in ("train", "vali", "test")})
    assert audit.passed
    assert "220 of 784 queries have no relevant document" in str(audit)  # as the data's description says
