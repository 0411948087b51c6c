"""Every ranker in every format scores the same in an evaluator that shares no code, or says why not."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topkit as tk
from tests.support.export import score_queries
from tests.support.rankers import QUICK_RANKERS
from topkit.export import EXPORTERS, FORMS, export_ranker
from topkit.rankers import settings_of
from topkit.scorers import SCORERS, OrderModel

QUICK = {"max_steps": 60, "epochs": 2, "trees": 15, "rounds": 40, "restarts": 1, "sweeps": 2, "steps": 5}
"""Settings that make fits quick, wherever a ranker has them."""

ENGINES = ("elasticsearch", "elasticsearch-ranklib", "solr")


def variants() -> list[tuple[str, str, str]]:
    """Every ranker, with every scorer where it takes one, with its own normalisation and with none."""
    found = []
    for name in tk.RANKERS:
        for scorer in SCORERS if "scorer" in settings_of(name) else ("",):
            method: Any = tk.ranker(name, **({"scorer": scorer} if scorer else {})).method
            own = () if method.normalisation == "none" else ("auto",)
            found += [(name, scorer, normalise) for normalise in (*own, "none")]
    found += [("listnet", scorer, "raw+z-score") for scorer in SCORERS]
    return found


@cache
def parts(folder: Path) -> tuple[tk.Dataset, tk.Dataset]:
    """The first 40 queries of the training data and of the test data of MQ2008, Fold1."""
    fold = folder / "MQ2008" / "Fold1"
    train, test = (tk.read_letor(fold / f"{part}.txt").select(np.arange(40)) for part in ("train", "test"))
    return train, test


@cache
def fitted(folder: Path, name: str, scorer: str, normalise: str) -> tuple[Any, Any]:
    settings: dict[str, Any] = {"scorer": scorer} if scorer else {}
    known = settings_of(name, **settings)
    settings |= {key: value for key, value in QUICK.items() if key in known}
    settings |= QUICK_RANKERS["tune-and-mix"] if name == "tune-and-mix" else {}
    train, test = parts(folder)
    ranker = tk.ranker(name, normalise=normalise, **settings).fit(train)
    return ranker, ranker.ordering_scores(test)


def refusal(ranker: Any, form: str) -> str | None:
    """Words that a refusal must have, or None where the round trip must work."""
    if isinstance(ranker.model, OrderModel):
        return "orders documents without scoring them"
    if ranker.model.kind not in FORMS:
        return "not a linear function"
    if form in ENGINES and ranker.preparation.normalisation != "none":
        return "normalises features within each query"
    if form in ("elasticsearch", "elasticsearch-ranklib") and ranker.model.kind == "network":
        return "not neural networks"
    return None


@pytest.mark.filterwarnings("ignore::topkit.compute.NotConverged")
@pytest.mark.parametrize(("name", "scorer", "normalise"), variants())
def test_every_format_gives_the_same_scores(real_data: Path, name: str, scorer: str, normalise: str) -> None:
    ranker, scores = fitted(real_data, name, scorer, normalise)
    _, test = parts(real_data)
    for form in EXPORTERS:
        why = refusal(ranker, form)
        if why is not None:
            with pytest.raises(tk.InputError, match=why):
                export_ranker(ranker, form)
            continue
        found = score_queries(form, export_ranker(ranker, form), test.X, test.ptr)
        np.testing.assert_allclose(found, scores, rtol=0, atol=1e-6, err_msg=form)


def test_the_models_say_something(real_data: Path) -> None:
    """The round trips are of models whose scores differ, and every form but refusals is covered."""
    for kind in FORMS:
        cases = [fitted(real_data, *variant) for variant in variants()]
        spread = [np.ptp(scores) for ranker, scores in cases if ranker.model.kind == kind]
        assert spread
        assert max(spread) > 0.1, kind
