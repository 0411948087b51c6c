"""Requests and responses in JSON. Matrices are converted directly by NumPy: validating every number with
pydantic would take longer than scoring.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.serving import json_blocks
from topkit.serving.candidates import Candidates, joined, matrix, with_missing
from topkit.serving.json_blocks import decode, text_of
from topkit.serving.refusal import Limits, RefusedError, at_most

TYPE = "application/json"


SMALL_BODY = 1 << 19
"""Largest body, in bytes, that is parsed at once; see :mod:`topkit.serving.json_blocks`."""


def one_query(body: bytes, limits: Limits) -> Candidates:
    """``{"features": [[…], …], "feature_names": […]}``; the names are optional."""
    text = text_of(body)
    if len(body) > SMALL_BODY:
        return json_blocks.one_query(text, limits)
    record = _object(text, {"features", "feature_names"})
    _check_length(record.get("features"), limits)
    rows = _matrix(body, record.get("features"), "features")
    return joined([rows], _names(record.get("feature_names"), rows.shape[1]), limits)


def many_queries(body: bytes, limits: Limits) -> Candidates:
    """``{"queries": [{"features": [[…], …]}, …], "feature_names": […]}``; the names are optional."""
    text = text_of(body)
    if len(body) > SMALL_BODY:
        return json_blocks.many_queries(text, limits)
    record = _object(text, {"queries", "feature_names"})
    queries = record.get("queries")
    if not isinstance(queries, list) or not queries:
        raise RefusedError(422, "queries must be a non-empty list of objects with features")
    at_most(limits.queries, len(queries), "queries")
    parts = []
    for i, query in enumerate(queries):
        if not isinstance(query, dict) or set(query) != {"features"}:
            raise RefusedError(422, f"query {i + 1} must be an object with the field 'features' only")
        _check_length(query["features"], limits)
        parts.append(_matrix(body, query["features"], f"query {i + 1}"))
    return joined(parts, _names(record.get("feature_names"), parts[0].shape[1]), limits)


def answer(scores: NDArray[np.float64], ptr: NDArray[np.int64], model: str, *, batch: bool) -> bytes:
    """For each query, the scores in the order of its candidates, and the candidate numbers, best first."""
    results = []
    for first, last in zip(ptr[:-1].tolist(), ptr[1:].tolist(), strict=True):
        query_scores = scores[first:last]
        order = np.argsort(-query_scores, kind="stable")
        results.append({"scores": query_scores.tolist(), "order": order.tolist()})
    content: dict[str, Any] = {"results": results} if batch else results[0]
    return json.dumps({**content, "model": model}, separators=(",", ":")).encode()


def _object(text: str, allowed: set[str]) -> dict[str, Any]:
    record = decode(text)
    if not isinstance(record, dict):
        raise RefusedError(422, f"the body must be an object with {' and '.join(sorted(allowed))}")
    unknown = set(record) - allowed
    if unknown:
        known = ", ".join(sorted(allowed))
        raise RefusedError(422, f"unknown field {min(unknown)!r}; expected {known}")
    return record


def _matrix(body: bytes, rows: Any, where: str) -> NDArray[np.float32]:
    # NumPy converts true to 1, so if the body contains the word at all, every value is checked
    if (b"true" in body or b"false" in body) and isinstance(rows, list) and rows:
        with_missing(rows, where)
    return matrix(rows, where)


def _check_length(rows: Any, limits: Limits) -> None:
    if isinstance(rows, list):
        at_most(limits.candidates, len(rows), "candidates")


def _names(names: Any, width: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RefusedError(422, "feature_names must be a list of strings")
    if len(names) != width:
        raise RefusedError(422, f"expected {width} feature names, got {len(names)}")
    return tuple(names)
