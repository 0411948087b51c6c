"""Agreement by hand, by scikit-learn and SciPy, by published examples and by the paper's figures."""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, nan, sqrt
from random import Random

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_kappa

from topkit.data import Grade, InputError, Preference
from topkit.labelling.agreement import (
    Agreement,
    agreement,
    assessor_quality,
    beyond_chance,
    chi_square,
    cohen_kappa,
    fleiss_kappa,
    implied_preferences,
    intransitive,
    krippendorff_alpha,
    pairs_by_grades,
    pairs_judged,
    time_outliers,
    timing,
)
from topkit.labelling.agreement.kappa import Weights
from topkit.labelling.agreement.pairs import ANSWER_OF, FIRST, SECOND, TIE, Pair


def preferences(*rows: str) -> list[Preference]:
    """Rows such as "q x y a ann"."""
    return [Preference(q, a, b, answer, who) for q, a, b, answer, who in map(str.split, rows)]  # type: ignore[arg-type]


def test_tables_by_hand() -> None:
    judged = pairs_judged(
        preferences(
            "q x y a ann", "q y x b bob", "q x y tie cem",  # x≻y, x≻y, x∼y
            "q x z b ann", "q x z bad-b bob",               # x≺z, x≻z
            "q y z tie ann", "q y z tie bob",               # two ties
            "r x y a ann",                                  # judged once: does not count
        )
    )  # fmt: skip
    table = agreement(judged)
    # pairs of assessors: (x,y): ≻≻, ≻∼, ≻∼; (x,z): ≺≻; (y,z): ∼∼; each in both directions
    assert table.counts.tolist() == [[2, 2, 1], [2, 2, 0], [1, 0, 0]]
    assert (table.agreed, table.disagreed) == (2, 3)
    assert table.overall == pytest.approx(2 / 5)
    assert (table.agreed_without_ties, table.disagreed_without_ties) == (1, 1)
    assert table.without_ties == pytest.approx(1 / 2)
    assert table.rows.tolist() == [[0.4, 0.4, 0.2], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]
    assert table.tie_share == pytest.approx(0.4)


def test_grades_become_preferences() -> None:
    grades = [Grade("q", "x", 3, "ann"), Grade("q", "y", 1, "ann"), Grade("q", "z", 1, "ann")]
    grades += [Grade("q", "y", 2, "bob"), Grade("q", "x", 2, "bob"), Grade("q", "y", 0, "bob")]
    assert pairs_by_grades(grades) == {
        Pair("q", "x", "y"): {"ann": FIRST, "bob": FIRST},  # bob's last grade of y counts
        Pair("q", "x", "z"): {"ann": FIRST},
        Pair("q", "y", "z"): {"ann": TIE},
    }


def test_implied_preferences_are_each_assessors_own() -> None:
    given_ = preferences("q x y a ann", "q y z a ann", "q y z b bob", "q w z tie bob")
    implied = {(p.assessor, p.a, p.b): p.answer for p in implied_preferences(given_)}
    assert implied == {
        ("ann", "x", "y"): "a",
        ("ann", "x", "z"): "a",
        ("ann", "y", "z"): "a",
        ("bob", "y", "z"): "b",
        ("bob", "y", "w"): "b",
        ("bob", "z", "w"): "tie",
    }


def test_implied_preferences_keep_the_last_answer_as_it_was_given() -> None:
    changed = preferences("q x y a ann", "q y z a ann", "q y x a ann")  # first x≻y, then y≻x
    implied = {(p.a, p.b): p.answer for p in implied_preferences(changed)}
    assert implied == {("y", "x"): "a", ("y", "z"): "a"}  # x and z: nothing follows
    ring = preferences("q x y a ann", "q y z a ann", "q z x a ann")
    assert {(p.a, p.b): p.answer for p in implied_preferences(ring)} == {
        ("x", "y"): "a",
        ("x", "z"): "b",  # said so, although the other two answers imply the opposite
        ("y", "z"): "a",
    }


def repeated_disagreement() -> list[Preference]:
    """Ann and Bob disagree on every pair, and Ann gives each of her answers five times."""
    rows = []
    for i in range(4):
        first, second = ("a", "b") if i % 2 else ("b", "a")
        rows += [f"q x d{i} {first} ann"] * 5 + [f"q x d{i} {second} bob"]
    return preferences(*rows)


