"""The order of labels by NumPy, compared with loops over documents."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from topkit.losses.base import WHOLE
from topkit.losses.sorted_labels import chosen_rows, rank_labels, top_memberships

lists = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, -1.5, 0.25, 300.0]), max_size=7), min_size=1, max_size=5
)
tops = st.sampled_from([1, 2, 3, 10, WHOLE])


def flat(labels: list[list[float]]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    ptr = np.concatenate([[0], np.cumsum([len(y) for y in labels])]).astype(np.int64)
    return np.array([value for y in labels for value in y], np.float64), ptr


@given(lists, tops)
def test_order_and_border_of_each_list(labels: list[list[float]], k: int) -> None:
    values, ptr = flat(labels)
    order, below, whole, shared, share = rank_labels(values, ptr, k)
    inside = top_memberships(values, ptr, k)
    for q, y in enumerate(labels):
        rows = slice(ptr[q], ptr[q + 1])
        expected = sorted(range(len(y)), key=lambda i: -y[i])
        assert order[rows].tolist() == expected
        assert below[rows].tolist() == [sum(value >= y[i] for value in y) for i in expected]
        if k >= len(y):
            assert (whole[q], shared[q], share[q]) == (len(y), len(y), 1.0)
            assert inside[rows].tolist() == [1.0] * len(y)
            continue
        border = y[expected[k - 1]]
        above, reached = sum(value > border for value in y), sum(value >= border for value in y)
        assert (whole[q], shared[q]) == (above, reached)
        part = (k - above) / (reached - above)
        assert share[q] == part
        assert inside[rows].tolist() == [1.0 if v > border else part if v == border else 0.0 for v in y]


@given(lists, tops)
def test_documents_that_a_likelihood_chooses(labels: list[list[float]], k: int) -> None:
    values, ptr = flat(labels)
    starts, rows, group, weight = chosen_rows(values, ptr, k)
    for q, y in enumerate(labels):
        chosen = slice(starts[q], starts[q + 1])
        order = sorted(range(len(y)), key=lambda i: -y[i])
        picked = [i for i in order if y[i] > min(y) and y[i] >= y[order[min(k, len(y)) - 1]]]
        assert rows[chosen].tolist() == picked
        assert group[chosen].tolist() == [sum(value > y[i] for value in y) for i in picked]
        least = y[picked[-1]] if picked else 0.0
        above = sum(y[i] > least for i in picked)
        shares = [1.0 if y[i] > least else min(1.0, (k - above) / (len(picked) - above)) for i in picked]
        assert weight[chosen].tolist() == shares
