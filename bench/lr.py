"""SortNet, least effort and the click-and-label ranker against published figures, baselines and a peer.

``python -m bench.lr [sortnet] [isorank] [contradictions] [clicks] [mix] [rate]``; each part is one claim of
``docs/lr4ir.md``.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.support.real_data import real_data_folder

import topkit as tk
from bench.svm_boosting import fold
from bench.timing import best_of, show
from topkit.compute import Floats
from topkit.data import Page, read_pages
from topkit.metrics.significance import paired_t
from topkit.rankers import Clicks
from topkit.rankers.clicks.events import examined
from topkit.rankers.clicks.model import ClickLabel
from topkit.rankers.clicks.pages import pages_data
from topkit.rankers.sortnet import Comparator
from topkit.studies.publish import publish
from topkit.studies.run import run_study
from topkit.studies.template import template

IMAGES = Path(__file__).parent.parent / "docs" / "images"
MEASURES = ["map", "ndcg@1", "ndcg@3", "ndcg@10"]
EVENTS = 1_000_000


def tuned(name: str, grid: list[dict[str, Any]], published: str) -> None:
    """OHSUMED, 5 folds: each fold takes the settings with the best MAP on its validation queries.

    Below stands each of the settings in all folds.
    """
    start = time.perf_counter()
    reached = np.empty((len(grid), 5, len(MEASURES)))
    chosen, circles = [], []
    for number in range(1, 6):
        train, valid, test = fold("OHSUMED-letor2", number)
        tried = [tk.ranker(name, metric="map", convention="letor3", **one).fit(train, valid) for one in grid]
        best = max(range(len(grid)), key=lambda i: tried[i].traces[0].best)
        chosen.append(best)
        for i, ranker in enumerate(tried):
            mean = tk.evaluate(test, ranker.ordering_scores(test), MEASURES, "letor3").mean
            reached[i, number - 1] = [mean[measure] for measure in MEASURES]
        if name == "sortnet":
            model, preparation = tried[best].model, tried[best].preparation
            assert isinstance(model, Comparator)
            assert preparation is not None
            circles.append(model.intransitivity(preparation(test)))

    def line(values: Floats) -> str:
        return "  ".join(f"{m} {v:.4f}" for m, v in zip(MEASURES, values, strict=True))

    of_folds = reached[chosen, range(5)].mean(axis=0)
    print(f"{name:<8} {line(of_folds)}   published {published}   {time.perf_counter() - start:.0f} s")
    for i, one in enumerate(grid):
        varied = {key: value for key, value in one.items() if any(other[key] != value for other in grid)}
        print(f"         {line(reached[i].mean(axis=0))}   {varied}, chosen in {chosen.count(i)} folds")
    if circles:
        print(f"         triples of test documents in a circle: {np.mean(circles):.4%}", flush=True)


def sortnet() -> None:
    """SortNet on OHSUMED: the network is trained further in each round, or anew as published."""
    for restart in (False, True):
        grid = [{"l2": l2, "restart": restart} for l2 in (0.003, 0.01, 0.03)]
        tuned("sortnet", grid, f"none for this data, restart={restart}")


def isorank() -> None:
    """IsoRank and QBRank on OHSUMED."""
    slow = {"rate": 0.02, "trees": 2000, "patience": 200, "bagging": 0.5, "feature_share": 0.3}
    grid = [{"leaves": leaves, **slow} for leaves in (2, 4, 8)]
    tuned("isorank", grid, "MAP 0.457, NDCG@1 0.565")
    tuned("qbrank", grid, "MAP 0.452, NDCG@1 0.563")


def contradictions() -> None:
    """Training pairs not in the right order, round by round."""
    train = fold("OHSUMED-letor2", 1)[0]
    for name in ("isorank", "qbrank"):
        seen = np.array(tk.ranker(name, trees=200).fit(train).traces[1].values)
        steps = np.diff(seen)
        every = ", ".join(f"{int(seen[i]):,}" for i in (0, 1, 10, 50, 100, 200))
        print(
            f"{name}: {every} pairs not in order after 0, 1, 10, 50, 100, 200 trees; "
            f"{np.mean(steps <= 0):.1%} of steps do not rise, the largest rise is "
            f"{(steps / seen[:-1]).max():.2%}"
        )


def pages_of(*names: str) -> list[Page]:
    """The pages of some of the click files."""
    folder = real_data_folder()
    if folder is None:
        raise SystemExit("real data not at hand: set TOPKIT_DATA to its folder")
    return [page for name in names for page in read_pages(folder / "clicks" / f"{name}_per_query_quid.txt")]


def clicks() -> None:
    """Held-out click log-likelihood against baselines whose pseudo-counts are chosen on validation pages."""
    train, valid, test = pages_of("train"), pages_of("valid"), pages_of("test")

    def model_of(memory: float) -> Callable[[list[Page]], Floats]:
        made = tk.ranker("click-label", memory=memory, normalise="none")
        model = made.fit(pages_data(train, graded=False), clicks=Clicks(train)).model
        assert isinstance(model, ClickLabel)
        return lambda pages: model.log_likelihoods(Clicks(pages))

    def counted(key: Callable[[Page, int], object], pseudo: float) -> Callable[[list[Page]], Floats]:
        counts: dict[object, list[float]] = {}
        for page in train:
            for place in range(examined(page)):
                count = counts.setdefault(key(page, place), [0.0, 0.0])
                count[0] += page.clicks[place]
                count[1] += 1
        total = np.sum(list(counts.values()), axis=0)
        rate = total[0] / total[1]

        def logs(pages: list[Page]) -> Floats:
            found = []
            for page in pages:
                for place in range(examined(page)):
                    hits, looks = counts.get(key(page, place), (0.0, 0.0))
                    p = (hits + pseudo * rate) / (looks + pseudo)
                    found.append(np.log(p if page.clicks[place] else 1 - p))
            return np.array(found)

        return logs

    sides = {
        "click-label": {m: model_of(m) for m in (0.3, 0.5, 0.8)},
        "position only": {p: counted(lambda page, place: place, p) for p in (0.5, 2.0, 8.0)},
        "click rate of the pair": {
            p: counted(lambda page, place: (page.query, page.docs[place]), p) for p in (0.5, 2.0, 8.0)
        },
        "one rate for all": {1.0: counted(lambda page, place: 0, 1.0)},
    }
    ours: Floats | None = None
    for name, options in sides.items():
        best = max(options, key=lambda option: float(options[option](valid).mean()))
        logs = options[best](test)
        ours = logs if ours is None else ours
        beside = (
            "" if ours is logs else f"   ours is {(ours - logs).mean():+.4f}, p = {paired_t(ours - logs):.4f}"
        )
        print(f"{name:<24} {logs.mean():8.4f} on {len(logs)} examined documents of test pages{beside}")


def mix() -> None:
    """NDCG@10 and S_clicks by λ on the pages with human grades: the study of kind ``clicks``."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "clicks.toml")
        file.write_text(template("clicks"))
        print(publish(run_study(file, Path(folder, "out"))))
        shutil.copy(Path(folder, "out", "plot-mix.svg"), IMAGES / "click-mix.svg")


