"""Propensities of simulations are found again, and logs that cannot tell them are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import topkit as tk
from tests.support.click_logs import known_models, random_pages
from topkit.clicks import PROPENSITIES, ClickLog, Propensities, estimate_propensities, read_propensities
from topkit.clicks.conditional import PositionEffects, drawn_to_power
from topkit.clicks.harvest import interventions
from topkit.data import InputError


@pytest.mark.parametrize("method", list(PROPENSITIES))
def test_every_method_finds_the_examination(method: str) -> None:
    pages = random_pages(60_000, 5, seed=1)
    log = known_models(pages.pairs, 5, seed=2)["pbm"].simulate(pages, seed=3)
    found = estimate_propensities(log, method)
    assert found.examination == pytest.approx(1 / np.arange(1, 6), rel=0.06)
    assert found.examination[0] == 1


def test_trust_has_an_offset() -> None:
    pages = random_pages(60_000, 5, seed=4)
    log = known_models(pages.pairs, 5, seed=5)["trust"].simulate(pages, seed=6)
    seen = 1 / np.arange(1, 6)
    found = estimate_propensities(log, "trust")
    assert found.examination == pytest.approx(seen, abs=0.04)
    assert found.offset == pytest.approx(0.2 * seen * (1 - seen), abs=0.03)
    # the position-based model takes the extra clicks for examination
    assert (estimate_propensities(log, "pbm").examination[1:] > seen[1:] + 0.02).all()


def test_interventions_by_hand() -> None:
    # a: 4 times at 1 with 2 clicks, 4 times at 2 with 1 click; b: 4 at 2 with 4 clicks, 4 at 1 with 4 clicks
    first = [tk.Page("q", ("a", "b"), (i < 2, True)) for i in range(4)]
    second = [tk.Page("q", ("b", "a"), (True, i < 1)) for i in range(4)]
    log = ClickLog.of_pages(first + second)
    sets = interventions(log)
    # weight 4·4/8 = 2 each: rates at 1 are 1/2 and 1, at 2 they are 1/4 and 1
    assert sets.clicks_first.tolist() == [2 * 0.5 + 2 * 1.0]
    assert sets.clicks_second.tolist() == [2 * 0.25 + 2 * 1.0]
    for method in ("swap", "adjacent"):
        assert estimate_propensities(log, method).examination[1] == pytest.approx(2.5 / 3)


def test_without_documents_at_two_positions_nothing_is_identified() -> None:
    log = ClickLog.of_pages([tk.Page("q", ("a", "b"), (True, True))] * 9)
    for method in ("pbm", "trust", "conditional", "smoothed", "swap", "adjacent", "all-pairs"):
        with pytest.raises(InputError, match="no clicked document was shown at two positions"):
            estimate_propensities(log, method)


def test_disconnected_positions_are_named() -> None:
    pages = [
        tk.Page("q", docs, (True, True, True, True))
        for docs in (("a", "b", "c", "d"), ("b", "a", "c", "d"), ("a", "b", "d", "c"))
    ]
    with pytest.raises(InputError, match="both at position 1, 2 and at position 3, 4"):
        estimate_propensities(ClickLog.of_pages(pages), "pbm")
    with pytest.raises(InputError, match="both at position 1 and at position 3"):
        estimate_propensities(ClickLog.of_pages(pages), "swap")
    with pytest.raises(InputError, match="both at position 2 and at position 3"):
        estimate_propensities(ClickLog.of_pages(pages), "adjacent")


def test_documents_without_clicks_connect_nothing() -> None:
    pages = [tk.Page("q", ("a", "x"), (True, False)), tk.Page("q", ("x", "b"), (False, True))]
    with pytest.raises(InputError, match="no clicked document"):
        estimate_propensities(ClickLog.of_pages(pages), "pbm")


def test_files_come_back(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    Propensities([1.0, 0.5], [0.0, 0.1]).save(path)
    again = read_propensities(path)
    assert again.examination.tolist() == [1.0, 0.5]
    assert again.offset.tolist() == [0.0, 0.1]
    path.write_text("position,examination\n1,1\n2,x\n")
    with pytest.raises(InputError, match=r"p\.csv:3: expected a position and its examination"):
        read_propensities(path)
    path.write_text("position,examination\n2,1\n")
    with pytest.raises(InputError, match="expected position 1"):
        read_propensities(path)
    path.write_text("position,examination\n")
    with pytest.raises(InputError, match="no positions"):
        read_propensities(path)
    path.write_bytes(b"\xef\xbb\xbfposition,examination\r\n1,1\r\n2,0.5\r\n")  # as spreadsheets write it
    assert read_propensities(path).examination.tolist() == [1.0, 0.5]
    path.write_bytes(b"position,examination\r1,1\n2,0.5\n")
    with pytest.raises(InputError, match=r"p\.csv:1: a line is ended by a carriage return alone"):
        read_propensities(path)
    path.write_text("position,examination\n1,0\n")
    with pytest.raises(InputError, match=r"p\.csv: propensities must be finite and greater than 0"):
        read_propensities(path)


def test_conditional_by_hand() -> None:
    # a: 3 clicks of 10 impressions at position 1, 4 of 20 at position 2. One document: its clicks divide in
    # the proportion of impressions × examination, 3 : 4 = 10 : 20·θ, so θ = 2/3
    log = counts([("a", 1, 10, 3), ("a", 2, 20, 4)])
    found = estimate_propensities(log, "conditional")
    assert found.examination == pytest.approx([1.0, 2 / 3])
    # two documents, x = θ₂: (4 + 1) = 7·20x/(10 + 20x) + 6·10x/(30 + 10x), whose root is known from roots of
    # 5·(10 + 20x)·(30 + 10x) = 140x·(30 + 10x) + 60x·(10 + 20x), that is 1600x² + 1300x − 1500 = 0
    log = counts([("a", 1, 10, 3), ("a", 2, 20, 4), ("b", 1, 30, 5), ("b", 2, 10, 1)])
    found = estimate_propensities(log, "conditional")
    root = (-1300 + (1300**2 + 4 * 1600 * 1500) ** 0.5) / 3200
    assert found.examination[1] == pytest.approx(root)


def counts(rows: list[tuple[str, int, int, int]]) -> ClickLog:
    names = ("document", "position", "impressions", "clicks")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return ClickLog.from_frame(pa.table({"query": ["q"] * len(rows), **table}))


def test_conditional_is_the_poisson_regression_with_an_effect_per_document() -> None:
    """By statsmodels: the slopes of positions, and their errors by document."""
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(5)
    docs, places = 30, 4
    shown = rng.integers(0, 60, (docs, places))
    shown[0] = 50
    p = rng.uniform(0.1, 0.9, docs)[:, None] / np.arange(1, places + 1)
    clicks = rng.binomial(shown, p)
    doc, place = np.nonzero(shown)
    rows = [
        (f"d{d:02}", int(k) + 1, int(shown[d, k]), int(clicks[d, k])) for d, k in zip(doc, place, strict=True)
    ]
    found = estimate_propensities(counts(rows), "conditional")
    design = np.concatenate([np.eye(docs)[doc], np.eye(places)[place][:, 1:]], axis=1)
    kept = clicks.sum(axis=1)[doc] > 0
    design = design[kept][:, np.r_[clicks.sum(axis=1) > 0, np.ones(places - 1, bool)]]
    fit = sm.GLM(
        clicks[doc, place][kept], design, sm.families.Poisson(), offset=np.log(shown[doc, place][kept])
    ).fit(cov_type="cluster", cov_kwds={"groups": doc[kept], "use_correction": False})
    assert np.log(found.examination[1:]) == pytest.approx(fit.params[-places + 1 :], abs=1e-6)
    assert found.error is not None
    assert found.error[1:] == pytest.approx(fit.bse[-places + 1 :], rel=1e-4)


def test_smoothing_follows_the_power_of_a_short_log_and_the_shape_of_a_long_one() -> None:
    seen = np.array([1.0, 0.3, 0.6, 0.2, 0.4])  # no power of the position
    covariance = np.zeros((5, 5))
    covariance[1:, 1:] = 1e-8 * np.eye(4)
    long = PositionEffects(np.log(seen), covariance)
    assert drawn_to_power(long).examination == pytest.approx(seen, rel=1e-4)
    # errors of 100 % explain every gap, so only the power remains: with equal errors, ordinary least squares
    covariance[1:, 1:] = np.eye(4)
    x, y = -np.log(np.arange(2, 6)), np.log(seen[1:])
    eta = float(x @ y / (x @ x))
    short = drawn_to_power(PositionEffects(np.log(seen), covariance))
    assert short.examination == pytest.approx(np.arange(1, 6) ** -eta)
    assert short.error[1:] == pytest.approx(-x / float(x @ x) ** 0.5)


def test_clicks_that_never_meet_are_refused() -> None:
    # shown at both positions, but clicked at one of them only
    log = counts([("a", 1, 10, 5), ("a", 2, 10, 0), ("b", 2, 10, 3)])
    with pytest.raises(InputError, match="no document was clicked at both"):
        estimate_propensities(log, "conditional")
