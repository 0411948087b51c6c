"""Interleaving: fair pages, credit by hand, and verdicts about rankers of known quality."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topkit as tk
from topkit.clicks import INTERLEAVINGS, interleave, interleaving_test
from topkit.clicks.interleaving.optimised import _distribution, possible_pages
from topkit.clicks.interleaving.pages import read_outcomes
from topkit.data import InputError

METHODS = list(INTERLEAVINGS)


@settings(max_examples=40, deadline=None)
@given(
    a=st.permutations(list("abcdef")),
    b=st.permutations(list("abcdgh")),
    length=st.integers(1, 8),
    seed=st.integers(0, 1000),
    method=st.sampled_from(METHODS),
)
def test_pages_hold_different_documents_of_both_rankings(
    a: list[str], b: list[str], length: int, seed: int, method: str
) -> None:
    page = interleave(a, b, method, length=length, rng=seed)
    assert len(page.docs) == len(set(page.docs)) == len(page.credit)
    assert len(page.docs) == min(length, 8)
    assert set(page.docs) <= {*a, *b}
    assert page == interleave(a, b, method, length=length, rng=seed)


@pytest.mark.parametrize("method", METHODS)
def test_equal_rankings_and_random_clicks_have_no_winner(method: str) -> None:
    rng = np.random.default_rng(0)
    a, b = list("abcde"), list("bdace")
    outcomes = []
    for _ in range(4000):
        page = interleave(a, b, method, length=5, rng=rng)
        outcomes.append(page.outcome((rng.random(5) < 0.4).tolist()))
    assert abs(np.mean(outcomes)) < 4 * np.std(outcomes) / 4000**0.5


@pytest.mark.parametrize("method", METHODS)
def test_the_better_ranking_wins(method: str) -> None:
    rng = np.random.default_rng(1)
    outcomes = []
    for _ in range(400):
        page = interleave(list("abcde"), list("edcba"), method, length=5, rng=rng)
        outcomes.append(page.outcome([doc in "ab" and rng.random() < 0.5 for doc in page.docs]))
    found = interleaving_test(outcomes)
    assert found.mean > 0
    assert found.p < 0.001
    assert "ranker A is better" in str(found)
    assert found.low > 0


def test_team_draft_pages_of_two() -> None:
    pages = Counter(interleave("xy", "yx", "team-draft", length=2, rng=seed) for seed in range(400))
    # the first coin decides: x by A then y by B, or y by B then x by A
    assert {(page.docs, page.credit) for page in pages} == {
        (("x", "y"), (1.0, -1.0)),
        (("y", "x"), (-1.0, 1.0)),
    }
    assert all(150 < count < 250 for count in pages.values())


def test_probabilistic_credit_by_hand() -> None:
    # ranks by A: x 1, y 2; by B: y 1, x 2. P_A(x) = 1/(1 + 1/8) = 8/9, P_B(x) = 1/9
    page = interleave("xy", "yx", "probabilistic", length=2, rng=3)
    first = 7 / 9 if page.docs[0] == "x" else -7 / 9
    assert page.credit == pytest.approx((first, 0.0))  # the last document is certain for both


def test_optimised_pages_are_fair_at_every_depth() -> None:
    a, b = tuple("abcdef"), tuple("badcfe")
    pages, p = _distribution(a, b, 6)
    assert p.sum() == pytest.approx(1)
    credit = {doc: 1 / (a.index(doc) + 1) - 1 / (b.index(doc) + 1) for doc in a}
    for depth in range(1, 7):
        mean = sum(
            share * sum(credit[doc] for doc in page[:depth]) for page, share in zip(pages, p, strict=True)
        )
        assert mean == pytest.approx(0, abs=1e-9)


def test_possible_pages_by_brute_force() -> None:
    a, b = list("abcd"), list("cadb")

    def allowed(page: tuple[str, ...]) -> bool:
        return all(
            doc in (next(x for x in a if x not in page[:i]), next(x for x in b if x not in page[:i]))
            for i, doc in enumerate(page)
        )

    expected = {page for page in permutations(a, 3) if allowed(page)}
    assert set(possible_pages(a, b, 3)) == expected


def test_wrong_input() -> None:
    with pytest.raises(InputError, match="occurs twice"):
        interleave(["a", "a"], ["b"])
    with pytest.raises(InputError, match="unknown way to interleave"):
        interleave(["a"], ["b"], "magic")
    with pytest.raises(InputError, match="length must be at least 1"):
        interleave(["a"], ["b"], length=0)
    with pytest.raises(InputError, match="no outcomes"):
        interleaving_test([])


def test_the_sign_test_is_that_of_scipy() -> None:
    from scipy.stats import binomtest

    outcomes = [1.0] * 14 + [-0.5] * 4 + [0.0] * 7
    found = interleaving_test(outcomes)
    assert (found.wins_a, found.wins_b, found.ties) == (14, 4, 7)
    assert found.p == binomtest(14, 18).pvalue
    assert tk.interleaving_test(np.zeros(3)).p == 1


def test_a_column_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pages.csv"
    path.write_bytes(b"page,credit,clicks,\xff\n1,1,1,x\n")
    with pytest.raises(InputError, match=r"pages\.csv: a column name is not UTF-8; save the file as UTF-8"):
        read_outcomes(path)
    path.write_text("page,credit,clicks\n1,1,1\n1,-1,0\n2,-1,1\n")
    assert read_outcomes(path).tolist() == [1.0, -1.0]
