"""Off-policy evaluation: by hand, and with intervals that hold the truth of a simulation."""

from __future__ import annotations

import numpy as np
import pytest

import topkit as tk
from tests.support.click_logs import known_models, random_pages
from topkit.clicks import ClickLog, Propensities, evaluate_clicks
from topkit.clicks.counterfactual import ESTIMATORS
from topkit.clicks.off_policy import evaluation_table
from topkit.data import InputError

SEEN = Propensities(1 / np.arange(1, 6))
# a: 4 times at 1 with 2 clicks, 4 times at 2 with 1; b: 4 times at 2 with 1 click, 4 times at 1 with none
PAGES = [tk.Page("q", ("a", "b"), (i < 2, i == 3)) for i in range(4)]
PAGES += [tk.Page("q", ("b", "a"), (False, i == 0)) for i in range(4)]


@pytest.mark.parametrize(
    ("estimator", "a", "b"),
    [("snips", 3 / 6, 1 / 6), ("dr", 3 / 6, 1 / 6), ("ips", (2 + 1 / 0.5) / 8, (1 / 0.5) / 8)],
)
def test_values_by_hand(estimator: str, a: float, b: float) -> None:
    log = ClickLog.of_pages(PAGES)
    found = evaluate_clicks(log, tk.Run.of({"q": {"a": 2, "b": 1}}), SEEN, estimator=estimator)
    assert found.value == pytest.approx(a + 0.5 * b)
    assert found.logged == 0.5
    assert found.difference == pytest.approx(found.value - 0.5)
    assert found.coverage == 1
    top = evaluate_clicks(log, tk.Run.of({"q": {"a": 2, "b": 1}}), SEEN, estimator=estimator, length=1)
    assert top.value == pytest.approx(a)


def test_offsets_and_unknown_documents() -> None:
    log = ClickLog.of_pages(PAGES)
    trust = Propensities([1.0, 0.5], [0.0, 0.1])
    found = evaluate_clicks(log, tk.Run.of({"q": {"b": 2, "new": 1}}), trust)
    # b: (1 − 4·.1)/6; the second position has an offset of .1, and 1 of 1.5 examinations is known; the rest
    # has the average: of 4 clicks, 8 offsets of .1 are subtracted, and the exposure is 8·1 + 8·.5
    average = (4 - 0.8) / 12
    assert found.value == pytest.approx((1 - 0.4) / 6 + 0.1 + 0.5 * average)
    assert found.coverage == pytest.approx(1 / 1.5)


def test_queries_without_a_ranking_are_left_out() -> None:
    log = ClickLog.of_pages([*PAGES, tk.Page("other", ("a", "b"), (True, True))])
    found = evaluate_clicks(log, tk.Run.of({"q": {"a": 2, "b": 1}}), SEEN)
    assert found.pages == 8
    with pytest.raises(InputError, match="no query in common"):
        evaluate_clicks(log, tk.Run.of({"z": {"a": 1}}), SEEN)
    with pytest.raises(InputError, match="estimator must be one of"):
        evaluate_clicks(log, tk.Run.of({"q": {"a": 1}}), SEEN, estimator="magic")


def test_the_ranking_of_the_log_has_its_clicks() -> None:
    pages = [tk.Page("q", ("a", "b"), (i % 2 == 0, i % 3 == 0)) for i in range(60)]
    log = ClickLog.of_pages(pages)
    for estimator in ("snips", "ips", "dr"):
        found = evaluate_clicks(log, tk.Run.of({"q": {"a": 2, "b": 1}}), SEEN, estimator=estimator)
        assert found.value == pytest.approx(found.logged)
        # a click has the rate of its document, drawn to what is usual at its rank by one examination; with
        # one click at the average 50/90 added, that is 31 of 61.8 at the first rank and 21 of 31.8 at the
        # second, times 51 clicks of 1 + 60·31/61.8 + 30·21/31.8 that this predicts for the query
        of_query = 51 / (1 + 60 * 31 / 61.8 + 30 * 21 / 31.8)
        rates = ((30 + of_query * 31 / 61.8) / 61, 0.5 * (20 + of_query * 21 / 31.8) / 31)
        variance = sum(rate * (1 - rate) for rate in rates) / 60
        assert found.high - found.low == pytest.approx(2 * 1.959964 * variance**0.5, rel=1e-6)
        # it is the same ranking, so the difference is certain
        assert found.difference_high - found.difference_low == pytest.approx(0, abs=1e-9)