def test_repeated_answers_are_not_agreement_between_assessors() -> None:
    judged = pairs_judged(repeated_disagreement())
    assert all(len(answers) == 2 for answers in judged.values())
    table = agreement(judged)
    assert (table.agreed, table.disagreed) == (0, 4)  # not 5 per pair
    # no agreement, and by chance ½: κ = (0 − ½)/(1 − ½). If every answer were a rating, 20 of the 30 ordered
    # pairs of ratings would agree, and κ = (⅔ − ½)/(1 − ½) = +⅓.
    assert beyond_chance(judged).fleiss == pytest.approx(-1.0)
    # α = 1 − D_o/D_e with D_o = 1 and D_e = (4·4 + 4·4)/(8·7) = 4/7
    assert beyond_chance(judged).alpha == pytest.approx(1 - 7 / 4)


def test_only_the_last_rating_of_an_assessor_counts() -> None:
    rows = preferences("q x y a ann", "q x y b bob", "q y x a ann")  # ann changes her mind to y≻x
    table = agreement(pairs_judged(rows))
    assert table.counts.tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 2]]


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=2, max_size=12), st.randoms())
def test_fleiss_kappa_is_statsmodels(ratings: list[list[int]], chance: Random) -> None:
    """With every answer given three times: repeats do not change κ, and statsmodels sees each once."""
    judged = pairs_judged(shuffled_repeats(ratings, chance))
    counts, _ = aggregate_raters(np.array(ratings), n_cat=3)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = statsmodels_kappa(counts)
    assert beyond_chance(judged).fleiss == pytest.approx(expected, nan_ok=True)


@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.integers(0, 2)), min_size=4, max_size=4), min_size=2, max_size=12
    ),
    st.randoms(),
)
def test_krippendorffs_alpha_is_the_packages(ratings: list[list[int | None]], chance: Random) -> None:
    judged = pairs_judged(shuffled_repeats(ratings, chance))
    found = beyond_chance(judged)
    values = [[nan if answer is None else answer for answer in unit] for unit in ratings]
    used = {v for unit in values for v in unit if sum(w == w for w in unit) > 1 and v == v}
    if len(used) < 2:  # α is not defined; the package raises
        assert np.isnan(found.alpha)
        return
    by_assessor = np.array(values).T
    for level, ours in (("nominal", found.alpha), ("ordinal", found.ordinal_alpha)):
        theirs = krippendorff.alpha(by_assessor, value_domain=[0, 1, 2], level_of_measurement=level)
        assert ours == pytest.approx(theirs)


def shuffled_repeats(ratings: Sequence[Sequence[int | None]], chance: Random) -> list[Preference]:
    """Preferences with these ratings of unit i by assessor j; each follows two other answers to the pair."""
    last = [
        Preference("q", f"a{i}", f"b{i}", ANSWER_OF[answer], f"assessor {j}")
        for i, unit in enumerate(ratings)
        for j, answer in enumerate(unit)
        if answer is not None
    ]
    earlier = [row._replace(answer=chance.choice(ANSWER_OF)) for row in last for _ in range(2)]
    chance.shuffle(earlier)
    return earlier + last


def of_counts(agreed: int, disagreed: int, both_prefer: int = 0, opposed: int = 0) -> Agreement:
    """A table with these totals; ``both_prefer`` of the agreed and ``opposed`` of the others have no tie."""
    counts = np.zeros((3, 3), np.int64)
    counts[FIRST, FIRST] = 2 * both_prefer
    counts[TIE, TIE] = 2 * (agreed - both_prefer)
    counts[FIRST, SECOND] = counts[SECOND, FIRST] = opposed
    counts[FIRST, TIE] = counts[TIE, FIRST] = disagreed - opposed
    return Agreement(counts)


@given(*[st.integers(1, 500)] * 4)
def test_chi_square_is_pearsons(a: int, b: int, c: int, d: int) -> None:
    """The formula written out; with one degree of freedom p = erfc(√(χ²/2))."""
    test = chi_square(of_counts(a, b), of_counts(c, d))
    statistic = (a + b + c + d) * (a * d - b * c) ** 2 / ((a + b) * (c + d) * (a + c) * (b + d))
    assert test.statistic == pytest.approx(statistic, abs=1e-9)
    assert test.p == pytest.approx(erfc(sqrt(statistic / 2)), abs=1e-9)


