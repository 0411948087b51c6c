"""The battery of checks over every ranker, and with every scorer where a ranker takes one."""

from __future__ import annotations

from typing import Any

import pytest

import topkit as tk
from tests.support.rankers import QUICK, QUICK_RANKERS
from topkit.rankers import settings_of
from topkit.rankers.checks import CHECKS
from topkit.scorers import SCORERS

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
