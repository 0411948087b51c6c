"""Reading documents, analysing text, and the index against counts in plain dictionaries."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkit.compute import MissingExtraError
from topkit.data import InputError
from topkit.data.errors import WriteError
from topkit.features import (
    Analyser,
    Document,
    build_index,
    open_index,
    read_cranfield_qrels,
    read_documents,
    read_queries,
)

ODD = "Éléphants—wings' WING_s 3D naïve İstanbul ΑΒΓ x\x00y straße"


def plain_index(documents: list[Document], analyser: Analyser, stream: str) -> list[Counter[str]]:
    def text(document: Document) -> list[str]:
        chosen = document.fields.values() if stream == "whole" else [document.fields.get(stream, "")]
        return [term for part in chosen for term in analyser.terms(part.replace("\0", " "))]

    return [Counter(text(document)) for document in documents]


def check(documents: list[Document], analyser: Analyser, folder: Path) -> None:
    index = build_index(documents, folder, analyser=analyser, fields=["title", "body"])
    assert index.doc_ids.tolist() == [document.id for document in documents]
    for name, stream in index.streams.items():
        counts = plain_index(documents, analyser, name)
        indexed: list[Counter[str]] = [Counter() for _ in documents]
        for term, word in enumerate(index.vocabulary):
            rows = slice(int(stream.ptr[term]), int(stream.ptr[term + 1]))
            assert (np.diff(stream.docs[rows]) > 0).all()
            for doc, count in zip(stream.docs[rows].tolist(), stream.counts[rows].tolist(), strict=True):
                indexed[doc][word] = count
        assert indexed == counts
        assert stream.lengths.tolist() == [sum(count.values()) for count in counts]
        assert stream.distinct.tolist() == [len(count) for count in counts]
        total = sum(counts, Counter())
        assert stream.occurrences.tolist() == [total[word] for word in index.vocabulary]


@pytest.mark.parametrize("analyser", [Analyser(), Analyser(None, frozenset(), r"[\w']+"), Analyser("porter")])
def test_index_against_plain_counts(
    analyser: Analyser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topkit.features.build.BLOCK_CHARACTERS", 60)
    documents = [
        Document("a", {"title": "The winged wings", "body": ODD}),
        Document("b", {"title": "", "body": ""}),
        Document("c", {"title": "wing", "body": "a wing of the Wing, winging" * 3}),
        Document("d", {"body": ODD * 2}),
        Document("e", {"title": "of the", "body": "slip-stream"}),
    ]
    check(documents, analyser, tmp_path)


@given(texts=st.lists(st.tuples(st.text(max_size=30), st.text("ab éÉ-\0\x01", max_size=12)), min_size=1))
def test_index_of_any_text(texts: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    documents = [Document(str(i), {"title": a, "body": b}) for i, (a, b) in enumerate(texts)]
    check(documents, Analyser(None, frozenset({"a"})), tmp_path_factory.mktemp("any"))


def test_many_distinct_tokens_grow_the_table(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(40_000)]
    index = build_index(
        [Document("1", {"t": " ".join(words)})], tmp_path, analyser=Analyser(None, frozenset())
    )
    assert index.vocabulary.tolist() == words
    assert index.stream("whole").distinct.tolist() == [40_000]


def test_the_index_is_the_same_for_any_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topkit.features.build.BLOCK_CHARACTERS", 100)
    documents = [Document(str(i), {"t": f"word{i % 7} other{i} wing"}) for i in range(200)]
    for threads in ("1", "3"):
        monkeypatch.setenv("TOPKIT_THREADS", threads)
        build_index(documents, tmp_path / threads)
    for file in arrays_of(tmp_path / "1").iterdir():
        assert file.read_bytes() == (arrays_of(tmp_path / "3") / file.name).read_bytes()


def test_analyser_stems_as_snowball_does() -> None:
    """Stems of the examples on Snowball's page of the English stemmer."""
    words = "consist consisted consistency consistent knightly knives knock knocking generate generously"
    stems = "consist consist consist consist knight knive knock knock generat generous"
    assert Analyser(stop_words=frozenset()).terms(words) == stems.split()


def test_bad_analysers() -> None:
    with pytest.raises(InputError, match="unknown stemmer language"):
        Analyser("klingon")
    with pytest.raises(InputError, match="invalid token pattern"):
        Analyser(pattern="(")
    with pytest.raises(InputError, match="groups"):
        Analyser(pattern="(a)")


