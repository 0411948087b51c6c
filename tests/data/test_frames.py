"""Data frames of pandas, polars and Arrow become values of topkit, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import topkit as tk
from topkit import Dataset, InputError, Judgments, Run
from topkit.data.frames import BLOCK_ROWS

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

COLUMNS: dict[str, list[Any]] = {
    "qid": ["q2", "q1", "q2", "q1", "q3"],
    "doc": ["a", "b", "c", "d", "e"],
    "label": [1, 0, 2, 1, 0],
    "bm25": [0.5, 1.5, 2.5, None, 4.5],
    "clicks": [10, 20, 30, 40, 50],
    "fresh": [True, False, True, False, True],
}
MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(params=list(MAKERS))
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_unsorted_rows_are_grouped_and_columns_become_features(backend: str) -> None:
    data = Dataset.from_frame(MAKERS[backend](COLUMNS), doc_id="doc")
    assert data.qids == ("q2", "q1", "q3")
    assert data.ptr.tolist() == [0, 2, 4, 5]
    assert data.y.tolist() == [1, 2, 0, 1, 0]
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["a", "c", "b", "d", "e"]
    assert data.feature_names == ("bm25", "clicks", "fresh")
    assert data.X.flags.c_contiguous
    expected = [[0.5, 10, 1], [2.5, 30, 1], [1.5, 20, 0], [np.nan, 40, 0], [4.5, 50, 1]]
    np.testing.assert_array_equal(data.X, np.array(expected, np.float32))


def test_the_frame_library_that_comes_in_comes_out(backend: str) -> None:
    frame = MAKERS[backend](COLUMNS)
    data = Dataset.from_frame(frame, doc_id="doc")
    assert type(data.to_frame()) is type(frame)
    assert type(data.select([1]).to_frame()) is type(frame)
    assert type(Run.from_scores(data, np.arange(5.0)).to_frame()) is type(frame)
    assert Dataset.from_frame(data.to_frame()) == data


def test_the_backend_can_be_chosen_and_defaults_to_pandas(backend: str) -> None:
    data = Dataset.build([[1.0], [2.0]], [1, 0], [5, 5])
    assert isinstance(data.to_frame(), pd.DataFrame)
    assert type(data.to_frame(backend)) is type(MAKERS[backend]({"a": [1]}))
    with pytest.raises(InputError, match="unknown backend 'spark'; choose from pandas, polars, pyarrow"):
        data.to_frame("spark")


def test_text_and_categorical_columns_are_an_error_that_names_them(backend: str) -> None:
    frame = MAKERS[backend]({**COLUMNS, "brand": list("xyxyx")})
    with pytest.raises(InputError, match=r"'doc' \(String\), 'brand' \(String\).*features="):
        Dataset.from_frame(frame)
    assert Dataset.from_frame(frame, doc_id="doc", features=["clicks"]).feature_names == ("clicks",)


def test_categorical_columns_are_refused_as_features_and_accepted_as_ids() -> None:
    frame = pd.DataFrame({**COLUMNS, "qid": pd.Categorical(COLUMNS["qid"])}).drop(columns="doc")
    assert Dataset.from_frame(frame).qids == ("q2", "q1", "q3")
    with pytest.raises(InputError, match=r"not a number: 'kind' \(Categorical\)"):
        Dataset.from_frame(frame.assign(kind=pd.Categorical(list("xyxyx"))))


def test_pandas_nullable_and_arrow_types_are_numbers() -> None:
    frame = pd.DataFrame({"qid": [1, 1], "label": [1, 0], "a": [3, None], "b": [None, 0.5]})
    frame = frame.astype({"a": "Int64", "b": "Float64", "label": "Int8"})
    data = Dataset.from_frame(frame)
    np.testing.assert_array_equal(data.X, np.array([[3, np.nan], [np.nan, 0.5]], np.float32))
    assert data.qids == ("1",)


def test_lazy_frames_and_the_arrow_capsule_interface_are_accepted() -> None:
    class Capsule:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)

    expected = Dataset.from_frame(pl.DataFrame(COLUMNS), doc_id="doc")
    assert Dataset.from_frame(pl.LazyFrame(COLUMNS), doc_id="doc") == expected
    assert Dataset.from_frame(Capsule(), doc_id="doc") == expected
    assert Dataset.from_frame(pa.table(COLUMNS).to_batches()[0], doc_id="doc") == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qid": [None, "a", "a", "a", "a"]}, "row 1 of the column 'qid' is missing"),
        ({"label": [1, 2, None, 0, 0]}, "row 3 of the column 'label' is missing"),
        ({"label": list("abcde")}, "the column 'label' is not a number"),
        ({"bm25": [1e300, 0, 0, 0, 0]}, "too large for float32"),
    ],
)
def test_invalid_columns_are_errors_with_the_row(backend: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Dataset.from_frame(MAKERS[backend]({**COLUMNS, **change}), doc_id="doc")


def test_a_missing_column_is_an_error_that_suggests_the_nearest(backend: str) -> None:
    frame = MAKERS[backend](COLUMNS)
    with pytest.raises(InputError, match="no column 'lable'; did you mean 'label'"):
        Dataset.from_frame(frame, label="lable")
    with pytest.raises(InputError, match="expected a data frame, got int"):
        Dataset.from_frame(3)


def test_a_frame_without_labels_and_with_top_k_truth() -> None:
    frame = pd.DataFrame({"qid": [1, 1, 1], "rank": [2, 1, 0], "x": [0.0, 1.0, 2.0]})
    assert Dataset.from_frame(frame, label=None, features=["x"]).y.tolist() == [0, 0, 0]
    data = Dataset.from_frame(frame, label="rank", truth="top-2")
    assert str(data.truth) == "top-2"


def test_from_frame_does_not_change_or_share_the_frame(backend: str) -> None:
    values = np.arange(6, dtype=np.float32).reshape(3, 2)
    frame = pd.DataFrame(values, columns=["x", "y"]).assign(qid=1, label=0)
    data = Dataset.from_frame(frame)
    frame.loc[0, "x"] = 99
    assert data.X[0, 0] == 0


def test_many_unsorted_rows_are_those_of_from_arrays(backend: str) -> None:
    rng = np.random.default_rng(0)
    rows = 3 * BLOCK_ROWS + 5
    X, y, qid = rng.random((rows, 3), np.float32), rng.integers(0, 3, rows), rng.integers(0, 70_000, rows)
    columns = {"qid": qid, "label": y, **{f"f{j}": X[:, j].copy() for j in range(3)}}
    expected = Dataset.from_arrays(X, y, qid, feature_names=["f0", "f1", "f2"])
    assert Dataset.from_frame(MAKERS[backend](columns)) == expected
    first_rows = np.sort(np.unique(qid, return_index=True)[1])
    np.testing.assert_array_equal(expected.X[expected.ptr[:-1]], X[first_rows])
    assert expected.qids == tuple(map(str, qid[first_rows]))


def test_a_run_is_read_under_the_names_of_pyterrier_ranx_and_ir_measures(backend: str) -> None:
    expected = Run.of({"q2": [("a", 1.0), ("c", 3.0)], "q1": [("b", 2.0)]})
    for qid, doc in (("qid", "docno"), ("q_id", "doc_id"), ("query_id", "doc_id")):
        columns = {qid: ["q2", "q1", "q2"], doc: ["a", "b", "c"], "score": [1.0, 2.0, 3.0]}
        assert Run.from_frame(MAKERS[backend](columns)) == expected
    columns = {"qid": ["q2", "q1", "q2"], "docno": ["a", "b", "c"], "rank": [1, 0, 0]}
    run = Run.from_frame(MAKERS[backend](columns))
    assert run["q2"] == [("a", -1.0), ("c", 0.0)]
    with pytest.raises(InputError, match="expected a column named qid or q_id"):
        Run.from_frame(MAKERS[backend]({"x": [1]}))


def test_a_run_frame_is_sorted_by_score_with_ranks_from_0() -> None:
    frame = Run.of({"q": [("a", 1.0), ("b", 3.0), ("c", 1.0)]}).to_frame("polars")
    assert frame.columns == ["qid", "docno", "score", "rank"]
    assert frame["docno"].to_list() == ["b", "a", "c"]
    assert frame["rank"].to_list() == [0, 1, 2]


def test_judgments_are_read_as_grades_or_preferences(backend: str) -> None:
    grades = MAKERS[backend]({"qid": [1, 2, 1], "docno": ["a", "b", "c"], "label": [2, 0, 1]})
    assert Judgments.from_frame(grades).grades_by_query() == {"1": {"a": 2, "c": 1}, "2": {"b": 0}}
    twice = MAKERS[backend]({"q_id": [1, 1], "doc_id": ["a", "a"], "score": [2, 0]})
    with pytest.raises(InputError, match="document 'a' occurs twice for query '1'"):
        Judgments.from_frame(twice)
    pairs = MAKERS[backend]({"qid": ["q"], "a": ["x"], "b": ["y"], "answer": ["tie"], "assessor": ["ann"]})
    assert Judgments.from_frame(pairs).preferences == (tk.Preference("q", "x", "y", "tie", "ann"),)


def test_evaluations_and_comparisons_are_frames(backend: str) -> None:
    data = Dataset.build([[0.0]] * 4, [1, 0, 1, 0], ["a", "a", "b", "b"])
    good = tk.evaluate(data, [2, 1, 2, 1], ["rr", "ndcg@1"])
    bad = tk.evaluate(data, [1, 2, 2, 1], ["rr", "ndcg@1"])
    frame = bad.to_frame(backend)
    assert type(frame) is type(MAKERS[backend]({"a": [1]}))
    assert list(frame["qid"] if backend != "pyarrow" else frame["qid"].to_pylist()) == ["a", "b"]
    assert bad.to_frame("pandas")["rr"].tolist() == [0.5, 1.0]
    table = tk.compare({"good": good, "bad": bad}, "rr").to_frame("pandas")
    assert table.columns.tolist() == ["a", "b", "mean_a", "mean_b", "difference", "p", "corrected"]
    assert table["difference"].tolist() == [0.25]
