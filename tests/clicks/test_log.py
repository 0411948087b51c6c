"""Click logs: pages and counts, from frames, CSV, Parquet and text, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topkit as tk
from topkit.clicks import ClickLog, read_clicks
from topkit.data import InputError

PAGES = [
    tk.Page("q", ("a", "b", "c"), (False, True, False)),
    tk.Page("p", ("b", "a"), (True, False)),
    tk.Page("q", ("c", "a"), (True, True)),
]


def same(one: ClickLog, other: ClickLog) -> bool:
    def rows(log: ClickLog) -> list[Any]:
        names = [log.pairs.names()[i] for i in log.pair]
        ends = log.bounds.tolist() if log.has_pages else (log.impressions or np.zeros(0)).tolist()
        return [names, log.position.tolist(), log.clicks.tolist(), ends]

    return rows(one) == rows(other)


def test_pages_as_arrays() -> None:
    log = ClickLog.of_pages(PAGES)
    assert log.bounds.tolist() == [0, 3, 5, 7]
    assert log.position.tolist() == [1, 2, 3, 1, 2, 1, 2]
    assert log.page_query.tolist() == [0, 1, 0]
    assert [rows.tolist() for _, rows in log.by_place()] == [[0, 3, 5], [1, 4, 6], [2]]
    part = log.select([2, 0])
    assert part.bounds.tolist() == [0, 2, 5]
    assert part.clicks.tolist() == [True, True, False, True, False]


def test_counts_of_pages() -> None:
    counts = ClickLog.of_pages([*PAGES, PAGES[0]]).counts()
    assert counts.impressions is not None
    table = {
        (*counts.pairs.names()[pair], int(place)): (int(shown), int(clicks))
        for pair, place, shown, clicks in zip(
            counts.pair, counts.position, counts.impressions, counts.clicks, strict=True
        )
    }
    assert table == {
        ("q", "a", 1): (2, 0), ("q", "a", 2): (1, 1), ("q", "b", 2): (2, 2), ("q", "c", 1): (1, 1),
        ("q", "c", 3): (2, 0), ("p", "b", 1): (1, 1), ("p", "a", 2): (1, 0),
    }  # fmt: skip


def test_a_large_table_of_counts_is_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    log = ClickLog.of_pages(PAGES)
    dense = log.cells()
    monkeypatch.setattr("topkit.clicks.log.DENSE", 0)
    for one, other in zip(vars(dense).values(), vars(log.cells()).values(), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_come_back(backend: str) -> None:
    log = ClickLog.of_pages(PAGES)
    assert same(log, ClickLog.from_frame(log.to_frame(backend)))
    counts = log.counts()
    again = ClickLog.from_frame(counts.to_frame(backend))
    assert again.counts().clicks.tolist() == counts.clicks.tolist()
    assert not again.has_pages


def test_files_come_back(tmp_path: Path) -> None:
    log = ClickLog.of_pages(PAGES)
    frame = log.to_frame("pandas")
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_csv(tmp_path / "log.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "log.parquet")
    tk.write_pages(PAGES, tmp_path / "log.txt")
    for name in ("log.csv", "log.tsv", "log.parquet", "log.txt"):
        assert same(log, read_clicks(tmp_path / name))


def test_rows_and_pages_may_be_in_any_order(tmp_path: Path) -> None:
    frame = ClickLog.of_pages(PAGES).to_frame("pandas").sample(frac=1, random_state=1)
    log = ClickLog.from_frame(frame)
    pages = {
        tuple(log.pairs.names()[i] for i in log.pair[a:b])
        for a, b in zip(log.bounds, log.bounds[1:], strict=False)
    }
    assert (("q", "a"), ("q", "b"), ("q", "c")) in pages
    assert int(log.clicks.sum()) == 4


def test_other_names_of_columns() -> None:
    frame = pl.DataFrame({"session_id": [7, 7], "qid": [1, 1], "sku": ["x", "y"], "click": [False, True]})
    log = ClickLog.from_frame(frame, document="sku")
    assert log.pairs.names() == [("1", "x"), ("1", "y")]
    assert log.position.tolist() == [1, 2]
    table = pa.table({"query": ["q"], "url": ["u"], "rank": [3], "views": [10], "clicks": [4]})
    assert ClickLog.from_frame(table).cells().impressions.tolist() == [10.0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"query": ["q"], "document": ["a"]}, "expected a column named clicks or click"),
        ({"query": ["q"], "document": ["a"], "clicks": [1]}, "expected a column of pages or of impressions"),
        (
            {"query": ["q"], "document": ["a"], "clicks": [1], "impressions": [2]},
            "counts need a column of positions",
        ),
        ({"page": [1], "query": ["q"], "document": ["a"], "clicks": [2]}, "expected clicks of 0 or 1"),
        (
            {"page": [1, 1], "query": ["q", "p"], "document": ["a", "b"], "clicks": [0, 1]},
            "page 1 has documents of two",
        ),
        (
            {
                "page": [1, 1],
                "query": ["q", "q"],
                "document": ["a", "b"],
                "clicks": [0, 1],
                "position": [1, 1],
            },
            "two documents at position 1",
        ),
        (
            {"page": [1], "query": ["q"], "document": ["a"], "clicks": [1], "position": [0]},
            "positions from 1 to 65535",
        ),
        (
            {"page": [1], "query": [None], "document": ["a"], "clicks": [1]},
            "row 1 of the column 'query' is missing",
        ),
        ({"page": [1], "query": ["q"], "document": ["a"], "clicks": ["no"]}, "'clicks' is not a number"),
        ({"page": [1], "query": ["q"], "document": ["a"], "clicks": [0.5]}, "expected a count, got 0.5"),
        (
            {"query": ["q"], "document": ["a"], "clicks": [5], "impressions": [2], "position": [1]},
            "row 1 has 5 clicks for 2 impressions",
        ),
    ],
)
def test_wrong_logs_are_refused(columns: dict[str, list[Any]], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        ClickLog.from_frame(pa.table(columns))
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(InputError, match=r"log\.parquet"):
        read_clicks(path)


def test_ids_of_csv_are_texts(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("page,query,document,clicks\n1,007,01,0\n1,007,1,1\n")
    assert read_clicks(tmp_path / "log.csv").pairs.names() == [("007", "01"), ("007", "1")]


def test_an_empty_log_is_refused() -> None:
    with pytest.raises(InputError, match="no rows"):
        ClickLog.of_pages([])


def test_simulated_counts_are_those_of_the_pages_with_the_same_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = tk.demo_data().select(np.arange(5))
    monkeypatch.setattr("topkit.clicks.simulation.BLOCK", 200)  # several blocks per query
    scores = data.X[:, 0]
    pages = tk.simulate_clicks(data, scores, 3_000, length=4, spread=2.0, seed=7)
    counts = tk.simulate_click_counts(data, scores, 3_000, length=4, spread=2.0, seed=7)
    added_up = pages.counts()
    for name in ("pair", "position", "impressions"):
        assert np.array_equal(getattr(added_up, name), getattr(counts, name))
    # the clicks are other draws of the same probabilities: their sum has the same mean and variance
    p = tk.Users().probabilities(counts, tk.Users().rates(data))
    assert counts.impressions is not None
    error = np.sqrt(counts.impressions @ (p * (1 - p)))
    assert abs(counts.clicks.sum() - counts.impressions @ p) < 4 * error
    with pytest.raises(InputError, match="expected at least one page, got 0"):
        tk.simulate_click_counts(data, scores, 0)


@pytest.mark.parametrize("count", [1e19, 2.0**53 + 2, -1.0, 0.5, float("nan"), float("inf")])
def test_counts_that_are_no_counts_are_refused(count: float) -> None:
    table = {"query": ["q"], "document": ["d"], "position": [1], "impressions": [count], "clicks": [0]}
    with pytest.raises(InputError, match="row 1 of the column 'impressions': expected a count, got"):
        ClickLog.from_frame(pa.table(table))


def test_ids_that_are_no_ids_are_refused() -> None:
    table = {"page": [1], "document": ["d"], "clicks": [0]}
    with pytest.raises(InputError, match="the column 'query' has the type struct<a: int64>"):
        ClickLog.from_frame(pa.table({**table, "query": [{"a": 1}]}))
    with pytest.raises(InputError, match="the column 'query' has the type list<item: int64>"):
        ClickLog.from_frame(pa.table({**table, "query": [[1]]}))