def test_formats(tmp_path: Path) -> None:
    expected = [
        Document("d1", {"title": "One, two", "body": "text"}),
        Document("d2", {"title": "x", "body": ""}),
    ]
    rows = [{"id": d.id, **d.fields} for d in expected]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "a.csv").write_text('id,title,body\nd1,"One, two",text\nd2,x,\n')
    with gzip.open(tmp_path / "a.tsv.gz", "wt") as file:
        file.write("id\ttitle\tbody\nd1\tOne, two\ttext\nd2\tx\t\n")
    (tmp_path / "a.trec").write_text(
        "<DOC>\n<DOCNO> d1 </DOCNO>\n<TITLE>One, two</TITLE><BODY>\ntext\n</BODY>\n</DOC>\n"
        "<DOC>\n<DOCNO>d2</DOCNO>\n<title>x</title>\n<body></body></DOC>\n</DOC>\n"
    )
    for name in ("a.jsonl", "a.csv", "a.tsv.gz"):
        assert list(read_documents(tmp_path / name)) == expected
    assert next(iter(read_documents(tmp_path / "a.trec"))) == expected[0]
    (tmp_path / "cran").write_text(".I 1\n.T\nwings\n.A\nsmith\n.B\nj. ae.\n.W\nwings\nfly .\n.I 2\n.T\nx\n")
    first, second = read_documents(tmp_path / "cran")
    assert first.fields["abstract"].strip() == "fly ."  # the title is not counted twice
    assert second.fields == {"title": "x", "author": "", "source": "", "abstract": ""}


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.jsonl", "{", "invalid JSON"),
        ("a.jsonl", "[1]", "expected a JSON object, got list"),
        ("a.jsonl", '{"title": "x"}', "no id"),
        ("a.csv", "title\nx", "no id column"),
        ("a.csv", "id,title\nx", "expected 2 columns, got 1"),
        ("a", "hello", "cannot be detected"),
        ("a", ".I 1\nhello", "outside of a part"),
        ("a", "<DOC>\n<T>x</T>\n</DOC>", "no <DOCNO>"),
    ],
)
def test_bad_documents(name: str, text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=problem):
        list(read_documents(tmp_path / name))


def test_bad_corpora(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no documents"):
        build_index([], tmp_path)
    with pytest.raises(InputError, match="duplicate document id"):
        build_index([Document("a", {"t": "x"})] * 2, tmp_path)
    with pytest.raises(InputError, match="fields that the first document lacks: u"):
        build_index([Document("a", {"t": "x"}), Document("b", {"u": "x"})], tmp_path)
    with pytest.raises(InputError, match="contains no index"):
        open_index(tmp_path)


def test_queries_and_judgments(tmp_path: Path) -> None:
    (tmp_path / "q.tsv").write_text("1\thigh speed\n\n7\twings\n")
    assert read_queries(tmp_path / "q.tsv") == {"1": "high speed", "7": "wings"}
    (tmp_path / "q.jsonl").write_text('{"id": 3, "text": "wings"}\n')
    assert read_queries(tmp_path / "q.jsonl") == {"3": "wings"}
    (tmp_path / "cran.qry").write_text(".I 001\n.W\nwhat\nwings\n.I 004\n.W\nheat\n")
    assert read_queries(tmp_path / "cran.qry") == {"1": "what wings", "2": "heat"}
    (tmp_path / "qrel").write_text("1 184 2 \n1 29  3\n1 29 1\n2 12 -1\n2 13 5\n")
    assert read_cranfield_qrels(tmp_path / "qrel") == {"1": {"184": 3, "29": 4}, "2": {"12": 0, "13": 0}}


@pytest.mark.real_data
def test_cranfield_is_read_whole(real_data: Path) -> None:
    folder = real_data / "cranfield"
    documents = list(read_documents(folder / "cran.all.1400"))
    assert len(documents) == 1400
    assert documents[0].fields["author"] == "brenckman,m."
    assert len(read_queries(folder / "cran.qry")) == 225
    grades = read_cranfield_qrels(folder / "cranqrel")
    assert len(grades) == 225
    assert grades["1"]["184"] == 3


def test_a_missing_stemmer_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(MissingExtraError, match=r"topkit\[text\]"):
        Analyser()
    assert Analyser(language=None).terms("The wings") == ["wings"]


DOCUMENTS = [
    Document(f"d{i}", {"title": f"wing {i}", "body": f"flow over wing {i % 3}", "url": f"u{i}"})
    for i in range(40)
]


def test_field_names_are_not_file_names(tmp_path: Path) -> None:
    names = ["../x", "/x/y", "a/b", "CON", "title.ptr", "é\udc80"]
    documents = [Document(f"d{i}", dict.fromkeys(names, f"wing {i}")) for i in range(3)]
    index = build_index(documents, tmp_path / "index")
    assert list(index.streams) == [*names, "whole"]
    assert os.listdir(tmp_path) == ["index"]
    assert open_index(tmp_path / "index").stream("../x").lengths.tolist() == [2, 2, 2]


def test_rebuilding_leaves_the_index_of_a_process_that_holds_it(tmp_path: Path) -> None:
    held = build_index(DOCUMENTS, tmp_path)
    ids, docs = held.doc_ids.tolist(), np.array(held.stream("body").docs)
    build_index(DOCUMENTS[:2], tmp_path)
    assert held.doc_ids.tolist() == ids
    assert np.array_equal(held.stream("body").docs, docs)
    assert len(open_index(tmp_path)) == 2
    assert len(os.listdir(tmp_path)) == 2, "the description and one folder of arrays"


@pytest.mark.parametrize(
    "error", [InputError("wrong"), KeyboardInterrupt(), OSError(28, "No space left on device")]
)
def test_a_failed_build_leaves_the_old_index(error: BaseException, tmp_path: Path) -> None:
    def documents() -> Iterator[Document]:
        yield DOCUMENTS[0]
        raise error

    with pytest.raises(type(error) if not isinstance(error, OSError) else WriteError):
        build_index(documents(), tmp_path / "new")
    assert os.listdir(tmp_path) == []
    build_index(DOCUMENTS, tmp_path)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises((InputError, KeyboardInterrupt)):
        build_index(documents(), tmp_path)
    assert sorted(os.listdir(tmp_path)) == before
    assert len(open_index(tmp_path)) == 40


def test_the_rest_of_a_killed_build_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".building-killed").mkdir(parents=True)
    build_index(DOCUMENTS, tmp_path)
    assert not (tmp_path / ".building-killed").exists()


