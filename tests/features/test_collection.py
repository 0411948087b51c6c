"""Test collections: BEIR, MS MARCO, SMART, TREC topics, ir_datasets, Hugging Face."""

from __future__ import annotations

import bz2
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import topkit as tk
from topkit import InputError
from topkit.features import Document

CORPUS = (
    '{"_id": "d1", "title": "Wings", "text": "The lift of a \\"wing\\".", "metadata": {"url": "u"}}\n'
    '{"_id": "d2", "title": "Heat", "text": "Heat transfer.", "metadata": {}}\n'
)
QUERIES = '{"_id": "q1", "text": "wing lift"}\n{"_id": "q2", "text": "heat"}\n{"_id": "q3", "text": "x"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\td2\t1\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    return path


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    write(tmp_path / "corpus.jsonl", CORPUS)
    write(tmp_path / "queries.jsonl", QUERIES)
    write(tmp_path / "qrels" / "test.tsv", QRELS)
    return tmp_path


def test_a_beir_folder_is_read_and_only_judged_queries_are_kept(beir: Path) -> None:
    collection = tk.Collection.from_beir(beir)
    assert collection.queries == {"q1": "wing lift", "q2": "heat"}
    assert collection.judgments.grades_by_query() == {"q1": {"d1": 2}, "q2": {"d2": 1}}
    first, _ = collection.documents
    assert first == Document("d1", {"title": "Wings", "text": 'The lift of a "wing".'})
    assert [document.id for document in collection.documents] == ["d1", "d2"]  # more than once
    shown = f"Collection(documents of {beir / 'corpus.jsonl'}, 2 queries, Judgments(2 queries, 2 grades))"
    assert repr(collection) == shown
    assert tk.evaluate_run(collection, {"q1": {"d2": 2, "d1": 1}, "q2": {"d2": 1}}, ["rr"]).mean["rr"] == 0.75


def test_a_beir_folder_may_be_compressed_and_lacks_are_named(beir: Path) -> None:
    (beir / "corpus.jsonl.bz2").write_bytes(bz2.compress(CORPUS.encode()))
    (beir / "corpus.jsonl").unlink()
    assert len(list(tk.Collection.from_beir(beir).documents)) == 2
    with pytest.raises(InputError, match=r"dev\.tsv: no such file; choose another split: test"):
        tk.Collection.from_beir(beir, split="dev")
    (beir / "queries.jsonl").unlink()
    with pytest.raises(InputError, match=r"queries\.jsonl: no such file; give the folder of a BEIR data set"):
        tk.Collection.from_beir(beir)


def test_a_beir_folder_becomes_a_data_set(beir: Path, tmp_path: Path) -> None:
    collection = tk.Collection.from_beir(beir)
    index = tk.build_index(collection.documents, tmp_path / "index", fields=["title", "text"])
    grades = collection.judgments.grades_by_query()
    names = "bm25.text,bm25.title"
    data, _ = tk.build_dataset(index, collection.queries, grades, features=names, sampling="judged")
    assert data.qids == ("q1", "q2")
    assert data.y.tolist() == [2, 1]


def test_msmarco_files(tmp_path: Path) -> None:
    passages = write(tmp_path / "collection.tsv", '0\tThe presence of "communication".\n1\tA second one\n')
    queries = write(tmp_path / "queries.dev.tsv", "1048585\twhat is paula deen's brother\n2\tx\n")
    qrels = write(tmp_path / "qrels.dev.tsv", "1048585\t0\t1\t1\n2\t0\t0\t1\n")
    collection = tk.Collection.from_files(passages, queries, qrels)
    assert list(collection.documents) == [
        Document("0", {"text": 'The presence of "communication".'}),
        Document("1", {"text": "A second one"}),
    ]
    assert collection.queries["1048585"] == "what is paula deen's brother"
    assert collection.judgments.grades_by_query() == {"1048585": {"1": 1}, "2": {"0": 1}}
    documents = write(tmp_path / "msmarco-docs.tsv", "D1\thttp://a.b\tTitle\tBody text\n")
    expected = Document("D1", {"url": "http://a.b", "title": "Title", "body": "Body text"})
    assert list(tk.read_documents(documents)) == [expected]
    with pytest.raises(InputError, match=r"collection\.tsv:2: expected 2 or 4 columns .*, got 3"):
        list(tk.read_documents(write(tmp_path / "collection.tsv", "0\ttext\n1\tmore\tthings\n")))