def made_up_pages(pages: int, seed: int = 0) -> Iterator[tuple[Page, Floats]]:
    """Pages of ten documents that are all examined (the last is clicked), and their features."""
    rng = np.random.default_rng(seed)
    for start in range(0, pages, 1000):
        features = rng.normal(size=(1000, 10, 8))
        queries = rng.zipf(1.3, 1000) % 5000
        documents = rng.integers(0, 40, (1000, 10))
        likes = rng.uniform(size=(1000, 10)) < 1 / (1 + np.exp(1.0 - features[:, :, 0] + 0.1 * np.arange(10)))
        likes[:, -1] = True
        for i in range(min(1000, pages - start)):
            query = f"q{queries[i]}"
            docs = tuple(f"{query}-{d}" for d in documents[i])
            yield Page(query, docs, tuple(likes[i].tolist())), features[i]


def rate() -> float:
    """A million click events in one pass, against SGDClassifier.partial_fit on the same data; the ratio."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import SGDClassifier

    from topkit.rankers.clicks.beliefs import Beliefs
    from topkit.rankers.clicks.events import Events, Layout

    layout = Layout(8, 20, 1 << 16)
    stream = list(made_up_pages(EVENTS // 10))
    start = time.perf_counter()
    chunks = [
        Events.of([page for page, _ in stream[at : at + 1000]], layout, {})
        for at in range(0, len(stream), 1000)
    ]
    reading = time.perf_counter() - start
    X = [
        np.concatenate([f for _, f in stream[at : at + 1000]]).astype(np.float32)
        for at in range(0, len(stream), 1000)
    ]
    for i, events in enumerate(chunks):
        chunks[i] = Events(np.arange(len(events.clicked)), events.slots, events.clicked)
    matrices = []
    for events, features in zip(chunks, X, strict=True):
        n = len(features)
        where = np.hstack([np.tile(np.arange(8), (n, 1)), events.slots]).astype(np.int32)
        values = np.hstack([features, np.ones((n, 5))])
        shape = (n, len(layout))
        matrices.append(csr_matrix((values.ravel(), where.ravel(), np.arange(n + 1) * 13), shape=shape))
    count = sum(len(events.clicked) for events in chunks)
    logs = {}

    def ours() -> None:
        beliefs, total = Beliefs.prior(layout, 1.0, 0.5), 0.0
        for events, features in zip(chunks, X, strict=True):
            beliefs, added = beliefs.after_clicks(events, features)
            total += added
        logs["ours"] = total / count

    def peer() -> None:
        model = SGDClassifier(loss="log_loss", alpha=1e-6, fit_intercept=False, random_state=0)
        for events, matrix in zip(chunks, matrices, strict=True):
            model.partial_fit(matrix, events.clicked, classes=[False, True])

    ours()
    mine, theirs = best_of(ours, peer, turns=3)
    ratio = show(f"{count:,} click events, 13 weights each", mine, theirs, "SGDClassifier.partial_fit", "1x")
    print(
        f"{count / mine:,.0f} events a second; turning pages into arrays took {reading:.2f} s more "
        "for either side"
    )
    print(f"mean log-likelihood of each event before it was learnt: {logs['ours']:.4f}")
    return ratio


def main() -> None:
    parts: dict[str, Callable[[], object]] = {
        "sortnet": sortnet,
        "isorank": isorank,
        "contradictions": contradictions,
        "clicks": clicks,
        "mix": mix,
        "rate": rate,
    }
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
