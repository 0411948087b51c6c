"""Propensities of simulations are found again, and logs that cannot tell them are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from tests.support.click_logs import known_models, random_pages
from topkit.clicks import PROPENSITIES, ClickLog, Propensities, estimate_propensities, read_propensities
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
    for method in ("pbm", "trust", "swap", "adjacent", "all-pairs"):
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
    path.write_text("position,examination\n1,0\n")
    with pytest.raises(InputError, match=r"p\.csv: propensities must be finite and greater than 0"):
        read_propensities(path)