def test_tsv_with_a_header_is_still_a_table(tmp_path: Path) -> None:
    path = write(tmp_path / "docs.tsv", "id\ttext\nd1\tone\n")
    assert list(tk.read_documents(path)) == [Document("d1", {"text": "one"})]


def test_smart_collections(tmp_path: Path) -> None:
    write(
        tmp_path / "CISI.ALL", ".I 1\n.T\n18 Editions of\nDewey\n.A\nComaromi\n.W\nThe study.\n.X\n1\t5\t1\n"
    )
    write(tmp_path / "CISI.QRY", ".I 1\n.W\nWhat problems\nare there?\n.I 2\n.W\nHow?\n")
    write(tmp_path / "CISI.REL", "     1     1\t0\t0.000000\n     2     1\t0\t0.000000\n")
    collection = tk.Collection.from_smart(tmp_path)
    (document,) = collection.documents
    assert document.id == "1"
    assert document.fields["title"].split() == ["18", "Editions", "of", "Dewey"]
    assert document.fields["abstract"] == "The study."
    assert collection.queries == {"1": "What problems are there?", "2": "How?"}
    assert collection.judgments.grades_by_query() == {"1": {"1": 1}, "2": {"1": 1}}
    write(tmp_path / "MED.REL", "1 0 13 1\n")
    with pytest.raises(InputError, match=r"expected one file \*rel with the judgments, found 2"):
        tk.Collection.from_smart(tmp_path)


@pytest.mark.real_data
def test_the_cranfield_folder_is_a_smart_collection(real_data: Path) -> None:
    folder = real_data / "cranfield"
    files = folder / "cran.all.1400", folder / "cran.qry", folder / "cranqrel"
    collection = tk.Collection.from_files(*files, judgments_format="cranfield")
    assert sum(1 for _ in collection.documents) == 1400
    assert len(collection.queries) == 225
    with pytest.raises(InputError, match="name the format cranfield"):
        tk.Collection.from_files(*files)


OLD_TOPICS = """
<top>
<head> Tipster Topic Description
<num> Number:  301
<title> Topic: International Organized Crime

<desc> Description:
Identify organizations that participate in
international criminal activity.

<narr> Narrative:
A relevant document must name them.
</top>

<top>
<num> Number: 302
<title> Poliomyelitis &amp; Post-Polio
<desc> Description:
Is polio under control?
</top>
"""
WEB_TOPICS = """<?xml version="1.0"?>
<webtrack2009>
<topic number="1" type="faceted">
  <query>obama family tree</query>
  <description> Find information on
    Obama's family. </description>
  <subtopic number="1" type="nav">Find the TIME magazine essay.</subtopic>
</topic>
<topic number="2"><query>french lick</query></topic>
</webtrack2009>
"""


def test_trec_topics_of_both_kinds(tmp_path: Path) -> None:
    old = write(tmp_path / "topics.301-450", OLD_TOPICS)
    assert tk.read_queries(old) == {
        "301": "International Organized Crime",
        "302": "Poliomyelitis & Post-Polio",
    }
    assert tk.read_queries(old, field="desc")["301"].startswith(
        "Identify organizations that participate in int"
    )
    web = write(tmp_path / "wt09.topics.xml", WEB_TOPICS)
    assert tk.read_queries(web) == {"1": "obama family tree", "2": "french lick"}
    with pytest.raises(InputError, match=r":15: the query has no field 'narr'; it has title, desc"):
        tk.read_queries(old, field="narr")
    with pytest.raises(InputError, match=r":1: the topic that starts here has no </top>"):
        tk.read_queries(write(tmp_path / "cut", "<top>\n<num> Number: 1\n<title> x\n"))
    with pytest.raises(InputError, match="the topic has no number"):
        tk.read_queries(write(tmp_path / "cut", "<top>\n<title> x\n</top>\n"))


