"""Checks that every ranker must pass; run them on your own with ``run_checks(lambda: MyRanker(...))``.

Each check takes a function that makes an unfitted ranker, and raises AssertionError with what went wrong.
They use nothing but :class:`~topkit.rankers.contract.Ranker`; checks of scores skip rankers that only order
documents.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, InputError, Run, Truth
from topkit.metrics import evaluate
from topkit.rankers.by_name import load_ranker
from topkit.rankers.contract import Ranker

Make = Callable[[], Ranker]
Check = Callable[[Make], None]


def easy_data(queries: int = 40, seed: int = 0, noise: float = 0.05) -> Dataset:
    """A synthetic data set that any ranker should learn: two of four features are useful, grades 0–3."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(4, 16, queries)
    X = rng.uniform(size=(int(lengths.sum()), 4)).astype(np.float32)
    quality = 0.7 * X[:, 0] + 0.3 * X[:, 2] + rng.normal(scale=noise, size=len(X))
    y = np.digitize(quality, [0.45, 0.6, 0.75])
    return Dataset.build(X, y, np.repeat(np.arange(queries), lengths))


def quality(ranker: Ranker, data: Dataset) -> float:
    """Mean NDCG@5 of a ranker's order."""
    return evaluate(data, ranker.ordering_scores(data), "ndcg@5").mean["ndcg@5"]


def agreement(a: NDArray[np.float64], b: NDArray[np.float64], data: Dataset) -> float:
    """Share of document pairs of the same query that two rankings put in the same order."""
    same, pairs = 0, 0
    for _, rows in data:
        upper = np.triu_indices(rows.stop - rows.start, 1)
        first, second = (np.sign(np.subtract.outer(scores[rows], scores[rows]))[upper] for scores in (a, b))
        same += int((first == second).sum())
        pairs += len(first)
    return same / max(pairs, 1)


def check_learns(make: Make) -> None:
    """It ranks easy data well, with and without validation data."""
    train, valid, test = easy_data(seed=0), easy_data(20, seed=1), easy_data(seed=2)
    guess = evaluate(test, np.random.default_rng(0).uniform(size=len(test)), "ndcg@5").mean["ndcg@5"]
    for fitted in (make().fit(train, valid), make().fit(train)):
        reached = quality(fitted, test)
        assert reached > 0.5 * (1 + guess), f"NDCG@5 {reached:.3f}; random scores have {guess:.3f}"


def check_complete(make: Make) -> None:
    """Its run has every document of every query exactly once, and no others."""
    data = easy_data(10)
    run = make().fit(data).rank(data)
    assert isinstance(run, Run)
    assert run.qids == data.qids, "the run and the data have different queries"
    names = data.names_of_documents()
    for qid, rows in data:
        documents = [name for name, _ in run[qid]]
        assert sorted(documents) == sorted(names[rows].tolist()), f"query {qid} has lost or gained documents"


def check_scores(make: Make) -> None:
    """Its scores are one finite number per document, and their descending order is the run."""
    data = easy_data(10)
    ranker = make().fit(data)
    scores = ranker.ordering_scores(data)
    assert scores.shape == (len(data),)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all(), "scores must be finite"
    assert ranker.rank(data) == Run.from_scores(data, scores), "rank and ordering_scores disagree"
    with suppress(InputError):  # rankers that only order documents
        np.testing.assert_array_equal(ranker.score(data), scores)


def check_seeded(make: Make) -> None:
    """Two equal rankers, and one fitted twice, give the same result."""
    train, test = easy_data(20), easy_data(10, seed=3)
    first, second = make().fit(train), make().fit(train)
    run = first.rank(test)
    assert run == second.rank(test), "two equal rankers differ"
    assert run == first.fit(train).rank(test), "fitting again changes the result"


