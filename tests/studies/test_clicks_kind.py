"""The study of λ: its table, its choice of λ on other folds, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topkit.data import InputError, Page, write_pages
from topkit.studies.cell import Cell, Outcome
from topkit.studies.kinds.clicks import CLICKS, chosen_elsewhere
from topkit.studies.publish import publish
from topkit.studies.results import Results
from topkit.studies.run import run_study
from topkit.studies.study_file import read_study


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Pages of twelve sessions whose users click what is graded, and a study of them."""
    rng = np.random.default_rng(0)
    pages = []
    for session in range(12):
        for query in range(2):
            docs = tuple(f"d{session}-{i}" for i in rng.permutation(6))
            good = [doc.endswith(("-0", "-1")) for doc in docs]
            clicks = tuple(bool(rng.random() < (0.9 if one else 0.1)) for one in good)
            grades = tuple(2.0 * one for one in good)
            pages += [Page(f"q{session}-{query}", docs, clicks, f"s{session}", grades=grades)] * 3
    write_pages(pages, tmp_path / "graded.txt")
    write_pages([page._replace(grades=()) for page in pages], tmp_path / "pages.txt")

    def study(settings: str) -> Path:
        path = tmp_path / "clicks.toml"
        path.write_text(f'kind = "clicks"\n[settings]\n{settings}')
        return path

    return study


FILES = 'pages = ["pages.txt"]\ngraded = "graded.txt"\n'


def test_clicks_that_agree_with_grades_help(write: Callable[[str], Path], tmp_path: Path) -> None:
    file = write(FILES + "folds = 3\nmixes = [0.0, 0.5, 1.0]\n")
    finished = run_study(file, tmp_path / "out")
    results = finished.results
    means = results.mean("ndcg@10", "mix")
    assert means[(1.0,)] > means[(0.0,)] + 0.05
    assert results.mean("s-clicks", "mix")[(1.0,)] > results.mean("s-clicks", "mix")[(0.0,)]
    assert len(results.gather("ndcg@10", "mix")[(0.5,)]) == 24  # every graded query is tested once
    text = publish(finished)
    assert "chosen on the other folds" in text
    assert (tmp_path / "out" / "plot-mix.svg").is_file()


def test_a_mix_is_chosen_without_the_fold_it_is_used_on() -> None:
    def cell(fold: int, values: tuple[float, float]) -> tuple[Cell[None], Outcome]:
        columns: dict[str, list[Any]] = {
            "mix": [0.0, 1.0],
            "query": [f"q{fold}"] * 2,
            "metric": ["ndcg@10"] * 2,
            "value": list(values),
        }
        return Cell("clicks", {"fold": fold, "seed": 0}, None), Outcome(columns)

    # folds 1 and 2 like λ = 1, fold 3 likes λ = 0: by the other two, fold 3 takes 1 and so do the others
    pairs = [cell(1, (0.1, 0.9)), cell(2, (0.2, 0.8)), cell(3, (0.7, 0.3))]
    results = Results(tuple(c for c, _ in pairs), tuple(o for _, o in pairs))
    first, chosen = chosen_elsewhere(results, "ndcg@10", [0.0, 1.0])
    assert first.tolist() == [0.1, 0.2, 0.7]
    assert chosen.tolist() == [0.9, 0.8, 0.3]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ('pages = ["none.txt"]\ngraded = "graded.txt"\n', "does not exist"),
        (FILES + "folds = 1\n", "folds must be an integer of at least 2, got 1"),
        (FILES + "mixes = [2.0]\n", "mixes must be a list of numbers, each from 0 to 1"),
    ],
)
def test_refusals(write: Callable[[str], Path], settings: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        list(CLICKS.code.cells(read_study(write(settings))))
