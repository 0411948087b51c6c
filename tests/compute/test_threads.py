"""Threads: the setting, maps in order, and chunks that cover everything once for any number of threads."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkit.compute import (
    beside,
    one_blas_thread,
    over_queries,
    query_chunks,
    row_chunks,
    thread_count,
    thread_map,
)

lengths = st.lists(st.integers(1, 50), max_size=40)
threads = st.integers(1, 9)


def ptr_of(lengths: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.cumsum([0, *lengths]).astype(np.int64)


@given(lengths, threads, st.integers(1, 200))
def test_query_chunks_cover_all_queries_once_in_order(
    lengths: list[int], threads: int, documents: int
) -> None:
    ptr = ptr_of(lengths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOPKIT_THREADS", str(threads))
        chunks = query_chunks(ptr, documents)
    assert [query for first, last in chunks for query in range(first, last)] == list(range(len(lengths)))
    assert all(first < last for first, last in chunks)
    assert len(chunks) <= threads
    assert len(chunks) <= max(1, int(ptr[-1]) // documents)


@given(lengths, threads)
def test_query_chunks_are_balanced_up_to_one_query(lengths: list[int], threads: int) -> None:
    ptr = ptr_of(lengths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOPKIT_THREADS", str(threads))
        chunks = query_chunks(ptr, 1)
    share = int(ptr[-1]) / min(threads, max(1, int(ptr[-1])))
    for first, last in chunks:
        assert ptr[last] - ptr[first] <= share + max(lengths)


def test_small_data_is_one_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPKIT_THREADS", "8")
    assert query_chunks(ptr_of([5, 5, 5])) == [(0, 3)]
    assert query_chunks(ptr_of([])) == []


@given(st.integers(0, 5000), threads, st.integers(1, 300))
def test_row_chunks_cover_all_rows_once_in_order(rows: int, threads: int, at_least: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOPKIT_THREADS", str(threads))
        chunks = row_chunks(rows, at_least)
    assert chunks[0][0] == 0
    assert chunks[-1][1] == rows
    assert all(before[1] == after[0] for before, after in pairwise(chunks))
    assert len(chunks) <= threads


@given(lengths, threads)
def test_work_over_queries_does_not_depend_on_the_threads(lengths: list[int], threads: int) -> None:
    ptr = ptr_of(lengths)
    sums = np.zeros(len(lengths))

    def work(first: int, last: int) -> None:
        for query in range(first, last):
            sums[query] += np.arange(ptr[query], ptr[query + 1]).sum()

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOPKIT_THREADS", str(threads))
        over_queries(work, ptr, 1)
    assert sums.tolist() == [sum(range(a, b)) for a, b in pairwise(ptr.tolist())]


@pytest.mark.parametrize("threads", ["1", "4"])
def test_a_map_keeps_the_order(monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    monkeypatch.setenv("TOPKIT_THREADS", threads)
    assert thread_map(lambda i: i * i, range(20)) == [i * i for i in range(20)]
    assert thread_map(str, []) == []


def test_a_map_raises_what_the_function_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPKIT_THREADS", "3")
    with pytest.raises(ZeroDivisionError):
        thread_map(lambda i: 1 / i, [2, 1, 0])


def test_the_setting_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPKIT_THREADS", " 3 ")
    assert thread_count() == 3
    monkeypatch.delenv("TOPKIT_THREADS")
    cores = thread_count()
    assert 1 <= cores <= (os.cpu_count() or 1)
    monkeypatch.setenv("TOPKIT_THREADS", "")
    assert thread_count() == cores


@pytest.mark.parametrize("setting", ["0", "-2", "two", "1.5"])
def test_an_invalid_setting_is_ignored_with_a_warning(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setenv("TOPKIT_THREADS", setting)
    with pytest.warns(UserWarning, match="TOPKIT_THREADS must be a positive integer"):
        assert thread_count() >= 1


def test_blas_is_limited_inside_only() -> None:
    from threadpoolctl import threadpool_info

    def blas_threads() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = blas_threads()
    with one_blas_thread():
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before


@pytest.mark.parametrize(("threads", "worth_it"), [("1", True), ("2", True), ("2", False)])
def test_work_beside_the_body_gives_its_result_or_its_error(
    monkeypatch: pytest.MonkeyPatch, threads: str, worth_it: bool
) -> None:
    monkeypatch.setenv("TOPKIT_THREADS", threads)
    with beside(lambda: 6 * 7, worth_it=worth_it) as result:
        assert result() == 42
    with pytest.raises(ZeroDivisionError), beside(lambda: 1 // 0, worth_it=worth_it) as result:
        result()
