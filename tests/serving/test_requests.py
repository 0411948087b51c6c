"""Responses of the service: the scores of the ranker, or a 4xx with the reason."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topkit as tk
from tests.support.cli import topkit
from tests.support.serving import ask
from topkit.serving import Limits, ServiceSettings, create_app, json_bodies
from topkit.serving.refusal import RefusedError

ARROW = {"content-type": "application/vnd.apache.arrow.stream"}


@pytest.fixture
def service(ragged: tk.Dataset, tmp_path: Path) -> Any:
    """A service with a model that normalises within queries, and small limits."""
    ranker = tk.ranker("listnet", l2=0.01).fit(ragged)
    ranker.save(tmp_path / "m")
    app = create_app(ServiceSettings(tmp_path / "m", Limits(bytes=20_000, candidates=40, queries=6)))
    app.state.scores = ranker.score(ragged)
    return app


def stream(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def lists(X: np.ndarray) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])


def test_json_scores_and_order(service: Any, ragged: tk.Dataset) -> None:
    rows = slice(int(ragged.ptr[2]), int(ragged.ptr[3]))
    answer = ask(service, "POST", "/score", json={"features": ragged.X[rows].tolist()})
    assert answer.status_code == 200
    found = answer.json()
    np.testing.assert_array_equal(found["scores"], service.state.scores[rows])
    assert [found["scores"][i] for i in found["order"]] == sorted(found["scores"], reverse=True)
    assert found["model"] == service.state.file.current.sha256


def test_batches_keep_queries_apart(service: Any, ragged: tk.Dataset) -> None:
    queries = [{"features": ragged.X[rows].tolist()} for _, rows in ragged]
    found = ask(service, "POST", "/batch", json={"queries": queries}).json()
    np.testing.assert_array_equal(
        np.concatenate([result["scores"] for result in found["results"]]), service.state.scores
    )


def test_arrow_both_ways(service: Any, ragged: tk.Dataset) -> None:
    one = ragged.X[ragged.ptr[3] : ragged.ptr[4]]
    qid = pa.array(np.repeat([5, 1, 2, 9, 3], ragged.lengths))
    columns = {f"{j + 1}": one[:, j] for j in range(4)}
    for path, table, expected in (
        ("/score", pa.table({"features": lists(one)}), service.state.scores[ragged.ptr[3] : ragged.ptr[4]]),
        ("/score", pa.table(columns), service.state.scores[ragged.ptr[3] : ragged.ptr[4]]),
        ("/batch", pa.table({"qid": qid, "features": lists(ragged.X)}), service.state.scores),
    ):
        answer = ask(service, "POST", path, content=stream(table), headers=ARROW)
        assert answer.status_code == 200, answer.text
        found = pa.ipc.open_stream(answer.content).read_all()
        np.testing.assert_array_equal(found.column("score").to_numpy(), expected)


def test_missing_features_are_null(service: Any, ragged: tk.Dataset, tmp_path: Path) -> None:
    X = ragged.X[:5].copy()
    X[1, 2] = np.nan
    rows = [[None if np.isnan(x) else float(x) for x in row] for row in X]
    by_json = ask(service, "POST", "/score", json={"features": rows}).json()["scores"]
    table = pa.table({str(j + 1): pa.array([row[j] for row in rows], pa.float32()) for j in range(4)})
    answer = ask(service, "POST", "/score", content=stream(table), headers=ARROW)
    by_arrow = pa.ipc.open_stream(answer.content).read_all().column("score").to_numpy()
    expected = tk.load_ranker(tmp_path / "m").score(tk.Dataset.build(X, np.zeros(5), ["q"] * 5))
    np.testing.assert_array_equal(by_json, expected)
    np.testing.assert_array_equal(by_arrow, expected)


FULL = [1.0, 2.0, 3.0, 4.0]
BAD_JSON = [
    (b"", 400, "not JSON"),
    (b"{", 400, "not JSON"),
    (b"\xff\xfe", 400, "not UTF-8"),
    (b"[" * 15_000, 422, "nested"),
    (b'{"features": [[1' + b"0" * 5_000 + b", 1, 2, 3]]}", 422, "too many digits"),
    (b'{"features": [[1, 2, 3, 4]], "features": [[1, 2, 3, 4]]}', 422, "appears twice"),
    (b'{"features": [[NaN, 1, 2, 3]]}', 400, "NaN is not JSON; write null"),
    (b'{"features": [[Infinity, 1, 2, 3]]}', 400, "Infinity is not JSON"),
    (b'{"features": [[1e999, 1, 2, 3]]}', 422, "candidate 1, feature 1 is not a finite 32-bit number"),
    (b'{"features": [[1, 2, 3, 4], [1, 2, 3e39, 4]]}', 422, "candidate 2, feature 3 is not a finite"),
    (b'{"features": [[1' + b"0" * 400 + b", 1, 2, 3]]}", 422, "not a finite 32-bit"),
    (b'{"features": [[null, 1' + b"0" * 400 + b", 2, 3]]}", 422, "not a finite 32-bit"),
    (b"[]", 422, "must be an object"),
    (b"{}", 422, "must be a list"),
    (b'{"features": []}', 422, "at least one candidate"),
    (b'{"features": [[]]}', 422, "at least one number"),
    (b'{"features": 3}', 422, "must be a list"),
    (b'{"features": [1, 2]}', 422, "candidate 1 is not a list"),
    (b'{"features": [[1, 2, 3, 4], [1, 2]]}', 422, "candidate 2 has 2 features, the first has 4"),
    (b'{"features": [[1, 2, 3, "4"]]}', 422, "expected a number or null, got a str"),
    (b'{"features": [[1, 2, 3, true]]}', 422, "expected a number or null, got a bool"),
    (b'{"features": [[1, 2, 3, [4]]]}', 422, "feature 4: expected a number or null, got a list"),
    (b'{"features": [[1, 2, 3]]}', 422, "trained on 4 features, the data has 3"),
    (b'{"features": [[1, 2, 3, 4]], "extra": 1}', 422, "unknown field 'extra'"),
    (b'{"features": [[1, 2, 3, 4]], "feature_names": ["a"]}', 422, "expected 4 feature names, got 1"),
    (json.dumps({"features": [FULL] * 41}).encode(), 413, "41 candidates exceed the limit of 40"),
    (b" " * 20_001, 413, "longer than the limit of 20000 bytes"),
]


@pytest.mark.parametrize(("body", "status", "reason"), BAD_JSON)
def test_bad_json_gets_a_reason(service: Any, body: bytes, status: int, reason: str) -> None:
    answer = ask(service, "POST", "/score", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert reason in answer.json()["error"]


def test_bad_batches_get_a_reason(service: Any) -> None:
    one = {"features": [FULL]}
    for body, status, reason in (
        ({"queries": []}, 422, "non-empty list"),
        ({"queries": [one] * 7}, 413, "7 queries exceed the limit of 6"),
        ({"queries": [one, {"features": [FULL], "x": 1}]}, 422, "query 2 must be an object"),
        ({"queries": [one, {"features": [[1.0]]}]}, 422, "queries have 1 and 4 features"),
        ({"queries": [{"features": [FULL] * 21}, {"features": [FULL] * 21}]}, 413, "42 candidates"),
    ):
        answer = ask(service, "POST", "/batch", json=body)
        assert (answer.status_code, reason in answer.json()["error"]) == (status, True), answer.text


def test_bad_arrow_gets_a_reason(service: Any, ragged: tk.Dataset) -> None:
    X = ragged.X[:4]
    holed = X.copy()
    holed[2, 1] = np.nan
    huge = np.full((4, 4), np.inf, np.float32)
    good = stream(pa.table({"features": lists(X)}))
    for path, body, status, reason in (
        ("/score", b"garbage", 400, "not an Arrow IPC stream"),
        ("/score", good[: len(good) // 2], 400, "not an Arrow IPC stream"),
        ("/score", stream(pa.table({"features": lists(X)}), compression="zstd"), 422, "compressed"),
        ("/score", stream(pa.table({"features": lists(holed)})), 422, "contains NaN; send null"),
        ("/score", stream(pa.table({"features": lists(huge)})), 422, "not a finite"),
        ("/score", stream(pa.table({"features": lists(X[:, :3].copy())})), 422, "trained on 4 features"),
        ("/score", stream(pa.table({"a": ["x"]})), 422, "'a': expected numbers"),
        ("/score", stream(pa.table({"features": lists(X)}).slice(0, 0)), 422, "no rows"),
        ("/score", stream(pa.table({"qid": [1] * 4, "features": lists(X)})), 422, "send it to /batch"),
        ("/batch", good, 422, "needs a column qid"),
        ("/batch", stream(pa.table({"qid": [1, 2, 1, 1], "features": lists(X)})), 422, "not contiguous"),
        ("/batch", stream(pa.table({"qid": [1.5] * 4, "features": lists(X)})), 422, "strings or integers"),
        ("/score", stream(pa.table({"features": lists(np.zeros((41, 4), np.float32))})), 413, "41 cand"),
    ):
        answer = ask(service, "POST", path, content=body, headers=ARROW)
        assert answer.status_code == status, answer.text
        assert reason in answer.json()["error"], answer.text


def test_named_features_are_checked(ragged: tk.Dataset, tmp_path: Path) -> None:
    named = ragged.with_features(ragged.X, ["a", "b", "c", "d"])
    tk.ranker("bestfeature").fit(named).save(tmp_path / "m")
    app = create_app(ServiceSettings(tmp_path / "m"))
    good = {"features": [FULL], "feature_names": ["a", "b", "c", "d"]}
    assert ask(app, "POST", "/score", json=good).status_code == 200
    answer = ask(app, "POST", "/score", json={**good, "feature_names": ["a", "c", "b", "d"]})
    assert answer.status_code == 422
    assert "feature 2 is 'c' in the data but was 'b' in training" in answer.json()["error"]


def test_other_content_types_and_methods(service: Any) -> None:
    answer = ask(service, "POST", "/score", content=b"1,2", headers={"content-type": "text/csv"})
    assert answer.status_code == 415
    assert "text/csv" in answer.json()["error"]
    assert ask(service, "GET", "/score").status_code == 405


def test_the_start_page_leads_to_the_documentation(service: Any) -> None:
    answer = ask(service, "GET", "/")
    assert (answer.status_code, answer.headers["location"]) == (307, "docs")


def test_health_metrics_and_openapi(service: Any) -> None:
    ask(service, "POST", "/score", json={"features": [FULL, FULL]})
    ask(service, "POST", "/score", json={"features": [FULL[:2]]})
    health = ask(service, "GET", "/health").json()
    assert (health["status"], health["ranker"], health["features"]) == ("ok", "listnet", 4)
    assert health["fresh"] is True
    lines = ask(service, "GET", "/metrics").text.splitlines()
    assert 'topkit_requests_total{endpoint="score",status="200"} 1.0' in lines
    assert 'topkit_requests_total{endpoint="score",status="422"} 1.0' in lines
    assert "topkit_candidates_total 2.0" in lines
    assert 'topkit_request_seconds_bucket{endpoint="score",le="+Inf"} 2.0' in lines
    assert 'topkit_request_seconds_count{endpoint="score"} 2.0' in lines
    paths = ask(service, "GET", "/openapi.json").json()["paths"]
    body = paths["/score"]["post"]["requestBody"]["content"]
    assert set(body) == {"application/json", "application/vnd.apache.arrow.stream"}
    assert set(paths) == {"/score", "/batch", "/health", "/metrics"}


def test_two_apps_in_one_process_have_separate_metrics(service: Any, tmp_path: Path) -> None:
    other = create_app(ServiceSettings(tmp_path / "m"))
    ask(service, "POST", "/score", json={"features": [FULL]})
    assert "topkit_candidates_total 1.0" in ask(service, "GET", "/metrics").text
    assert "topkit_candidates_total 0.0" in ask(other, "GET", "/metrics").text


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=20,
)


@given(json_values | st.fixed_dictionaries({"features": json_values}))
@settings(max_examples=60)
def test_anything_else_is_refused_or_a_matrix(value: Any) -> None:
    """For any body, the parser returns a matrix or raises RefusedError."""
    for parse in (json_bodies.one_query, json_bodies.many_queries):
        try:
            found = parse(json.dumps(value).encode(), Limits())
        except RefusedError:
            continue
        assert found.X.dtype == np.float32
        assert not np.isinf(found.X).any()


def test_the_service_does_not_import_numba() -> None:
    code = "import sys, topkit.serving; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_extra_is_named() -> None:
    code = "import sys; sys.modules['prometheus_client'] = None; import topkit.serving"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "prometheus_client is not installed; run: pip install 'topkit[serve]'" in done.stderr


def test_the_command_explains_errors(tmp_path: Path) -> None:
    missing = topkit("serve", tmp_path / "no.model")
    assert missing.returncode == 1
    assert "the file does not exist; pass a file that 'topkit train' wrote" in missing.stderr
    limits = topkit("serve", tmp_path / "no.model", "--max-candidates", 0)
    assert "limits must be at least 1" in limits.stderr
