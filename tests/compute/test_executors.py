"""Independent cells: every cell gives its result or its error, whoever computes it."""

from __future__ import annotations

import os

import pytest

from topkit.compute import run_cells


def reciprocal(cell: str) -> str:
    return str(1 / int(cell))


def threads_of_worker(cell: str) -> str:
    return os.environ["TOPKIT_THREADS"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_one_cell_does_not_stop_the_others(jobs: int) -> None:
    finished = sorted(run_cells(reciprocal, ["1", "0", "4"], jobs=jobs), key=lambda done: done.place)
    assert [done.result for done in finished] == ["1.0", "", "0.25"]
    assert [type(done.error) for done in finished] == [type(None), ZeroDivisionError, type(None)]


def test_processes_use_one_thread_each() -> None:
    assert [done.result for done in run_cells(threads_of_worker, ["a"], jobs=2)] == ["1"]


def test_nothing_to_do() -> None:
    assert list(run_cells(reciprocal, [])) == []
    assert list(run_cells(reciprocal, [], jobs=2)) == []