def test_json_queries_have_a_text_under_any_usual_name(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", '{"id": 1, "query": "wing"}\n')
    assert tk.read_queries(path) == {"1": "wing"}
    with pytest.raises(InputError, match="the query has no field 'text'; it has body"):
        tk.read_queries(write(tmp_path / "q.jsonl", '{"id": 1, "body": "wing"}\n'))
    assert tk.read_queries(tmp_path / "q.jsonl", field="body") == {"1": "wing"}


def test_a_data_set_of_ir_datasets(tmp_path: Path) -> None:
    ir_datasets = pytest.importorskip("ir_datasets")
    dataset = ir_datasets.create_dataset(
        docs_tsv=str(write(tmp_path / "docs.tsv", "d1\twing lift\nd2\theat\n")),
        queries_tsv=str(write(tmp_path / "queries.tsv", "q1\twing\n")),
        qrels_trec=str(write(tmp_path / "qrels", "q1 0 d1 1\nq1 0 d2 0\n")),
    )
    collection = tk.Collection.from_ir_datasets(dataset)
    assert list(collection.documents) == [
        Document("d1", {"text": "wing lift"}),
        Document("d2", {"text": "heat"}),
    ]
    assert collection.queries == {"q1": "wing"}
    assert collection.judgments.grades_by_query() == {"q1": {"d1": 1, "d2": 0}}
    assert tk.evaluate_run(dataset, {"q1": {"d2": 2, "d1": 1}}, ["rr"]).mean["rr"] == 0.5
    with pytest.raises(InputError, match=r"expected a data set with documents.*, got no docs"):
        tk.Collection.from_ir_datasets(object())


class TrecQuery(NamedTuple):
    query_id: str
    title: str
    description: str


class Doc(NamedTuple):
    doc_id: str
    title: str
    year: int


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class TrecSet:
    """A data set as ir_datasets' documentation describes it, with a query type without ``text``."""

    def docs_iter(self) -> Any:
        return iter([Doc("d", "wing", 1999)])

    def queries_iter(self) -> Any:
        return iter([TrecQuery("7", "wings", "What is a wing?")])

    def qrels_iter(self) -> Any:
        return iter([Qrel("7", "d", 2, "0")])


def test_objects_like_those_of_ir_datasets() -> None:
    collection = tk.Collection.from_ir_datasets(TrecSet())
    assert list(collection.documents) == [Document("d", {"title": "wing"})]
    assert collection.queries == {"7": "wings"}
    assert collection.judgments.grades_by_query() == {"7": {"d": 2}}


ROWS = {
    "corpus": {"_id": ["d1", "d2"], "title": ["Wings", ""], "text": ["lift", "heat"]},
    "queries": {"_id": ["q1", "q2"], "text": ["wing", "heat"]},
    "qrels": {"query-id": ["q1", "q2"], "corpus-id": ["d1", "d2"], "score": [1, 1]},
}


def check_hugging_face(corpus: Any, queries: Any, qrels: Any) -> None:
    collection = tk.Collection.from_datasets(corpus, queries, qrels)
    assert next(iter(collection.documents)) == Document("d1", {"title": "Wings", "text": "lift"})
    assert len(list(collection.documents)) == 2
    assert collection.queries == {"q1": "wing", "q2": "heat"}
    assert collection.judgments.grades_by_query() == {"q1": {"d1": 1}, "q2": {"d2": 1}}


def test_data_sets_of_hugging_face() -> None:
    datasets = pytest.importorskip("datasets", reason="needs Hugging Face's datasets, which is large")
    corpus, queries, qrels = (datasets.Dataset.from_dict(columns) for columns in ROWS.values())
    check_hugging_face(corpus, queries, qrels)
    columns = {"qid": [1, 2, 1], "label": [0, 1, 2], "x": [0.5, 1.5, 2.5]}
    data = tk.Dataset.from_frame(datasets.Dataset.from_dict(columns).select([2, 1]))
    assert data.X.ravel().tolist() == [2.5, 1.5]  # the rows that were selected, not the table behind them
    assert tk.Judgments.from_frame(qrels).grades_by_query() == {"q1": {"d1": 1}, "q2": {"d2": 1}}


def test_lists_of_rows_and_frames_with_the_same_columns() -> None:
    pa = pytest.importorskip("pyarrow")
    corpus, queries = (pa.table(ROWS[name]).to_pylist() for name in ("corpus", "queries"))
    check_hugging_face(corpus, queries, pa.table(ROWS["qrels"]))
    with pytest.raises(InputError, match="expected a column _id or id, got text"):
        tk.Collection.from_datasets(corpus, [{"text": "x"}], pa.table(ROWS["qrels"]))
