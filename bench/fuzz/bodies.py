"""Targets for the requests of the scoring service: JSON and Arrow, one query and many, up to the response."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.fuzz.structure import damaged_json
from bench.fuzz.tables import table
from bench.fuzz.target import DifferenceError, Prepared

WIDTH = 3


def _checked(
    read: Callable[[bytes], Any], answer: Callable[[Any, Any], bytes]
) -> Callable[[bytes, bool], None]:
    """Read a body, use what it says as a data set, and write a response."""

    def check(content: bytes, valid: bool) -> None:
        candidates = read(content)
        data = candidates.dataset()
        if np.isinf(data.X).any() or len(data) == 0 or data.n_features == 0:
            raise DifferenceError("an infinite feature, or no feature, was accepted")
        answer(np.zeros(len(data)), candidates.ptr)

    return check


def _rows(rng: Random, width: int = WIDTH) -> list[list[float | None]]:
    choices: tuple[Callable[[], float | None], ...] = (
        lambda: rng.gauss(0, 1), lambda: rng.randrange(9), lambda: None, lambda: 1e-320, lambda: -3e38
    )  # fmt: skip
    return [[rng.choice(choices)() for _ in range(width)] for _ in range(rng.randrange(1, 5))]


def _names(rng: Random) -> dict[str, Any]:
    return {"feature_names": [f"f{j}" for j in range(WIDTH)]} if rng.random() < 0.4 else {}


JSON_WORDS = (b"true", b"NaN", b"-Infinity", b"1e999", b"[[", b"]]", b"null", b'"features"', b'"queries": [')


def json_one(folder: Path) -> Prepared:
    """The JSON body of /score."""
    from topkit.serving import json_bodies
    from topkit.serving.refusal import Limits

    def generate(rng: Random) -> bytes:
        return json.dumps({"features": _rows(rng), **_names(rng)}).encode()

    check = _checked(
        lambda body: json_bodies.one_query(body, Limits()),
        lambda scores, ptr: json_bodies.answer(scores, ptr, "model", batch=False),
    )
    return Prepared(check, generate, JSON_WORDS, damaged_json)


def json_many(folder: Path) -> Prepared:
    """The JSON body of /batch."""
    from topkit.serving import json_bodies
    from topkit.serving.refusal import Limits

    def generate(rng: Random) -> bytes:
        queries = [{"features": _rows(rng)} for _ in range(rng.randrange(1, 4))]
        return json.dumps({"queries": queries, **_names(rng)}).encode()

    check = _checked(
        lambda body: json_bodies.many_queries(body, Limits()),
        lambda scores, ptr: json_bodies.answer(scores, ptr, "model", batch=True),
    )
    return Prepared(check, generate, JSON_WORDS, damaged_json)


def _stream(rows: Any, **options: Any) -> bytes:
    import pyarrow as pa

    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, rows.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(rows)
    return stream.getvalue()


def _arrow(head: tuple[str, ...], read: Callable[[bytes], Any]) -> Prepared:
    from topkit.serving import arrow_bodies

    def generate(rng: Random) -> bytes:
        return _stream(table(rng, True, head))

    def damage(rng: Random, content: bytes) -> bytes:
        import pyarrow as pa

        options = {"compression": rng.choice(("lz4", "zstd"))} if rng.random() < 0.1 else {}
        try:
            return _stream(table(rng, False, head), **options)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
            return content  # the damage that was drawn has no Arrow form; the input stays as it was

    check = _checked(read, lambda scores, ptr: arrow_bodies.answer(scores, "model"))
    return Prepared(check, generate, (b"\xff\xff\xff\xff", b"qid", b"features", b"\0\0\0\0"), damage)


def arrow_one(folder: Path) -> Prepared:
    """The Arrow body of /score."""
    from topkit.serving import arrow_bodies
    from topkit.serving.refusal import Limits

    return _arrow((), lambda body: arrow_bodies.one_query(body, Limits()))


def arrow_many(folder: Path) -> Prepared:
    """The Arrow body of /batch."""
    from topkit.serving import arrow_bodies
    from topkit.serving.refusal import Limits

    return _arrow(("qid",), lambda body: arrow_bodies.many_queries(body, Limits()))
