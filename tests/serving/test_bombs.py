"""Small bodies that describe large data: the service refuses them without using much memory."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topkit.serving import Limits, arrow_bodies, json_blocks, json_bodies
from topkit.serving.arrow_checks import Flatbuffer
from topkit.serving.refusal import RefusedError

MEGABYTES = 250
"""More than the interpreter, pyarrow and the largest accepted body need together."""

PROGRAM = """
import sys
from pathlib import Path
import pyarrow, topkit.rankers
from topkit.serving import Limits, arrow_bodies, json_bodies
from topkit.serving.refusal import RefusedError
kind, path = sys.argv[1:]
parse = (arrow_bodies if kind == "arrow" else json_bodies).one_query
try:
    parse(Path(path).read_bytes(), Limits())
    answer = "accepted"
except RefusedError as error:
    answer = f"{error.status} {error.reason}"
status = Path("/proc/self/status").read_text()  # ru_maxrss would include the parent's size before exec
print(int(status.partition("VmHWM:")[2].split()[0]) // 1024, answer)
"""


def stream(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    body: bytes = sink.getvalue().to_pybytes()
    return body


def compressed_dictionary() -> bytes:
    """A few kilobytes; the dictionary takes 512 MB when it is read."""
    words = pa.array(np.zeros(1 << 26))
    array = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), words)
    return stream(pa.table({"features": array}), compression="zstd")


def compressed_column() -> bytes:
    return stream(pa.table({"features": np.zeros(32 << 20)}), compression="zstd")


def columns_without_buffers() -> bytes:
    return stream(pa.table({"features": pa.nulls(1 << 30)}))


def empty_lists() -> bytes:
    return stream(pa.table({"features": pa.array([[], []], pa.list_(pa.float32(), 0))}))


def shared_buffers() -> bytes:
    """A stream whose 200 columns of 20,000 rows all use the bytes of the first column."""
    count, rows = 200, 20_000
    whole = stream(pa.table({f"c{j}": np.ones(rows) for j in range(count)}))
    batch = list(pa.ipc.MessageReader.open_stream(whole))[1]
    metadata = bytearray(bytes(batch.metadata))
    header = Flatbuffer(bytes(metadata))
    message = struct.unpack_from("<I", metadata, 0)[0]
    vector = header.target(header.field(header.target(header.field(message, 2)), 2)) + 4
    for j in range(2 * count):  # validity and data of each column
        struct.pack_into("<q", metadata, vector + 16 * j, 0)
    struct.pack_into("<q", metadata, header.field(message, 3), 8 * rows)  # the length of the body
    head, _, _ = whole.partition(bytes(batch.metadata))
    body = head + bytes(metadata) + np.ones(rows).tobytes() + struct.pack("<II", 0xFFFFFFFF, 0)
    with pa.ipc.open_stream(body) as reader:
        assert reader.read_all().nbytes == 8 * rows * count  # pyarrow accepts it
    return body


ARROW = {
    "compressed dictionary": (compressed_dictionary, "422 'features': expected numbers, got dictionary"),
    "compressed column": (compressed_column, "422 compressed Arrow buffers are not supported"),
    "columns without buffers": (columns_without_buffers, "422 'features': expected numbers, got null"),
    "empty lists": (empty_lists, "422 'features': the lists are empty"),
    "shared buffers": (shared_buffers, "422 the Arrow buffers overlap or exceed the body"),
}
SIZE = 16 << 20
JSON = {
    "empty lists": (b'{"features": [' + b"[]," * (SIZE // 3 - 10) + b"[]]}", "422"),
    "empty objects": (b'{"features": [' + b"{}," * (SIZE // 3 - 10) + b"{}]}", "422"),
    "one row": (b'{"features": [[' + b"257," * (SIZE // 4 - 10) + b"1]]}", "422"),
    "short rows": (b'{"features": [' + b"[1.5]," * (SIZE // 6 - 10) + b"[1]]}", "413"),
    "names": (b'{"feature_names": [' + b'"ab",' * (SIZE // 5 - 10) + b'"a"]}', "413"),
    "unknown field": (b'{"x": [' + b"[]," * (SIZE // 3 - 10) + b"[]]}", "422 unknown field 'x'"),
    "deep": (b'{"features": ' + b"[" * (SIZE - 20), "422"),
    "spaces": (b'{"features": [' + b" " * (SIZE - 20), "4"),
    "digits": (b'{"features": [[' + b"1" * (SIZE - 20) + b"]]}", "422"),
    "wide characters": ('{"features": [["😀'.encode() + b"a" * (SIZE - 30) + b'"]]}', "422"),
}


def resident(kind: str, body: bytes, folder: Path) -> tuple[int, str]:
    """The largest resident size in MB of a process that parses the body, and its answer."""
    (folder / "body").write_bytes(body)
    command = [sys.executable, "-c", PROGRAM, kind, str(folder / "body")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    size, _, answer = done.stdout.strip().partition(" ")
    print(f"{kind} {len(body):,} bytes: {size} MB, {answer[:60]}")
    return int(size), answer


@pytest.mark.parametrize("name", ARROW)
def test_arrow_bombs_are_refused_in_little_memory(name: str, tmp_path: Path) -> None:
    make, expected = ARROW[name]
    size, answer = resident("arrow", make(), tmp_path)
    assert answer.startswith(expected)
    assert size < MEGABYTES


@pytest.mark.parametrize("name", JSON)
def test_json_bombs_are_refused_in_little_memory(name: str, tmp_path: Path) -> None:
    body, expected = JSON[name]
    size, answer = resident("json", body, tmp_path)
    assert answer.startswith(expected)
    assert size < MEGABYTES


def test_column_names_that_are_not_utf8_are_refused() -> None:
    body = stream(pa.table({"abcdefgh": np.zeros(3)})).replace(b"abcdefgh", b"abc\xff\xfefgh")
    with pytest.raises(RefusedError, match="not UTF-8") as refused:
        arrow_bodies.one_query(body, Limits())
    assert refused.value.status == 422


def test_columns_of_one_name_are_refused() -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["qid", "qid"])
    with pytest.raises(RefusedError, match="same name"):
        arrow_bodies.many_queries(stream(table), Limits())


def test_too_many_columns_are_refused() -> None:
    table = pa.table({str(j): [1.0] for j in range(12)})
    with pytest.raises(RefusedError, match="12 columns exceed the limit of 11"):
        arrow_bodies.one_query(stream(table), Limits(features=10))


def mutants(body: bytes, count: int) -> Any:
    random = np.random.default_rng(7)
    for _ in range(count):
        changed = bytearray(body)
        for _ in range(random.integers(1, 6)):
            changed[random.integers(len(changed))] = random.integers(256)
        yield bytes(changed)


def test_damaged_arrow_bodies_are_refused_or_read() -> None:
    X = np.arange(24, dtype=np.float32).reshape(6, 4)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 4)
    tables = (
        pa.table({"features": lists}),
        pa.table({"qid": ["a", "a", "a", "b", "b", "b"], "features": lists}),
        pa.table({"qid": [1, 1, 2, 2, 3, 3], **{str(j): X[:, j] for j in range(4)}}),
    )
    for table in tables:
        for body in mutants(stream(table), 1500):
            for parse in (arrow_bodies.one_query, arrow_bodies.many_queries):
                try:
                    found = parse(body, Limits())
                except RefusedError:
                    continue
                assert len(found.X) == found.ptr[-1]


numbers = st.none() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6)
other: st.SearchStrategy[Any] = (
    st.booleans() | st.text('ab"[]{},\\', max_size=4) | st.just([]) | st.lists(numbers, max_size=2)
)
matrices = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=1, max_size=6)
)
odd = st.lists(st.lists(numbers | other, max_size=3) | other, max_size=4) | other
names = st.none() | st.lists(st.text('ab"[]', max_size=4), max_size=3)
bodies = (
    st.fixed_dictionaries({"features": matrices | odd}, optional={"feature_names": names, "x": other})
    | st.fixed_dictionaries(
        {"queries": st.lists(st.fixed_dictionaries({"features": matrices | odd}), max_size=4)},
        optional={"feature_names": names},
    )
    | other
)


@given(bodies, st.sampled_from([None, 1]), st.integers(4, 40))
@settings(max_examples=100, deadline=None)
def test_blocks_give_the_same_as_the_whole_body(value: Any, indent: int | None, block: int) -> None:
    """The parser of large bodies accepts what json.loads and NumPy accept, with the same matrix."""
    text = json.dumps(value, indent=indent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_blocks, "BLOCK", block)
        for whole, blocks in (
            (json_bodies.one_query, json_blocks.one_query),
            (json_bodies.many_queries, json_blocks.many_queries),
        ):
            try:
                expected = whole(text.encode(), Limits())
            except RefusedError:
                with pytest.raises(RefusedError):
                    blocks(text, Limits())
                continue
            found = blocks(text, Limits())
            np.testing.assert_array_equal(found.X, expected.X)
            np.testing.assert_array_equal(found.ptr, expected.ptr)
            assert found.feature_names == expected.feature_names


@given(bodies, st.integers(0, 200), st.sampled_from('[]{}",: 1eNt\\'), st.integers(4, 40))
@settings(max_examples=100, deadline=None)
def test_blocks_refuse_what_is_not_json(value: Any, at: int, character: str, block: int) -> None:
    text = json.dumps(value)
    text = text[: at % len(text)] + character + text[at % len(text) + 1 :]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_blocks, "BLOCK", block)
        try:
            expected = json_bodies.one_query(text.encode(), Limits())
        except RefusedError:
            with pytest.raises(RefusedError):
                json_blocks.one_query(text, Limits())
        else:
            np.testing.assert_array_equal(json_blocks.one_query(text, Limits()).X, expected.X)
