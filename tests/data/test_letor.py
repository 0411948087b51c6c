"""LETOR text: what a line means, what is refused and how it is said, and that nothing is silently wrong."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from tests.support.data import datasets
from topkit.data import Dataset, InputError, Strings, Truth
from topkit.data.blocks import CHUNK_BYTES

SMALL = b"""# a header
2 qid:10 1:0.5 2:-1.25e1 3:3 #docid = GX1 inc = 1 prob = 0.02
0\tqid:10  1:.5\t3:7.\r

+1 qid:q11 2:NULL 3:1e-3# just words \t
0 qid:q11 # docid=D9
"""


def write(folder: Path, content: bytes, name: str = "f.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_every_part_of_a_line(tmp_path: Path) -> None:
    ds = tk.read_letor(write(tmp_path, SMALL))
    expected = [[0.5, -12.5, 3], [0.5, 0, 7], [0, np.nan, 0.001], [0, 0, 0]]
    np.testing.assert_array_equal(ds.X, np.array(expected, np.float32))
    assert ds.y.tolist() == [2, 0, 1, 0]
    assert ds.qids == ("10", "q11")
    assert ds.ptr.tolist() == [0, 2, 4]
    assert ds.doc_ids == Strings.of(["GX1", "", "just words", "D9"])
    assert ds.notes == Strings.of(["inc = 1 prob = 0.02", "", "", ""])


def test_labels_alone_agree_with_the_whole(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL)
    light, full = tk.read_letor(path, features=False), tk.read_letor(path)
    assert light == full.features([])


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    assert tk.read_letor(write(tmp_path, gzip.compress(SMALL), "odd-name")) == tk.read_letor(
        write(tmp_path, SMALL)
    )


def test_wider_lines_may_come_later(tmp_path: Path) -> None:
    lines = [f"0 qid:{i // 7} {i % 5 + 1}:{i} #d{i}" for i in range(400)] + ["1 qid:z 90:4"]
    ds = tk.read_letor(write(tmp_path, "\n".join(lines).encode()))
    assert ds.X.shape == (401, 90)
    assert ds.X[400].tolist() == [0] * 89 + [4]
    assert all(ds.X[i, i % 5] == i for i in range(400))


def test_many_chunks_with_blank_lines_between(tmp_path: Path) -> None:
    values = np.random.default_rng(3).normal(size=(40_000, 14)).astype(np.float32)
    rows = [
        f"{i % 3} qid:{i // 50} "
        + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row.tolist()))
        + f" # d{i}"
        for i, row in enumerate(values)
    ]
    path = write(tmp_path, "\n\n# between\n".join(rows).encode())
    assert path.stat().st_size > 2 * CHUNK_BYTES
    ds = tk.read_letor(path)
    np.testing.assert_array_equal(ds.X, values)
    assert ds.doc_ids is not None
    assert ds.doc_ids.tolist() == [f"d{i}" for i in range(40_000)]
    assert ds.n_queries == 800


BAD = {
    "label": (b"1 qid:1 1:2\nx qid:1 1:2\n", 2, "label 'x' is not a"),
    "label-nan": (b"nan qid:1 1:2\n", 1, "label 'nan'"),
    "label-inf": (b"1e99 qid:1 1:2\n", 1, "label '1e99'"),
    "label-underscore": (b"1_0 qid:1 1:2\n", 1, "label '1_0'"),
    "no-qid": (b"1 1:2 2:3\n", 1, "expected 'qid:ID'"),
    "empty-qid": (b"1 qid: 1:2\n", 1, "expected 'qid:ID'"),
    "only-label": (b"1\n", 1, "expected 'qid:ID'"),
}
BAD_FEATURES = {
    "index-0": (b"1 qid:1 0:2\n", 1, "index is 0"),
    "index-huge": (b"1 qid:1 1:1\n1 qid:1 1000000000000:2\n", 2, "1000000000000 is above the limit"),
    "index-beyond-64-bits": (b"1 qid:1 99999999999999999999999:2\n", 1, "above the limit"),
    "unsorted": (b"1 qid:1 1:1\n1 qid:1 2:2 1:1\n", 2, "follows a larger or equal"),
    "repeated": (b"1 qid:1 2:2 2:1\n", 1, "follows a larger or equal"),
    "value": (b"1 qid:1 1:abc\n", 1, "value 'abc'"),
    "value-empty": (b"1 qid:1 1:\n", 1, "value ''"),
    "value-inf": (b"1 qid:1 1:inf\n", 1, "value 'inf'"),
    "value-overflow": (b"1 qid:1 1:1e39\n", 1, "value '1e39'"),
    "value-overflow-hard": (b"1 qid:1 1:1e400\n", 1, "value '1e400'"),
    "not-a-pair": (b"1 qid:1 hello\n", 1, "index:value, got 'hello'"),
    "negative-index": (b"1 qid:1 -1:3\n", 1, "index:value, got '-1:3'"),
}


@pytest.mark.parametrize("case", [*BAD, *BAD_FEATURES])
def test_a_bad_line_is_named(case: str, tmp_path: Path) -> None:
    content, line, words = (BAD | BAD_FEATURES)[case]
    path = write(tmp_path, content)
    with pytest.raises(InputError) as caught:
        tk.read_letor(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in caught.value.problem
    assert caught.value.remedy


@pytest.mark.parametrize("case", BAD)
def test_the_light_reader_refuses_the_same_lines(case: str, tmp_path: Path) -> None:
    content, line, words = BAD[case]
    path = write(tmp_path, content)
    with pytest.raises(InputError, match=words) as caught:
        tk.read_letor(path, features=False)
    assert caught.value.line == line


@pytest.mark.parametrize("features", [True, False])
class TestBadFiles:
    def refused(self, path: Path, features: bool, words: str) -> InputError:
        with pytest.raises(InputError, match=words) as caught:
            tk.read_letor(path, features=features)
        assert caught.value.file == str(path)
        assert caught.value.remedy
        return caught.value

    def test_missing(self, tmp_path: Path, features: bool) -> None:
        self.refused(tmp_path / "nothing.txt", features, "no such file")

    def test_folder(self, tmp_path: Path, features: bool) -> None:
        self.refused(tmp_path, features, "folder")

    def test_empty(self, tmp_path: Path, features: bool) -> None:
        self.refused(write(tmp_path, b""), features, "no documents")

    def test_only_comments(self, tmp_path: Path, features: bool) -> None:
        self.refused(write(tmp_path, b"# one\n\n#two"), features, "no documents")

    def test_binary(self, tmp_path: Path, features: bool) -> None:
        self.refused(write(tmp_path, bytes(range(256)) * 50), features, "binary")

    def test_truncated_gzip(self, tmp_path: Path, features: bool) -> None:
        whole = gzip.compress(SMALL * 2000)
        self.refused(write(tmp_path, whole[: len(whole) // 2], "f.gz"), features, "truncated")

    def test_corrupt_gzip(self, tmp_path: Path, features: bool) -> None:
        whole = bytearray(gzip.compress(SMALL * 2000))
        whole[40:60] = bytes(20)
        self.refused(write(tmp_path, bytes(whole), "f.gz"), features, "damaged")

    def test_gzip_bomb(self, tmp_path: Path, features: bool) -> None:
        bomb = gzip.compress(b"0 qid:1 1:0\n" * 2_000_000)
        self.refused(write(tmp_path, bomb, "f.gz"), features, "decompresses to more than")

    def test_a_line_of_fifty_megabytes(self, tmp_path: Path, features: bool) -> None:
        content = b"1 qid:1 1:2\n1 qid:1 1:" + b"7" * (50 << 20) + b"\n"
        error = self.refused(write(tmp_path, content), features, "longer than 4 MB")
        assert error.line == 2

    def test_scattered_queries(self, tmp_path: Path, features: bool) -> None:
        path = write(tmp_path, b"2 qid:a 1:1 #d1\n1 qid:b 1:2 #d2\n0 qid:a 1:3 #d3\n")
        error = self.refused(path, features, "rows of query 'a' are not contiguous")
        assert "--regroup" in error.remedy
        ds = tk.read_letor(path, features=features, regroup=True)
        assert ds.qids == ("a", "b")
        assert ds.y.tolist() == [2, 0, 1]
        assert ds.doc_ids == Strings.of(["d1", "d3", "d2"])


def test_a_matrix_of_zeros_is_refused_before_it_is_made(tmp_path: Path) -> None:
    lines = b"0 qid:1 1:1\n" * 40_000 + b"0 qid:1 99999:1\n"
    with pytest.raises(InputError, match="mostly zeros"):
        tk.read_letor(write(tmp_path, lines))


def test_full_orders_of_list_files(tmp_path: Path) -> None:
    path = write(tmp_path, b"1008 qid:1 1:1\n1001 qid:1 1:2\n1007 qid:1 1:3\n5 qid:2 1:1\n")
    ds = tk.read_letor(path, truth="order")
    assert ds.y.tolist() == [3, 1, 2, 1]
    assert ds.truth == Truth("order")
    with pytest.raises(InputError, match="same label"):
        tk.read_letor(write(tmp_path, b"1 qid:1 1:1\n1 qid:1 1:2\n"), truth="order")


def test_what_cannot_be_written_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    ds = Dataset.build([[1.0]], [0], ["a b"])
    with pytest.raises(InputError, match="'a b'"):
        ds.to_letor(tmp_path / "out.txt")
    assert list(tmp_path.iterdir()) == []


@given(datasets(), st.sampled_from(["a.txt", "a.txt.gz"]))
def test_written_and_read_it_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, ds: Dataset, name: str
) -> None:
    path = tmp_path_factory.mktemp("letor") / name
    ds.to_letor(path)
    assert tk.read_letor(path) == ds
    assert tk.read_letor(path, features=False) == ds.features([])


@pytest.mark.real_data
def test_real_files_agree_with_scikit_learn(real_data: Path) -> None:
    from sklearn.datasets import load_svmlight_file

    for name in ("MQ2008/Fold2/vali.txt", "OHSUMED-letor2/Fold3/test.txt"):
        X, y, qid = load_svmlight_file(str(real_data / name), query_id=True)
        ds = tk.read_letor(real_data / name)
        np.testing.assert_array_equal(ds.X, X.toarray().astype(np.float32))
        np.testing.assert_array_equal(ds.y, y)
        assert [ds.qids[q] for q in ds.query_index] == [str(q) for q in qid]


@pytest.mark.real_data
def test_document_ids_of_mq2008(real_data: Path) -> None:
    ds = tk.read_letor(real_data / "MQ2008/Fold1/train.txt")
    assert ds.doc_ids is not None
    assert ds.notes is not None
    assert ds.doc_ids[0] == "GX008-86-4444840"  # the end of the file's first line
    assert ds.notes[0] == "inc = 1 prob = 0.086622"
