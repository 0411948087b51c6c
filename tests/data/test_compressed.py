"""Compressed files: gzip, bzip2, xz and Zstandard are read by content and written by name."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import topkit as tk
from topkit import Dataset, InputError
from topkit.data.formats import read_dataset, write_dataset
from topkit.data.writers import text_writer


def zstandard(content: bytes) -> bytes:
    compressed: bytes = pa.compress(content, "zstd", asbytes=True)
    return compressed


PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard,
}
UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zst": lambda content: pa.CompressedInputStream(pa.BufferReader(content), "zstd").read(),
}
DATA = Dataset.build([[0.5, 1.0], [2.0, np.nan], [3.0, 4.0]], [1, 0, 2], ["a", "a", "b"])


@pytest.fixture(params=list(PACK))
def ending(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_files_are_read_whatever_their_name(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(PACK[ending](b"q1 0 d1 2\nq1 0 d2 0\n"))
    assert tk.read_qrels(path).grades_by_query() == {"q1": {"d1": 2.0, "d2": 0.0}}
    path.write_bytes(PACK[ending](b"q1 Q0 d1 1 0.5 t\n"))
    assert tk.read_run(path)["q1"] == [("d1", 0.5)]
    path.write_bytes(PACK[ending](b"qid,label,x\n1,0,2\n1,1,3\n"))
    assert tk.read_csv(path).X.ravel().tolist() == [2.0, 3.0]
    path.write_bytes(PACK[ending](b"0 qid:1 1:2\n1 qid:1 1:3\n"))
    assert tk.read_letor(path).X.ravel().tolist() == [2.0, 3.0]
    path.write_bytes(PACK[ending](b'{"_id": "d", "text": "wing"}\n'))
    assert next(tk.read_documents(path)).fields == {"text": "wing"}


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
def test_data_sets_survive_a_round_trip(tmp_path: Path, ending: str, name: str) -> None:
    path = tmp_path / f"{name}{ending}"
    write_dataset(DATA, path)
    data = read_dataset(path)
    np.testing.assert_array_equal(data.X, DATA.X)
    assert data.qids == DATA.qids
    assert path.read_bytes()[:2] == PACK[ending](b"x")[:2]


def test_other_tools_read_what_is_written_and_names_lose_the_ending(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"bm25.run{ending}"
    tk.write_run(tk.Run.of({"q": {"d": 1.5}}, "bm25"), path)
    assert UNPACK[ending](path.read_bytes()) == b"q Q0 d 1 1.5 bm25\n"
    assert tk.read_run(path).name == "bm25.run"


def test_a_truncated_file_is_an_error_that_names_the_method(tmp_path: Path, ending: str) -> None:
    lines = "".join(f"q{i} 0 d{i * 7919 % 104729} {i % 3}\n" for i in range(20_000))
    content = PACK[ending](lines.encode())
    path = tmp_path / "file"
    path.write_bytes(content[: len(content) // 2])
    names = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard"}
    with pytest.raises(InputError, match=f"the {names[ending]} data is damaged or truncated"):
        tk.read_qrels(path)


@pytest.mark.parametrize("ending", [".bz2", ".xz", ".zst"])
def test_a_bomb_is_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(PACK[ending](b"\n" * 50_000_000))
    with pytest.raises(InputError, match="decompresses to more than 200 times its size"):
        tk.read_qrels(path)


def test_nothing_is_left_when_writing_fails(tmp_path: Path, ending: str) -> None:
    def write_half() -> None:
        with text_writer(tmp_path / f"file{ending}") as stream:
            stream.write("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_half()
    assert list(tmp_path.iterdir()) == []
