"""The compiled scanners against plain Python on any bytes: never a crash, never a wrong value."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import topkit as tk
from topkit.data import InputError
from topkit.data.kernels import text as numbers

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
digits = st.text("0123456789", max_size=22)
numberish = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: f"{x:.9g}"),
    st.builds("{}{}.{}".format, st.sampled_from(["", "-", "+"]), digits, digits),
    st.builds("{}.{}e{}".format, digits, digits, st.integers(-40, 60)),
    st.text("0123456789.eE+-_naif ", max_size=8),
)


@settings(max_examples=300)
@given(numberish)
@example("9007199254740993")  # 2**53 + 1: half-way between two doubles
@example("9007199254740995")
@example("0.000000000000000000000000001")
@example("1.7976931348623157e308")
@example("179769313486231580793e289")
@example("123456789012345678e-27")
@example("18446744073709551615")
@example("5e-324")
@example("-0.0")
@example("00000000000000000000000000000000000001.5")
def test_numbers_are_rounded_as_python_rounds_them(text: str) -> None:
    raw = np.frombuffer(text.encode() + b"\n", np.uint8)
    status, value = numbers.parse_number(raw, 0, len(raw) - 1)
    if NUMBER.fullmatch(text):
        assert status in (numbers.NUMBER, numbers.HARD_NUMBER)
        if status == numbers.NUMBER:
            assert value == float(text)
            assert np.signbit(value) == np.signbit(float(text))
    else:
        assert status == numbers.NOT_A_NUMBER


def letor_by_hand(content: bytes) -> list[tuple[float, bytes, dict[int, float], bytes]] | None:
    """The rows of LETOR text by a direct reading of its rules; None if a rule is broken."""
    rows = []
    for line in content.split(b"\n"):
        body, _, comment = line.partition(b"#")
        fields = body.split()
        if not fields:
            continue
        if (
            not NUMBER.fullmatch(fields[0].decode("latin-1"))
            or abs(float(fields[0])) >= 3.4028235677973366e38
        ):
            return None
        if len(fields) < 2 or not fields[1].startswith(b"qid:") or fields[1] == b"qid:":
            return None
        values: dict[int, float] = {}
        for pair in fields[2:]:
            index, colon, value = pair.partition(b":")
            if not colon or not re.fullmatch(rb"[0-9]+", index) or not 0 < int(index) <= 100_000:
                return None
            if values and int(index) <= max(values):
                return None
            if value.lower() in (b"null", b"nan"):
                values[int(index)] = np.nan
            elif NUMBER.fullmatch(value.decode("latin-1")) and abs(float(value)) < 3.4028235677973366e38:
                values[int(index)] = float(np.float32(float(value)))
            else:
                return None
        rows.append((float(np.float32(float(fields[0]))), fields[1][4:], values, comment))
    return rows


letor_piece = st.sampled_from(
    [b"0", b"1", b"2.5", b" ", b"  ", b"\t", b"\n", b"\n", b"\r", b"\x0b", b"qid:", b"qid:1", b"qid:2", b"1:",
     b"2:", b"3:", b"0.5", b"7e2", b"NULL", b"nan", b"#", b"docid = ", b"docid", b"=", b"x", b"-", b":",
     b"\xff", b"99999999999:1"]
)  # fmt: skip
letor_line = st.builds(
    "{} qid:{} {}{}".format,
    st.sampled_from(["0", "1", "3.5", "-1e-3"]),
    st.sampled_from(["1", "1", "2", "abc"]),
    st.lists(st.integers(1, 6), unique=True).map(lambda xs: " ".join(f"{x}:{x / 8}" for x in sorted(xs))),
    st.sampled_from(["", " # d1", "#docid = x note", "\t#\t"]),
).map(str.encode)


@settings(max_examples=150)
@given(
    st.binary(max_size=60)
    | st.lists(letor_piece, max_size=30).map(b"".join)
    | st.lists(letor_line | st.lists(letor_piece, max_size=5).map(b"".join), max_size=6).map(b"\n".join)
)
def test_letor_bytes_are_read_as_the_rules_say_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.txt"
    path.write_bytes(content)
    expected = None if b"\0" in content else letor_by_hand(content)
    if not expected:
        with pytest.raises(InputError):
            tk.read_letor(path, regroup=True)
        return
    if content.startswith(b"\x1f\x8b"):
        return
    ds = tk.read_letor(path, regroup=True)
    light = tk.read_letor(path, regroup=True, features=False)
    assert light == ds.features([])
    order = {qid: i for i, qid in enumerate(dict.fromkeys(row[1] for row in expected))}
    expected.sort(key=lambda row: order[row[1]])
    assert ds.y.tolist() == [row[0] for row in expected]
    for row, (_, qid, values, comment) in enumerate(expected):
        assert ds.qids[ds.query_index[row]].encode("utf-8", "surrogateescape") == qid
        stated = [values.get(j + 1, 0.0) for j in range(ds.n_features)]
        np.testing.assert_array_equal(ds.X[row], np.array(stated, np.float32))
        if ds.doc_ids is not None and not comment.strip().startswith(b"docid"):
            assert ds.doc_ids[row].encode("utf-8", "surrogateescape") == comment.strip(b" \t\r\x0b\x0c")


run_piece = st.sampled_from(
    [b"q1", b"q2", b" ", b"\t", b" Q0 ", b"d1", b"d2", b"d3", b" 1 ", b" 0.25 ", b" 1e-3 ", b" tag", b"\n",
     b"\n", b"#", b"nan", b"inf", b"1_0", b"\r", b"\x0b", b"\xff"]
)  # fmt: skip
run_line = st.builds(
    "{} Q0 {} 1 {} t".format,
    st.sampled_from(["q1", "q2"]),
    st.sampled_from([f"d{i}" for i in range(9)]),
    numberish,
).map(str.encode)


@settings(max_examples=150)
@given(
    st.binary(max_size=60)
    | st.lists(run_piece, max_size=40).map(b"".join)
    | st.lists(run_line, max_size=6).map(b"\n".join)
)
def test_both_run_readers_say_the_same(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.run"
    path.write_bytes(content)
    try:
        plain = tk.read_run(path, compiled=False)
    except InputError:
        with pytest.raises(InputError):
            tk.read_run(path)
    else:
        assert tk.read_run(path) == plain


@settings(max_examples=100)
@given(
    st.lists(
        st.one_of(
            numberish.map(str.strip).filter(lambda text: bool(NUMBER.fullmatch(text))),
            st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: f"{x:.17g}"),
            # exactly, or nearly, half-way between two numbers of 32 bits
            st.integers(1 << 23, (1 << 24) - 1).map(lambda m: f"{m + 0.5:.1f}"),
            st.integers(1 << 23, (1 << 24) - 1).map(lambda m: f"{m}.5000000001e-3"),
            st.sampled_from(["NULL", "nan", "1e-50", "3.4028235e38", "0.000000000000000000000012345"]),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_values_are_rounded_to_32_bits_as_python_rounds_them(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    numbers_of_32_bits = [t for t in texts if t in ("NULL", "nan") or abs(float(t)) < 3.4028235677973366e38]
    path = tmp_path_factory.getbasetemp() / "values.txt"
    pairs = " ".join(f"{i}:{text}" for i, text in enumerate(numbers_of_32_bits, 1))
    path.write_text(f"1 qid:1 {pairs}\n")
    expected = [np.nan if text in ("NULL", "nan") else float(text) for text in numbers_of_32_bits]
    np.testing.assert_array_equal(tk.read_letor(path).X[0], np.array(expected, np.float32))