def check_saved(make: Make) -> None:
    """After saving and loading it ranks identically, and saves to the same bytes."""
    train, test = easy_data(20), easy_data(10, seed=3)
    ranker = make().fit(train)
    with tempfile.TemporaryDirectory() as folder:
        file, again = Path(folder, "model"), Path(folder, "again")
        ranker.save(file)
        loaded = load_ranker(file)
        assert ranker.rank(test) == loaded.rank(test), "the loaded ranker differs"
        loaded.save(again)
        assert file.read_bytes() == again.read_bytes(), "saving a loaded model gives different bytes"


def check_threads(make: Make) -> None:
    """The number of threads does not change the result."""
    train, test = easy_data(20), easy_data(10, seed=3)
    runs = []
    for count in ("1", "2"):
        with _environment("TOPKIT_THREADS", count):
            runs.append(make().fit(train).rank(test))
    assert runs[0] == runs[1], "the number of threads changes the result"


def check_alone(make: Make) -> None:
    """The scores of a query do not depend on the other queries that are scored with it."""
    train, test = easy_data(20), easy_data(10, seed=3)
    ranker = make().fit(train)
    whole = ranker.rank(test)
    for q in (0, 4, 9):
        part = ranker.rank(test.select([q]))
        assert part[test.qids[q]] == whole[test.qids[q]], "a query is ranked differently on its own"


def check_document_order(make: Make) -> None:
    """The order of rows within queries does not matter, in training or in scoring."""
    train, test = easy_data(), easy_data(10, seed=3)
    plain = make().fit(train).ordering_scores(test)
    rng = np.random.default_rng(5)
    rows = _shuffled_rows(test, rng)
    shuffled = _take(test, rows)
    mixed = make().fit(_take(train, _shuffled_rows(train, rng)))
    back = np.empty(len(test))
    back[rows] = mixed.ordering_scores(shuffled)
    same = agreement(plain, back, test)
    assert same > 0.98, f"only {same:.1%} of pairs keep their order when rows are shuffled"


def check_query_order(make: Make) -> None:
    """The order of training queries does not matter."""
    train, test = easy_data(), easy_data(10, seed=3)
    plain = make().fit(train).ordering_scores(test)
    order = np.random.default_rng(5).permutation(train.n_queries)
    same = agreement(plain, make().fit(train.select(order)).ordering_scores(test), test)
    assert same > 0.98, f"only {same:.1%} of pairs keep their order when queries are shuffled"


def check_feature_scale(make: Make) -> None:
    """The unit of a feature does not matter, thanks to the default normalisation."""
    train, test = easy_data(), easy_data(10, seed=3)
    plain = make().fit(train).ordering_scores(test)
    factors = np.array([4096.0, 1.0, 0.25, 8.0], np.float32)  # powers of two, to avoid rounding
    scaled = make().fit(train.with_features(train.X * factors))
    same = agreement(plain, scaled.ordering_scores(test.with_features(test.X * factors)), test)
    assert same > 0.98, f"only {same:.1%} of pairs keep their order when features are scaled"


def check_single_documents(make: Make) -> None:
    """Queries with one document work, in training and in scoring."""
    train = easy_data(20)
    single = train.select([0, 1, 2])
    only = _take(single, np.array([int(single.ptr[q]) for q in range(3)]), np.arange(4))
    renamed = Dataset(only.X, only.y, only.ptr, ("s1", "s2", "s3"))
    mixed = _join(train, renamed)
    ranker = make().fit(mixed, mixed)
    assert [len(ranker.rank(renamed)[qid]) for qid in renamed.qids] == [1, 1, 1]
    assert quality(ranker, train) > 0.7


def check_equal_labels(make: Make) -> None:
    """Queries with equal labels do no harm, and a data set of only such queries still gives a ranker."""
    data = easy_data(20)
    flat = data.with_labels(np.where(data.query_index < 10, 0, data.y), data.truth)
    assert quality(make().fit(flat, flat), easy_data(seed=3)) > 0.7
    for label in (0, 1):
        ranker = make().fit(data.with_labels(np.full(len(data), label), data.truth))
        assert len(ranker.rank(data)) == data.n_queries
        assert np.isfinite(ranker.ordering_scores(data)).all(), "scores must be finite"