def test_builds_and_readers_at_the_same_time(tmp_path: Path) -> None:
    build_index(DOCUMENTS, tmp_path)
    failures: list[BaseException] = []

    def build(size: int) -> None:
        for _ in range(3):
            build_index(DOCUMENTS[:size], tmp_path)

    def read() -> None:
        for _ in range(60):
            index = open_index(tmp_path)
            assert index.doc_ids.tolist() == [document.id for document in DOCUMENTS[: len(index)]]
            assert len(index.stream("whole").lengths) == len(index)

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(guarded, [lambda: build(10), lambda: build(20), read, read]))
    assert failures == []
    assert len(os.listdir(tmp_path)) == 2


def arrays_of(folder: Path) -> Path:
    (arrays,) = folder.glob("arrays-*")
    return arrays


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("0.docs", np.array([0, 1, 10**6], np.int32)),
        ("0.ptr", np.array([0, -5, 3], np.int64)),
        ("0.lengths", np.zeros(39, np.int32)),
        ("0.counts", np.zeros(3)),
        ("documents.offsets", np.array([0, 10**12], np.int64)),
        ("vocabulary.offsets", np.zeros(0, np.int64)),
        ("urls.bytes", np.zeros((2, 2), np.uint8)),
    ],
)
def test_arrays_that_contradict_each_other(name: str, array: np.ndarray, tmp_path: Path) -> None:
    build_index(DOCUMENTS, tmp_path)
    np.save(arrays_of(tmp_path) / f"{name}.npy", array)
    with pytest.raises(InputError, match=r"the index is damaged .*; build it again"):
        open_index(tmp_path)


def test_document_numbers_out_of_range(tmp_path: Path) -> None:
    """Only the content of one posting is wrong, all sizes are right."""
    docs = np.array(build_index(DOCUMENTS, tmp_path).stream("title").docs)
    for wrong in (-1, 40):
        docs[3] = wrong
        np.save(arrays_of(tmp_path) / "0.docs.npy", docs)
        with pytest.raises(InputError, match=r"0\.docs: a number is out of range"):
            open_index(tmp_path)


def test_every_file_cut_short_missing_or_foreign(tmp_path: Path) -> None:
    build_index(DOCUMENTS, tmp_path)
    for path in arrays_of(tmp_path).iterdir():
        whole = path.read_bytes()
        for content in (
            b"",
            whole[:20],
            whole[:-1],
            b"PK\3\4" + whole,
            whole.replace(b")", b" ", 1),  # a header that is not closed
            b"\x93NUMPY\1\0\xff\xff" + whole[10:],
        ):
            path.write_bytes(content)
            with pytest.raises(InputError, match="damaged"):
                open_index(tmp_path)
        path.unlink()
        with pytest.raises(InputError, match="damaged"):
            open_index(tmp_path)
        path.write_bytes(whole)
    assert len(open_index(tmp_path)) == 40


@pytest.mark.parametrize(
    "change",
    [
        {"format": 1}, {"format": True}, {"arrays": "../elsewhere"}, {"arrays": 3}, {"streams": []},
        {"streams": ["a", "a", "b", "c"]}, {"streams": [1, 2, 3, 4]}, {"streams": 7}, {"analyser": None},
        {"analyser": {"language": "klingon", "stop_words": [], "pattern": "x"}},
        {"analyser": {"language": None, "stop_words": [[]], "pattern": "x"}},
        {"analyser": {"language": None, "stop_words": [], "pattern": 3}},
    ],
    ids=str,
)  # fmt: skip
def test_descriptions_that_are_wrong(change: dict[str, object], tmp_path: Path) -> None:
    build_index(DOCUMENTS, tmp_path)
    path = tmp_path / "index.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError):
        open_index(tmp_path)


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"format": 2}'])
def test_descriptions_that_are_not_descriptions(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "index.json").write_bytes(content)
    with pytest.raises(InputError, match="the index is damaged"):
        open_index(tmp_path)
