"""Compile the kernels ahead of the first use, by doing every kind of work once on small data.

Numba keeps what it compiles in its cache, so later processes of the same user on the same machine load it.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from topkit.clicks import CLICK_MODELS, fit_click_model, simulate_clicks
from topkit.compute import Report, silent
from topkit.data import Dataset, Judgments, Page, Preference, Run, read_letor, read_run, write_run
from topkit.features import Analyser, Document, build_dataset, build_index, read_links
from topkit.fusion import AGGREGATORS, fuse, kendall_distance, spearman_distance, top_k_distance
from topkit.losses import LOSSES, Preferences, loss
from topkit.rankers import RANKERS, Clicks, ranker, settings_of
from topkit.rankers.checks import easy_data
from topkit.rankers.linear import pair_margins
from topkit.scorers import SCORERS

FEW: dict[str, Any] = {"max_steps": 2, "epochs": 1, "trees": 2, "rounds": 2, "passes": 1, "min_leaf": 5}
"""Settings that make a fit short, for the rankers that have them."""
FEW_OF: dict[str, dict[str, Any]] = {
    "tune-and-mix": {"trees": (4,), "products": (2,), "rounds": 4, "rankers": ("linear-regression",)},
}
"""The same for rankers whose settings have other types."""

Step = tuple[str, Callable[[], object]]


def warm_up(report: Report = silent) -> int:
    """Run every kind of work once; returns the number of steps. ``report`` is called after each."""
    with tempfile.TemporaryDirectory(prefix="topkit-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits of two steps do not converge
        work = list(steps(Path(folder)))
        for number, (name, step) in enumerate(work, 1):
            step()
            report(name, number, len(work), float("nan"))
    return len(work)


def steps(folder: Path) -> Iterator[Step]:
    """The work, in small steps with a name each."""
    data = easy_data(12)
    data = replace(data, doc_ids=data.names_of_documents())
    yield "files", lambda: _files(data, folder)
    for name in LOSSES:
        yield f"loss {name}", lambda name=name: _loss(name, data)  # type: ignore[misc]
    for name in RANKERS:
        yield f"ranker {name}", lambda name=name: _ranker(name, data)  # type: ignore[misc]
    for name in SCORERS:
        yield f"scorer {name}", lambda name=name: _fit("listnet", data, scorer=name)  # type: ignore[misc]
    yield "margins", lambda: pair_margins(data, data.X[:, 0])
    yield "bandit", lambda: _fit("adaboost-mh", data, search="bandit")
    for name in ("ranksvm", "qbrank"):
        yield f"{name} from preferences", lambda name=name: _from_preferences(name, data)  # type: ignore[misc]
    for name in CLICK_MODELS:
        yield f"click model {name}", lambda name=name: _click_model(name, data)  # type: ignore[misc]
    yield "fusion distances", _distances
    yield "fusion of long lists", lambda: fuse(_runs(_long_list(20)), "kemeny")
    for name in AGGREGATORS:
        yield f"fusion {name}", lambda name=name: _fusion(name, data)  # type: ignore[misc]
    yield "features", lambda: _features(folder)


def _files(data: Dataset, folder: Path) -> None:
    data.to_letor(folder / "data.txt")
    read_letor(folder / "data.txt")
    (folder / "wide.txt").write_text(
        "1 qid:1 1:1\n0 qid:1 1:1 2:1 3:1\n"
    )  # more features than the first line
    read_letor(folder / "wide.txt")
    write_run(Run.from_scores(data, data.X[:, 0].astype(np.float64)), folder / "run.txt")
    read_run(folder / "run.txt")


def _loss(name: str, data: Dataset) -> None:
    """Value and gradient on labels, curvature and, for pairwise losses, given preferences."""
    scores = data.X[:, 0].astype(np.float64)
    bound = loss(name).on(data.y, data.ptr)
    bound(scores)
    bound.with_curvature(scores)
    long = _long_list()  # long lists have separate kernels
    loss(name).on(long.y, long.ptr)(long.X[:, 0].astype(np.float64))
    if "pairs" in loss(name).settings:
        on_pairs = loss(name, pairs="given").on(_preferences(data), data.ptr)
        on_pairs(scores)
        on_pairs.with_curvature(scores)


def _long_list(length: int = 600) -> Dataset:
    """One query, by default with more documents than the kernels of short lists accept."""
    rng = np.random.default_rng(0)
    return Dataset.build(rng.random((length, 3)), rng.integers(0, 4, length), ["q"] * length)


def _from_preferences(name: str, data: Dataset) -> None:
    settings = {"pairs": "given"} if "pairs" in settings_of(name) else {}
    ranker(name, **settings).fit(data, preferences=_preferences(data))


def _preferences(data: Dataset) -> Preferences:
    names = data.names_of_documents().tolist()
    answers = [Preference(qid, names[rows.start], names[rows.start + 1], "a") for qid, rows in data]
    return Preferences.of_judgments(data, Judgments(preferences=tuple(answers)))


def _ranker(name: str, data: Dataset) -> None:
    few = {key: FEW[key] for key in FEW.keys() & settings_of(name).keys()} | FEW_OF.get(name, {})
    _fit(name, data, **few)
    if name == "click-label":
        names = data.names_of_documents().tolist()
        pages = [Page(qid, tuple(names[rows][:2]), (True, False)) for qid, rows in data]
        ranker(name).fit(data, clicks=Clicks(pages, data))


def _fit(name: str, data: Dataset, **settings: Any) -> None:
    few = {key: FEW[key] for key in FEW.keys() & settings_of(name, **settings).keys()}
    ranker(name, **{**few, **settings}).fit(data, easy_data(4, seed=1)).rank(data)


def _click_model(name: str, data: Dataset) -> None:
    few: dict[str, Any] = {} if name == "cascade" else {"max_steps": 2}
    fit_click_model(simulate_clicks(data, data.X[:, 0], 20), name, **few)


def _fusion(name: str, data: Dataset) -> None:
    weights: dict[str, Any] = {"weights": (0.5, 0.3, 0.2)} if name == "weighted-borda" else {}
    fuse(_runs(data), name, **weights)


def _runs(data: Dataset) -> list[Run]:
    return [Run.from_scores(data, data.X[:, f].astype(np.float64), f"run {f}") for f in range(3)]


def _distances() -> None:
    first, second = ["a", "b", "c"], ["b", "a", "c"]
    for distance in (kendall_distance, spearman_distance, top_k_distance):
        distance(first, second)


def _features(folder: Path) -> None:
    documents = [
        Document(str(i), {"title": f"word{i} common", "body": "common text words"}) for i in range(4)
    ]
    index = build_index(documents, folder / "index", analyser=Analyser(None, frozenset()))
    links = folder / "links.txt"
    links.write_text("0 1\n1 2\n2 0\n")
    build_dataset(index, {"q": "common word1"}, {"q": {"1": 1.0, "0": 0.0}}, links=read_links(links, index))