def check_truths(make: Make) -> None:
    """It also learns from a full order and from top-k truth."""
    data, test = easy_data(), easy_data(seed=3)
    order = data.as_order(seed=0)
    assert order.truth == Truth("order")
    for truth in (order, order.top_k(3)):
        reached = quality(make().fit(truth, truth), test)
        assert reached > 0.75, f"NDCG@5 {reached:.3f} after {truth.truth} truth"


def check_missing_features(make: Make) -> None:
    """Missing values (NaN) and constant features are allowed."""
    data = easy_data()
    X = np.array(data.X)
    X[::7, 1] = np.nan
    X[:, 3] = 1.0
    incomplete = data.with_features(X)
    ranker = make().fit(incomplete, incomplete)
    assert np.isfinite(ranker.ordering_scores(incomplete)).all(), "scores must be finite"
    assert quality(ranker, incomplete) > 0.7


def check_query_weights(make: Make) -> None:
    """Queries of weight 0 have no influence, however wrong their labels are."""
    good, bad = easy_data(20), easy_data(60, seed=9)
    wrong = bad.with_labels(3 - bad.y, bad.truth)
    renamed = Dataset(wrong.X, wrong.y, wrong.ptr, tuple(f"w{qid}" for qid in wrong.qids))
    weights = np.concatenate([np.ones(good.n_queries), np.zeros(renamed.n_queries)])
    reached = quality(make().fit(_join(good, renamed), weights=weights), easy_data(seed=3))
    assert reached > 0.8, f"NDCG@5 {reached:.3f} with wrong queries of weight 0"


def check_refusals(make: Make) -> None:
    """Use before fitting, a wrong number of features and invalid weights raise InputError."""
    data = easy_data(5)
    ranker = make()
    _refuses(lambda: ranker.rank(data), "ranking before fitting")
    _refuses(lambda: ranker.save(Path("never")), "saving before fitting")
    _refuses(lambda: make().fit(data, weights=[1.0]), "one weight for five queries")
    ranker.fit(data)
    narrow = data.with_features(np.ascontiguousarray(data.X[:, :2]))
    _refuses(lambda: ranker.rank(narrow), "data with fewer features than in training")


CHECKS: dict[str, Check] = {
    name.removeprefix("check_"): check
    for name, check in list(globals().items())
    if name.startswith("check_") and callable(check)
}
"""Name → check, in the order of this file."""


def run_checks(make: Make) -> dict[str, str]:
    """Run every check; name → what went wrong, or an empty text."""
    results = {}
    for name, check in CHECKS.items():
        try:
            check(make)
            results[name] = ""
        except AssertionError as failure:
            results[name] = str(failure) or "failed"
    return results


def _refuses(action: Callable[[], object], what: str) -> None:
    try:
        action()
    except InputError:
        return
    raise AssertionError(f"{what} should raise an InputError")


def _shuffled_rows(data: Dataset, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.concatenate([rng.permutation(np.arange(rows.start, rows.stop)) for _, rows in data])


def _take(data: Dataset, rows: NDArray[np.int64], ptr: NDArray[np.int64] | None = None) -> Dataset:
    bounds = data.ptr if ptr is None else ptr
    names = data.names_of_documents().take(rows)
    return Dataset(
        np.ascontiguousarray(data.X[rows]), data.y[rows], bounds.astype(np.int64), data.qids, names
    )


def _join(a: Dataset, b: Dataset) -> Dataset:
    return Dataset(
        np.vstack([a.X, b.X]), np.concatenate([a.y, b.y]), np.concatenate([a.ptr, a.ptr[-1] + b.ptr[1:]]),
        a.qids + b.qids,
    )  # fmt: skip


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
