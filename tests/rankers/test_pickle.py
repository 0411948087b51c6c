"""Every fitted ranker can be pickled, as scikit-learn, joblib and multiprocessing need it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import topkit as tk
from tests.support.rankers import QUICK, QUICK_RANKERS
from topkit.rankers import settings_of
from topkit.rankers.checks import easy_data

DATA = easy_data(8)


@pytest.mark.filterwarnings("ignore::topkit.compute.NotConverged")
@pytest.mark.parametrize("name", list(tk.RANKERS))
def test_a_pickled_ranker_ranks_as_before(name: str) -> None:
    scorer = settings_of(name).get("scorer")
    settings = QUICK_RANKERS.get(name, {}) if scorer is None else QUICK[str(scorer.default)]
    ranker = tk.ranker(name, **settings).fit(DATA)
    expected = ranker.ordering_scores(DATA)
    restored = pickle.loads(pickle.dumps(ranker))  # noqa: S301
    np.testing.assert_array_equal(restored.ordering_scores(DATA), expected)