def test_chi_square_by_hand() -> None:
    # N(ad − bc)²/((a+b)(c+d)(a+c)(b+d)) = 200·(60·60 − 40·40)²/(100·100·100·100) = 8
    assert chi_square(of_counts(60, 40), of_counts(40, 60)).statistic == pytest.approx(8.0)
    with pytest.raises(InputError, match="needs agreement and disagreement"):
        chi_square(of_counts(5, 0), of_counts(7, 0))


def marginals(rows: np.ndarray) -> np.ndarray:
    """How often each X1 was said, from the normalised rows: counts are symmetric, so p_i r_ij = p_j r_ji."""
    tie = rows[FIRST, TIE] / rows[TIE, FIRST]
    second = rows[FIRST, SECOND] / rows[SECOND, FIRST]
    return np.array([1.0, tie, second])


@pytest.mark.parametrize(
    ("rows", "overall", "without_ties"),
    [
        ([[0.6749, 0.2766, 0.0485], [0.1138, 0.8198, 0.0664], [0.1047, 0.3779, 0.5174]], 0.745, 0.897),
        ([[0.6272, 0.2913, 0.0815], [0.2825, 0.5232, 0.1944], [0.1534, 0.3826, 0.4640]], 0.547, 0.831),
    ],
    ids=["Table 2", "Table 3"],
)
def test_the_papers_tables_give_its_agreement(
    rows: list[list[float]], overall: float, without_ties: float
) -> None:
    # Niu et al. 2012, Tables 2 and 3. Rows are rounded and the printed table is not quite symmetric, so the
    # rates come out within a hundredth and a half.
    table = np.array(rows)
    found = Agreement(np.round(1e6 * table * marginals(table)[:, None]).astype(np.int64))
    assert found.overall == pytest.approx(overall, abs=0.015)
    assert found.without_ties == pytest.approx(without_ties, abs=0.015)
    np.testing.assert_allclose(found.rows, table, atol=1e-3)


def test_the_papers_chi_squares_fit_one_number_of_pairs() -> None:
    # 74.5 % against 54.7 % gives 420.7, and 89.7 % against 83.1 % gives 28.5, for one and the same number of
    # pairs each, of which about 31 % have no tie; Tables 2 and 3 say 26 % and 40 %.
    pairs, preferred = 4_910, 1_540
    first = of_counts(round(0.745 * pairs), round(0.255 * pairs))
    second = of_counts(round(0.547 * pairs), round(0.453 * pairs))
    assert chi_square(first, second).statistic == pytest.approx(420.7, rel=0.01)
    first = of_counts(4000, 2000, round(0.897 * preferred), round(0.103 * preferred))
    second = of_counts(4000, 2000, round(0.831 * preferred), round(0.169 * preferred))
    assert chi_square(first, second, ties=False).statistic == pytest.approx(28.5, rel=0.02)
    assert 0.26 < preferred / pairs < 0.40


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40))
def test_cohens_kappa_is_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    one, other = zip(*pairs, strict=True)
    if len({*one, *other}) == 1:
        assert np.isnan(cohen_kappa(one, other))
        return
    labels = sorted({*one, *other})
    names: list[tuple[Weights, str | None]] = [
        ("none", None),
        ("linear", "linear"),
        ("quadratic", "quadratic"),
    ]
    for ours, theirs in names:
        expected = cohen_kappa_score(one, other, labels=labels, weights=theirs)
        assert cohen_kappa(one, other, ours) == pytest.approx(expected)


def test_fleiss_published_example() -> None:
    # Fourteen raters, ten subjects, five categories: the usual textbook example after Fleiss, κ = 0.210.
    table = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    assert fleiss_kappa(table) == pytest.approx(0.210, abs=0.0005)
    assert fleiss_kappa([*table, [1, 0, 0, 0, 0]]) == pytest.approx(0.210, abs=0.0005)  # rated once: left out
    assert np.isnan(fleiss_kappa([[1, 0], [0, 1]]))


