"""The battery of checks over every ranker, and with every scorer where a ranker takes one."""

from __future__ import annotations

from typing import Any

import pytest

import topkit as tk
from topkit.rankers import settings_of
from topkit.rankers.checks import CHECKS
from topkit.scorers import SCORERS

QUICK: dict[str, dict[str, Any]] = {
    "linear": {"max_steps": 200},
    "mlp": {"hidden": (8,), "epochs": 40, "rate": 0.02},
    "trees": {"trees": 40, "min_leaf": 5, "rate": 0.2},
}
"""Settings that make the battery quick; everything else is at its default."""

QUICK_RANKERS: dict[str, dict[str, Any]] = {
    "adaboost-mh": {"rounds": 50},
    "mcrank": {"trees": 40, "min_leaf": 5, "rate": 0.2},
    "tune-and-mix": {
        "trees": (8,),
        "products": (3,),
        "rounds": 20,
        "rankers": ("linear-regression",),
        "calibrations": ("shift", "log-sigmoid", "soft-ndcg", "linear", "logistic/ideal", "polynomial-2"),
    },
}
"""The same for rankers whose scorer is not a setting."""

EXEMPT: dict[tuple[str, str, str], str] = {}
"""(ranker, scorer, check) → why it cannot pass; a strict xfail, so an exemption that is not needed fails."""


def variants() -> list[tuple[str, str]]:
    found = []
    for name in tk.RANKERS:
        takes_scorer = "scorer" in settings_of(name)
        found += [(name, scorer) for scorer in (SCORERS if takes_scorer else ("",))]
    return found


def cases() -> list[Any]:
    found = []
    for name, scorer in variants():
        for check in CHECKS:
            reason = EXEMPT.get((name, scorer, check))
            marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
            found.append(pytest.param(name, scorer, check, marks=marks, id=f"{name}-{scorer}-{check}"))
    return found


@pytest.mark.filterwarnings("ignore::topkit.compute.NotConverged")
@pytest.mark.parametrize(("name", "scorer", "check"), cases())
def test_check(name: str, scorer: str, check: str) -> None:
    settings = {"scorer": scorer, **QUICK[scorer]} if scorer else QUICK_RANKERS.get(name, {})
    CHECKS[check](lambda: tk.ranker(name, **settings))


def test_every_ranker_is_here() -> None:
    assert {name for name, _ in variants()} == set(tk.RANKERS)
    assert set(EXEMPT) <= {(name, scorer, check) for name, scorer in variants() for check in CHECKS}