def test_documents_without_exposure_lean_on_their_query() -> None:
    # b was shown once at position 2: exposure 1/2, no click; the query has 1 click of 3.5 examinations
    pages = [
        tk.Page("q", ("a", "b"), (True, False)),
        tk.Page("q", ("a",), (False,)),
        tk.Page("q", ("a",), (False,)),
    ]
    found = evaluate_clicks(ClickLog.of_pages(pages), tk.Run.of({"q": {"b": 1}}), SEEN, estimator="dr")
    # the average is 1 of 3.5; with one click at the average added, b's rank has 1 of .5 + 3.5, and the other
    # document 2 of 3 + 3.5; that predicts .5·1/4 + 3·2/6.5 clicks of the query, which has 1
    m = (1 / 4) * 2 / (0.5 / 4 + 3 * 2 / 6.5 + 1)
    assert found.value == pytest.approx(m + (0 - 0.5 * m) / 1.0)
    # half of the relevance is guessed, which has at most the variance m·(1 − m)
    assert found.high - found.low > 2 * 1.959 * 0.5 * (m * (1 - m)) ** 0.5


@pytest.mark.parametrize("estimator", ["snips", "ips", "dr"])
def test_intervals_hold_the_truth(estimator: str) -> None:
    pages = random_pages(1500, 5, seed=1)
    model = known_models(pages.pairs, 5, seed=2)["pbm"]
    rng = np.random.default_rng(3)
    order = rng.standard_normal(len(pages.pairs))
    names = pages.pairs.names()
    scores: dict[str, dict[str, float]] = {}
    for (query, doc), score in zip(names, order.tolist(), strict=True):
        scores.setdefault(query, {})[doc] = score
    run = tk.Run.of(scores)
    # every query is equally likely; the new pages have 5 documents
    truth = 0.0
    for q in range(5):
        rows = np.arange(6 * q, 6 * q + 6)
        ranked = rows[np.argsort(-order[rows])][:5]
        truth += float(model.attraction[ranked] @ SEEN.examination) / 5
    held = 0
    for seed in range(60):
        log = model.simulate(random_pages(1500, 5, seed=100 + seed), seed=seed)
        found = evaluate_clicks(log, run, SEEN, estimator=estimator, length=5)
        held += found.low <= truth <= found.high
    assert held >= 52  # 95 % of 60 is 57; P(fewer than 52) is 1 in 100


def test_intervals_hold_the_truth_where_the_log_hides_the_best_documents() -> None:
    """The ranker of the log shows relevant documents last, so few of their clicks have large weights.

    Intervals whose clicks had the rate of an average document held the truth in 82 (snips), 85 (ips) and 55
    (dr, which leans on that average) of 100 such logs.
    """
    queries, docs = 20, 14
    rng = np.random.default_rng(0)
    y = np.tile([2, 2, 1] + [0] * 11, queries)
    names = [f"d{i}" for i in range(len(y))]
    data = tk.Dataset.build(np.zeros((len(y), 1)), y, np.repeat(np.arange(queries), docs), doc_ids=names)
    logging, new = -y + 0.2 * rng.standard_normal(len(y)), y + 0.3 * rng.standard_normal(len(y))
    run, seen = tk.Run.from_scores(data, new), Propensities(1 / np.arange(1.0, 11.0))
    ranked = np.lexsort((-new, data.query_index)).reshape(queries, docs)[:, :10]
    truth = float((tk.Users().rates(data)[ranked] @ seen.examination).mean())
    held = dict.fromkeys(ESTIMATORS, 0)
    for seed in range(100):
        log = tk.simulate_clicks(data, logging, 800, length=10, spread=0.8, seed=seed)
        for estimator in ESTIMATORS:
            found = evaluate_clicks(log, run, seen, estimator=estimator)
            held[estimator] += found.low <= truth <= found.high
    assert min(held.values()) >= 87, held


def test_a_table_of_rankers() -> None:
    log = ClickLog.of_pages(PAGES)
    found = evaluate_clicks(log, tk.Run.of({"q": {"a": 2, "b": 1}}, name="new"), SEEN)
    text = evaluation_table([found]).text()
    assert "new  0.5833" in text
    assert "the log has 0.5000 on 8 pages" in text
