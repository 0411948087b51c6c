"""Where the real data is, and small data sets that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests.support.real_data import real_data_folder
from topkit.data import Dataset

# The same examples in every run, so that a change is never blamed for an example nobody drew before;
# TOPKIT_EXAMPLES=random draws new ones, and more. `python -m bench.fuzz` searches much longer.
RANDOM = os.environ.get("TOPKIT_EXAMPLES") == "random"
settings.register_profile(
    "topkit",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not RANDOM,
    max_examples=100 if RANDOM else 40,
)
settings.load_profile("topkit")


LONG_FILES = (
    "tests/rankers/test_battery.py",
    "tests/web/test_judging_browser.py",
    "tests/test_docs.py",
    "tests/scale/test_in_parts.py",
    "tests/test_pages.py",
    "tests/loop/test_loop.py",
    "tests/studies/test_budget.py",
    "tests/web/test_store.py",
    "tests/export/test_round_trips.py",
    "tests/test_results_and_shell_pages.py",
    "tests/rankers/test_files.py",
    "tests/fusion/test_trec3.py",
    "tests/serving/test_bombs.py",
    "tests/cli/test_shell.py",
)
"""The files that take longest. They run first: one at the end would leave the other test process idle."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {name: number for number, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))


@pytest.fixture(scope="session")
def real_data() -> Path:
    folder = real_data_folder()
    if folder is None:
        pytest.skip("the real data is not available: set TOPKIT_DATA to its folder")
    return folder


@pytest.fixture
def ragged() -> Dataset:
    """Five queries of 1, 2, 7, 12 and 3 documents with 4 features and grades 0–3; nothing symmetric."""
    rng = np.random.default_rng(7)
    lengths = [1, 2, 7, 12, 3]
    n = sum(lengths)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    y = np.clip(np.round(X[:, 0] + 0.7 * X[:, 1] ** 2 + rng.normal(scale=0.3, size=n)), 0, 3)
    qid = np.repeat(["a", "b", "c", "d", "e"], lengths)
    return Dataset.build(X, y, qid, doc_ids=[f"d{i}" for i in range(n)])