def test_krippendorffs_published_example() -> None:
    # K. Krippendorff, Computing Krippendorff's alpha-reliability (2011), section C: four observers, 12 units.
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    units = [[value for value in unit if value == value] for unit in zip(*observers, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=0.0005)
    assert krippendorff_alpha(units, "ordinal") == pytest.approx(0.815, abs=0.0005)
    assert krippendorff_alpha(units, "interval") == pytest.approx(0.849, abs=0.0005)
    assert np.isnan(krippendorff_alpha([[1, 1], [1, 1]]))


def test_contradictions_by_hand() -> None:
    ring = preferences("q x y a ann", "q y z a ann", "q z x a ann")
    assert intransitive(ring) == (1, 1, 1)
    broken_tie = preferences("q x y tie ann", "q y z tie ann", "q x z a ann")
    assert intransitive(broken_tie) == (1, 0, 1)
    half_tie = preferences("q x y a ann", "q y z tie ann", "q x z a ann")
    assert intransitive(half_tie) == (1, 0, 0)
    chain = preferences("q x y a ann", "q y z a ann", "q z x b ann")
    assert intransitive(chain) == (1, 0, 0)
    two_people = preferences("q x y a ann", "q y z a ann", "q z x a bob")
    assert intransitive(two_people) == (0, 0, 0)


def test_quality_by_hand() -> None:
    given_ = preferences(
        "q x y a ann", "q x y a bob", "q x y b cem",
        "q y z tie ann", "q y z tie bob", "q y z a cem",
        "q x y a ann",
    )  # fmt: skip
    quality = assessor_quality(given_)
    ann = quality["ann"]
    assert ann.judgments == 3
    # (x,y), where her last answer counts: bob agrees, cem does not; (y,z): bob agrees, cem does not
    assert ann.agreement == pytest.approx(2 / 4)
    assert ann.agreement_without_ties == pytest.approx(1 / 2)
    assert np.isnan(ann.with_majority)  # one against one, everywhere
    assert ann.tie_share == pytest.approx(1 / 3)
    assert ann.left_share == 1.0
    assert ann.repeats_same == 1.0
    assert quality["cem"].agreement == 0.0
    assert quality["cem"].with_majority == 0.0
    assert np.isnan(ann.median_seconds)


def test_timing_by_hand() -> None:
    records = [Preference("q", "x", "y", "a", "ann", 10.0), Preference("q", "x", "z", "a", "ann", 20.0)]
    records += [Preference("r", "x", "y", "a", "ann", 60.0), Preference("r", "x", "z", "a", "bob", nan)]
    found = timing(records)
    assert found.seconds == pytest.approx(30.0)
    assert found.median_seconds == 20.0
    assert found.minutes_per_query == pytest.approx((30 + 60) / 2 / 60)  # bob's time is not known
    assert found.judgments_per_query == pytest.approx(4 / 3)
    assert found.judgments == 4


def test_time_outliers_against_statsmodels() -> None:
    """(log s − median)/MAD, with the MAD of statsmodels.robust.mad, which divides by Φ⁻¹(¾) = 0.6745."""
    from statsmodels.robust import mad

    rng = np.random.default_rng(3)
    seconds = [*np.exp(rng.normal(2, 0.4, 30)).tolist(), 300.0, 0.2]
    rows = [Preference("q", "x", f"d{i}", "a", "ann", value) for i, value in enumerate(seconds)]
    logs = np.log(seconds)
    expected = (logs - np.median(logs)) / mad(logs)
    found = {outlier.judgment.seconds: outlier.score for outlier in time_outliers(rows)}
    assert set(found) == {value for value, score in zip(seconds, expected, strict=True) if abs(score) > 3.5}
    for value, score in zip(seconds, expected, strict=True):
        assert found.get(value, score) == pytest.approx(score, rel=1e-4)
    assert time_outliers(rows[:7]) == []  # too few to know what is usual
    same = [Preference("q", "x", f"d{i}", "a", "bob", 5.0) for i in range(20)]
    assert time_outliers(same) == []
    (only,) = time_outliers([*same, Preference("q", "x", "y", "a", "bob", 90.0)])
    assert only.judgment.seconds == 90.0
