"""The values: Strings, Truth, Dataset, Run; Parquet, normalisation, folds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from tests.support.data import datasets
from topkit.data import Dataset, InputError, Run, Strings, Truth


@given(st.lists(st.text()), st.data())
def test_strings_behave_like_a_list(values: list[str], data: st.DataObject) -> None:
    values = [v.encode("utf-8", "replace").decode() for v in values]
    column = Strings.of(values)
    assert column.tolist() == values
    assert list(column[1:]) == values[1:]
    assert list(column[::-1]) == values[::-1]
    assert Strings.concatenate([column, column]).tolist() == values + values
    if values:
        picks = data.draw(st.lists(st.integers(-len(values), len(values) - 1)))
        assert column.take(picks).tolist() == [values[i] for i in picks]
        assert column[-1] == values[-1]
        assert column[1:].take([0] if len(values) > 1 else []).tolist() == values[1:2]


def test_a_string_beyond_the_end_is_an_error() -> None:
    with pytest.raises(IndexError):
        Strings.of(["a"])[1]


def test_top_k_labels_by_hand() -> None:
    order = Dataset.build(np.zeros((5, 1)), [2, 4, 1, 3, 1], ["q"] * 4 + ["r"], truth="order")
    top = order.top_k(2)
    # the best of q is its second document, then the fourth; r has one document, so its k is 1
    assert top.y.tolist() == [0, 2, 0, 1, 1]
    assert str(top.truth) == "top-2"
    assert order.top_k(9).y.tolist() == [2, 4, 1, 3, 1]


@given(datasets(), st.integers(1, 5), st.integers(0, 9))
def test_top_k_truth_agrees_with_the_grades(ds: Dataset, k: int, seed: int) -> None:
    full, top = ds.as_order(seed), ds.top_k(k, seed)
    for _, rows in ds:
        n = rows.stop - rows.start
        assert sorted(full.y[rows]) == list(range(1, n + 1))
        assert (np.diff(ds.y[rows][np.argsort(full.y[rows])]) >= 0).all()
        kept = min(k, n)
        assert sorted(top.y[rows]) == [0] * (n - kept) + list(range(1, kept + 1))
        assert min(ds.y[rows][top.y[rows] > 0]) >= max(ds.y[rows][top.y[rows] == 0], default=-np.inf)
    assert full.top_k(k) == top
    assert ds.top_k(k, seed) == top


def test_ties_are_broken_by_the_seed() -> None:
    ds = Dataset.build(np.zeros((40, 1)), np.zeros(40), ["q"] * 40)
    assert ds.top_k(5, seed=1) != ds.top_k(5, seed=2)


def test_deeper_truth_cannot_be_derived(ragged: Dataset) -> None:
    top = ragged.top_k(2)
    assert top.top_k(1).y.max() == 1
    with pytest.raises(InputError, match="top 3 cannot be derived from top-2 truth"):
        top.top_k(3)


@pytest.mark.parametrize("text", ["graded", "order", "top-10"])
def test_truth_prints_and_parses_back(text: str) -> None:
    assert str(Truth.parse(text)) == text


@pytest.mark.parametrize("text", ["top-0", "top-x", "gradid", ""])
def test_unknown_truth(text: str) -> None:
    with pytest.raises(InputError, match="unknown kind"):
        Truth.parse(text)


def test_labels_must_be_of_their_kind() -> None:
    with pytest.raises(InputError, match="query number 2 are not order labels"):
        Dataset.build(np.zeros((3, 1)), [1, 3, 1], ["a", "b", "b"], truth="order")


def test_documents_that_tie_share_a_top_k_label() -> None:
    def top(k: int, *labels: float) -> Dataset:
        return Dataset.build(np.zeros((len(labels), 1)), labels, ["q"] * len(labels), truth=f"top-{k}")

    assert top(3, 1, 3, 3, 0).y.tolist() == [1, 3, 3, 0]  # places 1, 1, 3
    assert top(3, 3, 2, 2, 2, 0).y.tolist() == [3, 2, 2, 2, 0]  # the tie at the border stays together
    assert top(5, 5, 4, 0, 0, 0, 0).y.tolist() == [5, 4, 0, 0, 0, 0]  # the others are bad
    assert top(3, 0, 0).y.tolist() == [0, 0]
    for labels in ((3, 3, 2, 0), (3, 1, 0, 0), (2, 1, 0, 0), (4, 3, 2, 1), (3, 2, 1.5, 0), (3, 2, 1, -1)):
        with pytest.raises(InputError, match="are not top-3 labels"):
            top(3, *labels)


def test_a_smaller_k_keeps_ties_unless_they_are_to_be_broken() -> None:
    tied = Dataset.build(np.zeros((6, 1)), [4, 4, 2, 2, 2, 0], ["q"] * 6, truth="top-4")
    assert tied.top_k(4).y.tolist() == [4, 4, 2, 2, 2, 0]
    assert tied.top_k(3).y.tolist() == [3, 3, 1, 1, 1, 0]
    assert tied.top_k(2).y.tolist() == [2, 2, 0, 0, 0, 0]
    orders = {tuple(tied.top_k(3, seed, break_ties=True).y.tolist()) for seed in range(60)}
    expected = {
        (*first, *(float(i == third) for i in range(3)), 0.0)
        for first in ((3.0, 2.0), (2.0, 3.0))
        for third in range(3)
    }
    assert orders == expected  # every total order that agrees with the places, and no other
    few = Dataset.build(np.zeros((5, 1)), [4, 3, 0, 0, 0], ["q"] * 5, truth="top-4")
    assert few.top_k(4, break_ties=True).y.tolist() == [4, 3, 0, 0, 0]  # bad documents get no order


def test_a_data_set_cannot_be_changed(ragged: Dataset) -> None:
    with pytest.raises(ValueError, match="read-only"):
        ragged.X[0, 0] = 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"X": [[1.0]]}, "one label per row"),
        ({"qid": ["a", "b", "a"]}, "rows of query 'a' are not contiguous"),
        ({"y": [1, np.nan, 0]}, "finite"),
        ({"doc_ids": ["d"]}, "one string per document"),
        ({"feature_names": ["f", "g"]}, "2 feature names"),
    ],
)
def test_parts_that_do_not_fit(changes: dict[str, object], words: str) -> None:
    parts: dict[str, object] = {"X": [[1.0], [2.0], [3.0]], "y": [1, 0, 1], "qid": ["a", "a", "b"]}
    with pytest.raises(ValueError, match=words):
        Dataset.build(**(parts | changes))  # type: ignore[arg-type]


def test_the_callers_arrays_stay_writable() -> None:
    X, y = np.zeros((3, 2), np.float32), np.array([1, 0, 2], np.float32)
    ptr, scores = np.array([0, 2, 3]), np.array([1.0, 2.0, 3.0])
    data = Dataset(X, y, ptr, ("a", "b"))
    run = Run(("a", "b"), ptr, Strings.of(["d1", "d2", "d1"]), scores)
    for array in (X, y, ptr, scores):
        assert array.flags.writeable
    for array in (data.X, data.y, data.ptr, run.ptr, run.scores):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert np.shares_memory(data.X, X)


def test_any_array_like_is_accepted() -> None:
    expected = Dataset.build([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1, 0, 2], ["7", "7", "8"])
    X = np.array([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]).T  # float64 in Fortran order
    data = Dataset(X, np.array([1, 0, 2]), [0, 2, 3], [7, 8])  # type: ignore[arg-type]
    assert data == expected
    assert [array.dtype.name for array in (data.X, data.y, data.ptr)] == ["float32", "float32", "int64"]
    assert data.X.flags.c_contiguous
    data = Dataset(X.tolist(), [1.0, 0.0, 2.0], (0, 2, 3), ["7", "8"], ["x", "y", "z"])  # type: ignore[arg-type]
    assert data.doc_ids == Strings.of("xyz")
    run = Run(["7"], [0, 2], ["x", "y"], [2, 1])  # type: ignore[arg-type]
    assert run["7"] == [("x", 2.0), ("y", 1.0)]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (([1.0], [1], [0, 1], ("a",)), "X must be a matrix"),
        (([[1e300]], [1], [0, 1], ("a",)), "X has values that are too large for float32"),
        (([["x"]], [1], [0, 1], ("a",)), "X is not an array of numbers"),
        (([[1.0]], 1, [0, 1], ("a",)), "one label per row"),
        (([[1.0]], [1], [0, 2], ("a",)), "ptr must have 2 entries from 0 to 1"),
        (([[1.0]], [1], [0, 0, 1], ("a", "b")), "at least one document"),
        (([[1.0], [2.0]], [1, 1], [0, 1, 2], ("a", "a")), "unique"),
    ],
)
def test_invalid_parts_are_input_errors(parts: tuple[object, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Dataset(*parts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ((("a",), [0, 2], ["d"], [1.0]), "entries from 0 to 1"),
        ((("a",), [0, 1], ["d", "e"], [1.0]), "2 documents, 1 scores"),
        ((("a",), [0, 1], ["d"], [np.nan]), "NaN"),
        ((("a", "a"), [0, 1, 2], ["d", "e"], [1.0, 2.0]), "unique"),
    ],
)
def test_invalid_parts_of_a_run(parts: tuple[object, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Run(*parts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "qid",
    [
        ["7", "7", "8"],
        [7, 7, 8],
        [7, "7", 8],
        np.array([7, 7, 8], np.uint8),
        np.array(["7", "7", "8"]),
        np.array(["7", "7", "8"], object),
        (7, 7, 8),
    ],
)
def test_query_ids_of_any_type(qid: list[object]) -> None:
    data = Dataset.build(np.zeros((3, 1)), [0, 0, 0], qid)
    assert data.qids == ("7", "8")
    assert data.ptr.tolist() == [0, 2, 3]


@given(st.lists(st.sampled_from(["a", "b", "b\0", "c" * 50]), max_size=30))
def test_grouping_agrees_with_groupby(names: list[str]) -> None:
    from itertools import groupby

    groups = [(name, len(list(rows))) for name, rows in groupby(names)]
    if len({name for name, _ in groups}) < len(groups):
        with pytest.raises(InputError, match="are not contiguous"):
            Dataset.build(np.zeros((len(names), 1)), np.zeros(len(names)), names)
        return
    data = Dataset.build(np.zeros((len(names), 1)), np.zeros(len(names)), names)
    assert list(zip(data.qids, data.lengths.tolist(), strict=True)) == groups


def test_selecting_queries(ragged: Dataset) -> None:
    part = ragged.select([3, 0])
    assert part.qids == ("d", "a")
    np.testing.assert_array_equal(part.X[:12], ragged.X[10:22])
    np.testing.assert_array_equal(part.X[12:], ragged.X[:1])
    assert part.doc_ids is not None
    assert part.doc_ids[12] == "d0"
    assert ragged.select(ragged.lengths > 2).qids == ("c", "d", "e")


def test_joining_gives_back_what_was_split(ragged: Dataset) -> None:
    assert tk.concatenate([ragged.select([0, 1]), ragged.select([2, 3, 4])]) == ragged
    with pytest.raises(InputError, match="more than one"):
        tk.concatenate([ragged, ragged.select([2])])
    with pytest.raises(InputError, match="truth"):
        tk.concatenate([ragged.select([0]), ragged.select([1]).top_k(1)])


def test_run_from_scores_keeps_input_order_on_ties(ragged: Dataset) -> None:
    run = Run.from_scores(ragged, np.zeros(len(ragged)))
    assert [doc for doc, _ in run["c"]] == [f"d{i}" for i in range(3, 10)]
    run = Run.from_scores(ragged, np.arange(len(ragged)))
    assert [doc for doc, _ in run["c"]] == [f"d{i}" for i in range(9, 2, -1)]


def test_a_run_names_each_document_once() -> None:
    with pytest.raises(InputError, match="'d' is given twice for query 'q'"):
        Run.of({"q": [("d", 1), ("e", 2), ("d", 3)]})


@given(datasets(), st.booleans(), st.booleans())
def test_parquet_keeps_everything(
    tmp_path_factory: pytest.TempPathFactory, ds: Dataset, named: bool, ordered: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "ds.parquet"
    ds = ds.with_features(ds.X, [f"f{j}" for j in range(ds.n_features)]) if named else ds
    ds = ds.top_k(2) if ordered else ds
    ds.to_parquet(path)
    assert tk.read_parquet(path) == ds


def test_writing_parquet_does_not_import_pandas(tmp_path: Path) -> None:
    script = (
        "import sys, topkit as tk\n"
        "data = tk.Dataset.build([[1.0], [2.0], [3.0]], [0, 1, 0], ['ä', 'ä', 'b'])\n"
        "data.to_parquet(sys.argv[1])\n"
        "print('pandas' in sys.modules)\n"
    )
    path = tmp_path / "data.parquet"
    command = [sys.executable, "-c", script, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert tk.read_parquet(path).qids == ("ä", "b")


def test_parquet_of_many_row_groups(tmp_path: Path) -> None:
    n = 40_000
    X = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
    ds = Dataset.build(X, np.arange(n) % 5, np.arange(n) // 100, doc_ids=[f"d{i}" for i in range(n)])
    ds.to_parquet(tmp_path / "x.parquet")
    assert tk.read_parquet(tmp_path / "x.parquet") == ds


def test_a_table_of_another_tool(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = {
        "bm25": [1.5, 2.5, 3.5],
        "qid": [7, 7, 8],
        "label": [1, 0, 2],
        "title": ["x", "y", "z"],
        "hits": [1, 2, 3],
    }
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    ds = tk.read_parquet(tmp_path / "t.parquet")
    assert ds.feature_names == ("bm25", "hits")
    assert ds.X.tolist() == [[1.5, 1], [2.5, 2], [3.5, 3]]
    assert ds.qids == ("7", "8")


def test_bad_parquet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1 nothing here PAR1")
    with pytest.raises(InputError, match="not a readable Parquet"):
        tk.read_parquet(path)
    with pytest.raises(InputError, match="no such file"):
        tk.read_parquet(tmp_path / "none")


def test_normalisations_by_hand() -> None:
    X = np.array([[2, 5], [4, 5], [9, 5], [-3, np.nan]], np.float32)
    ds = Dataset.build(X, [0, 1, 2, 0], ["q", "q", "q", "r"])
    # min–max: (2−2)/7, (4−2)/7, 1; constant → 0; a list of one is constant; NaN stays
    assert tk.normalise(ds, "min-max").X[:3, 0].tolist() == pytest.approx([0, 2 / 7, 1])
    assert tk.normalise(ds, "min-max").X[:3, 1].tolist() == [0, 0, 0]
    assert tk.normalise(ds, "min-max").X[3, 0] == 0
    assert np.isnan(tk.normalise(ds, "min-max").X[3, 1])
    # z-score: mean 5, squared deviations 9 + 1 + 16 = 26, deviation sqrt(26/3)
    assert tk.normalise(ds, "z-score").X[:3, 0].tolist() == pytest.approx(
        np.array([-3, -1, 4]) / np.sqrt(26 / 3)
    )
    # SortNet: (x − 5)/9, and (−3 − −3)/3 = 0 for the list of one
    assert tk.normalise(ds, "sortnet").X[:, 0].tolist() == pytest.approx([-3 / 9, -1 / 9, 4 / 9, 0])


def test_normalised_next_to_the_originals(ragged: Dataset) -> None:
    both = tk.normalise(ragged, "z-score", mode="append")
    np.testing.assert_array_equal(both.X[:, :4], ragged.X)
    np.testing.assert_array_equal(both.X[:, 4:], tk.normalise(ragged, "z-score").X)
    assert both.feature_names is not None
    assert both.feature_names[4] == "1:z-score"
    with pytest.raises(InputError, match="unknown normalisation"):
        tk.normalise(ragged, "minmax")


def test_folds_rotate() -> None:
    ds = Dataset.build(np.zeros((23, 1)), np.zeros(23), np.arange(23))
    rounds = tk.query_folds(ds, 5, seed=4)
    assert sorted(qid for fold in rounds for qid in fold.test.qids) == sorted(ds.qids)
    assert sorted(qid for fold in rounds for qid in fold.valid.qids) == sorted(ds.qids)
    for i, fold in enumerate(rounds):
        assert fold.valid == rounds[i - 1].test
        assert not set(fold.train.qids) & (set(fold.valid.qids) | set(fold.test.qids))
        assert fold.train.n_queries + fold.valid.n_queries + fold.test.n_queries == 23
    with pytest.raises(InputError, match="2 folds"):
        tk.query_folds(ds, 2)


def test_splits_cover_every_query_once(ragged: Dataset) -> None:
    parts = tk.split_queries(ragged, [3, 2], seed=1)
    assert sorted(qid for part in parts for qid in part.qids) == list("abcde")
    with pytest.raises(InputError, match="too few"):
        tk.split_queries(ragged, [1] * 6)


def test_an_infinite_feature_is_named_and_refused() -> None:
    X = np.zeros((3, 2), np.float32)
    X[2, 1] = -np.inf
    with pytest.raises(InputError, match=r"feature 2 of document 1 of query 'b' is infinite; replace it"):
        Dataset.build(X, [0, 1, 0], ["a", "a", "b"])
    X[2, 1] = np.nan
    X[0] = 3e38  # the sum is infinite, the values are not
    X[1, 0] = 3e38
    assert np.isnan(Dataset.build(X, [0, 1, 0], ["a", "a", "b"]).X[2, 1])


def test_strings_of_ranges_are_those_of_single_positions() -> None:
    values = [f"{'é' * (i % 3)}{i}" for i in range(200)]
    column = Strings.of(values)
    for picks in ([*range(50, 90), *range(10, 60)], list(range(-40, 0)), [*range(190, 200), *range(-30, 5)]):
        assert column.take(picks).tolist() == [values[i] for i in picks]
    with pytest.raises(IndexError):
        column.take(range(150, 201))
