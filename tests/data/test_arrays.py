"""Data sets from arrays in any order, dense or sparse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from topkit import Dataset, InputError


def test_rows_in_any_order_are_grouped_by_first_occurrence() -> None:
    data = Dataset.from_arrays([[1], [2], [3]], [0, 1, 2], ["b", "a", "b"], doc_ids=["x", "y", "z"])
    assert data.qids == ("b", "a")
    assert data.X.ravel().tolist() == [1, 3, 2]
    assert data.y.tolist() == [0, 2, 1]
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["x", "z", "y"]


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_matrices_are_filled_with_zeros(make: type) -> None:
    dense = np.array([[0, 1.5], [2, 0], [0, 0]])
    data = Dataset.from_arrays(make(dense), [1, 0, 2], [7, 7, 8])
    assert data == Dataset.build(dense, [1, 0, 2], [7, 7, 8])


def test_arrays_are_copied() -> None:
    X = np.ones((2, 1), np.float32)
    data = Dataset.from_arrays(X, [0, 1], [1, 1])
    X[0] = 5
    assert data.X.ravel().tolist() == [1, 1]


def test_lengths_that_differ_are_an_error() -> None:
    with pytest.raises(InputError, match="X has 2 rows, y 3 labels and qid 2 ids"):
        Dataset.from_arrays([[1], [2]], [0, 1, 2], [1, 1])
    with pytest.raises(InputError, match="2 dimensions"):
        Dataset.from_arrays([[1], [2]], [0, 1], np.zeros((2, 1)))


def test_ids_of_any_type_keep_their_text() -> None:
    assert Dataset.from_arrays([[1], [2], [3]], [0, 1, 2], [7, "7", 1.0]).qids == ("7", "1.0")
