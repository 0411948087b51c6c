"""The closure of answers against brute force over all weak orders."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from topkit.labelling.known import Known, in_groups

ITEMS = 4
LEVELS = list(product(range(ITEMS), repeat=ITEMS))  # every weak order, some more than once


def said(levels: tuple[int, ...], a: int, b: int) -> str:
    return "a" if levels[a] > levels[b] else "b" if levels[b] > levels[a] else "tie"


pairs = st.tuples(st.integers(0, ITEMS - 1), st.integers(0, ITEMS - 1)).filter(
    lambda pair: pair[0] != pair[1]
)


@given(st.sampled_from(LEVELS), st.lists(pairs, max_size=6))
def test_relation_is_what_all_consistent_weak_orders_share(
    truth: tuple[int, ...], asked: list[tuple[int, int]]
) -> None:
    known = Known(ITEMS)
    for a, b in asked:
        known.record(a, b, said(truth, a, b))
    possible = [w for w in LEVELS if all(said(w, a, b) == said(truth, a, b) for a, b in asked)]
    for a, b in product(range(ITEMS), repeat=2):
        if a == b:
            continue
        answers = {said(levels, a, b) for levels in possible}
        assert known.relation(a, b) == (answers.pop() if len(answers) == 1 else None)
    assert known.conflicts == 0


@given(st.sampled_from(LEVELS), st.lists(pairs, max_size=6))
def test_undefeated_counts_classes_that_nothing_beats(
    truth: tuple[int, ...], asked: list[tuple[int, int]]
) -> None:
    known = Known(ITEMS)
    for a, b in asked:
        known.record(a, b, said(truth, a, b))
    free = [i for i in range(ITEMS) if not any(known.relation(j, i) == "a" for j in range(ITEMS) if j != i)]
    classes = {min([i, *(j for j in free if j != i and known.relation(i, j) == "tie")]) for i in free}
    assert known.undefeated == len(classes)


def test_a_bad_mark_includes_all_items_that_are_not_better() -> None:
    known = Known(5)
    known.record(0, 1, "a")
    known.record(1, 2, "tie")
    known.record(2, 3, "a")
    known.record(1, 4, "bad-a")
    assert [known.is_bad(i) for i in range(5)] == [False, True, True, True, False]
    assert known.relation(4, 3) == "a"  # never compared, but 3 is bad
    assert known.relation(1, 3) == "tie"  # bad ones tie, whatever was said before
    assert known.relation(0, 4) is None


def test_conflicts_change_nothing() -> None:
    known = Known(3)
    known.record(0, 1, "a")
    known.record(1, 2, "a")
    known.record(2, 0, "a")
    assert known.conflicts == 1
    assert known.relation(0, 2) == "a"


def test_neighbours_that_tie_form_groups() -> None:
    known = Known(4)
    known.record(1, 2, "tie")
    known.record(0, 1, "a")
    known.record(2, 3, "a")
    assert in_groups(known, [0, 1, 2, 3]) == [[0], [1, 2], [3]]
