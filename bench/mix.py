"""Tune and mix against its parts, one part for each claim of the guide.

``python -m bench.mix [mq2008] [ohsumed] [bandit] [draws] [direction] [sigmoids] [fold] [speed] [members]``;
the studies are ``examples/calibration.toml``, ``examples/mix-curve.toml`` and ``examples/tm-tables.toml``.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
from tests.support.real_data import real_data_folder

import topkit as tk
from topkit.rankers.mixture import TARGETS, Mixture, member_rows, member_table
from topkit.rankers.mixture.calibration import fit_sigmoids, truth_of
from topkit.rankers.mixture.members import Measurement, measure_members
from topkit.rankers.mixture.split import CalibrationSplit
from topkit.rankers.multiclass.adaboost import Plan, boost, start_weights
from topkit.rankers.multiclass.adaboost_mh import train_boosted
from topkit.rankers.tune_and_mix import TuneAndMix
from topkit.scorers import Job

IMAGES = Path(__file__).parent.parent / "docs" / "images"
LIGHTGBM = 0.7828
"""NDCG@10 (yahoo) of LightGBM's lambdarank with early stopping on MQ2008, five folds."""
VARIANTS = ("one-best", "exp-cpc", "exp-rbc", "exp")


@cache
def fold(name: str, number: int) -> tuple[tk.Dataset, tk.Dataset, tk.Dataset]:
    """Train, validation and test of one fold."""
    folder = real_data_folder()
    if folder is None:
        raise SystemExit("real data not at hand: set TOPKIT_DATA to its folder")
    train, valid, test = (
        tk.read_letor(folder / name / f"Fold{number}" / f"{part}.txt") for part in ("train", "vali", "test")
    )
    return train, valid, test


def measured_members(train: tk.Dataset, valid: tk.Dataset, method: TuneAndMix) -> Measurement:
    """All that the ranker trains and measures, before a variant is chosen."""
    job = Job(train, valid, tk.ranker("tune-and-mix").measure())
    split = CalibrationSplit.of(job, method.share)
    return measure_members(split, method.trained(split), method.calibrations)


def among(measurement: Measurement, *words: str) -> Measurement:
    """The members whose source's title begins with one of these words."""
    mixture = measurement.mixture
    kept = [i for i, m in enumerate(mixture.members) if mixture.sources[m.source].title.startswith(words)]
    fewer = replace(mixture, members=tuple(mixture.members[i] for i in kept))
    return replace(measurement, mixture=fewer, scores=measurement.scores[kept])


def table(name: str) -> None:
    """The variants over five folds: boosting alone, the machine alone, each other ranker, and all of them."""
    method = TuneAndMix()
    parts = {"AdaBoost.MH": ("tree", "product"), "SVM": ("svm",), **{r: (r,) for r in method.rankers}}
    found: dict[str, list[tuple[float, float]]] = {}
    for number in range(1, 6):
        train, valid, test = fold(name, number)
        start = time.perf_counter()
        measurement = measured_members(train, valid, method)
        seconds = time.perf_counter() - start
        mixtures = {f"all, {variant}": measurement.weighed(variant) for variant in VARIANTS}
        for title, words in parts.items():
            some = among(measurement, *words)
            mixtures |= {f"{title}, {variant}": some.weighed(variant) for variant in ("one-best", "exp")}
        for title, mixture in mixtures.items():
            means = tk.evaluate(test, mixture.score(test), ["ndcg@10", "err"]).mean
            found.setdefault(title, []).append((means["ndcg@10"], means["err"]))
        strength = mixtures["all, exp"].strength
        print(f"fold {number}: {len(measurement.mixture.members)} members, c = {strength:g}, {seconds:.0f} s")
        print("   " + "  ".join(f"{v} {found[f'all, {v}'][-1][0]:.4f}" for v in VARIANTS), flush=True)
    print(f"\n{name}, yahoo, mean of 5 folds\n{'':<24}{'NDCG@10':>9}{'ERR':>9}")
    for title, pairs in found.items():
        ndcg, err = np.mean(pairs, axis=0)
        print(f"{title:<24}{ndcg:9.4f}{err:9.4f}")
    mean = {title: float(np.mean([pair[0] for pair in pairs])) for title, pairs in found.items()}
    print(f"mixture − one-best {mean['all, exp'] - mean['all, one-best']:+.4f}", end="")
    print(f"; mixture − LightGBM lambdarank {mean['all, exp'] - LIGHTGBM:+.4f}" * (name == "MQ2008"))


def mq2008() -> None:
    """NDCG@10 and ERR on MQ2008."""
    table("MQ2008")


def ohsumed() -> None:
    """NDCG@10 and ERR on OHSUMED of LETOR 2."""
    table("OHSUMED-letor2")


def bandit(*bases: tuple[str, int]) -> None:
    """Seconds per round and NDCG@10 on 136 features: exhaustive search against Exp3.G, both for 100 rounds.

    The features are the 46 of MQ2008, their z-scores, and 44 products of neighbours: as many as MSLR's.
    """
    folds = [tuple(widened(part) for part in fold("MQ2008", number)) for number in range(1, 6)]
    train = folds[0][0]
    signed = start_weights(train.y.astype(np.int64), 3, np.ones(len(train)))
    for form, size in bases or BASES:

        def few(search: bool, rounds: int, form: str = form, size: int = size) -> object:
            return boost(train, signed, Plan(form, size, rounds, search))

        few(True, 1)  # compiled
        work = [
            partial(few, False, 0),
            partial(few, False, 20),
            partial(few, True, 0),
            partial(few, True, 200),
        ]
        idle_full, busy_full, idle_drawn, busy_drawn = (min(timed(w)[1] for _ in range(3)) for w in work)
        full, drawn = (busy_full - idle_full) / 20, (busy_drawn - idle_drawn) / 200
        means = {}
        for search in ("full", "bandit"):
            values = []
            for learn, valid, test in folds:
                settings = {"form": form, "size": size, "search": search, "rounds": 100}
                fitted = tk.ranker("adaboost-mh", normalise="none", **settings).fit(learn, valid)
                values.append(tk.evaluate(test, fitted.score(test), "ndcg@10").mean["ndcg@10"])
            means[search] = float(np.mean(values))
        print(
            f"{form} {size}: full {full * 1e3:.2f} ms of CPU a round, bandit {drawn * 1e3:.3f} ms, "
            f"{full / drawn:.1f}x faster (wanted: 8x); NDCG@10, mean of 5 folds, full {means['full']:.4f}, "
            f"bandit {means['bandit']:.4f}, {means['bandit'] - means['full']:+.4f} (wanted: within 0.005)",
            flush=True,
        )


BASES = (("tree", 2), ("tree", 8), ("product", 3))


def draws() -> None:
    """NDCG@10 on MQ2008 when Exp3.G draws one feature for each choice, as in the paper, or eight."""
    for settings in ({"search": "bandit", "draws": 1}, {"search": "bandit", "draws": 8}, {"search": "full"}):
        values = []
        for number in range(1, 6):
            train, valid, test = fold("MQ2008", number)
            fitted = tk.ranker("adaboost-mh", rounds=100, **settings).fit(train, valid)
            values.append(tk.evaluate(test, fitted.score(test), "ndcg@10").mean["ndcg@10"])
        print(f"tree 8, {settings}: NDCG@10, mean of 5 folds, {np.mean(values):.4f}", flush=True)


def direction() -> None:
    """NDCG@10 on data where a query-constant feature decides the direction of another one."""
    train, test = (_direction_data(seed) for seed in (0, 1))
    for name in ("adaboost-mh", "tune-and-mix", "lambdamart"):
        for normalise in ("auto", "min-max"):
            fitted = tk.ranker(name, normalise=normalise).fit(train)
            value = tk.evaluate(test, fitted.score(test), "ndcg@10").mean["ndcg@10"]
            print(f"{name}, normalise={normalise}: NDCG@10 {value:.4f}", flush=True)


def _direction_data(seed: int, queries: int = 100, documents: int = 20) -> tk.Dataset:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (documents * queries, 3)).astype(np.float32)
    X[:, 2] = np.repeat(rng.choice([-1.0, 1.0], queries), documents)
    y = np.digitize(X[:, 0] * X[:, 2] + 0.1 * rng.normal(size=len(X)), [0.5, 0.8])
    return tk.Dataset.build(X, y, np.repeat(np.arange(queries), documents))


def sigmoids() -> None:
    """Slope and centre of the five sigmoid calibrations of a boosted classifier on MQ2008 Fold1."""
    train = fold("MQ2008", 1)[0]
    split = CalibrationSplit.of(Job(train, None, tk.ranker("adaboost-mh").measure()), 0.2)
    source = train_boosted(split, split.classes, Plan("tree", 8, 100), (100,)).source
    data = split.view("calibrate")
    classes = split.classes.index(split.grades_in(split.calibration_queries))
    truth = truth_of(data, classes, split.classes.gains, np.ones(data.n_queries))
    scores = source.outputs(data)[0]
    for name, (a, b) in fit_sigmoids(scores, truth, tuple(TARGETS)).items():
        print(f"{name}: a {a:.2f}, b {b:.2f}")


def widened(data: tk.Dataset) -> tk.Dataset:
    """136 features from 46."""
    scaled = tk.normalise(data, "z-score").X
    products = data.X[:, :44] * data.X[:, 1:45]
    return data.with_features(np.ascontiguousarray(np.hstack([data.X, scaled, products])))


@cache
def default_fit() -> tuple[tk.rankers.Learner, float]:
    """A default mixture for MQ2008 Fold1, and the seconds it took."""
    train, valid, _ = fold("MQ2008", 1)
    start = time.perf_counter()
    fitted = tk.ranker("tune-and-mix").fit(train, valid)
    return fitted, time.perf_counter() - start


def fold_time() -> None:
    """A default run of one MQ2008 fold."""
    fitted, seconds = default_fit()
    test = fold("MQ2008", 1)[2]
    means = tk.evaluate(test, fitted.score(test), ["ndcg@10", "err"]).mean
    shown = ", ".join(f"{name} {value:.4f}" for name, value in means.items())
    print(f"MQ2008 Fold1, default settings: {seconds:.0f} s (wanted: under 180); test {shown}")


def speed() -> None:
    """Documents per second that a saved mixture of the default size scores, features prepared and all."""
    fitted, _ = default_fit()
    test = fold("MQ2008", 1)[2]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mix.model")
        fitted.save(path)
        loaded = tk.load_ranker(path)
        print(f"model file {path.stat().st_size / 1e6:.1f} MB")
    many = tk.Dataset.build(
        np.tile(test.X, (35, 1)), np.tile(test.y, 35),
        np.concatenate([test.query_index + 1000 * copy for copy in range(35)]),
    )  # fmt: skip
    loaded.score(test)
    best, busy = min(timed(lambda: loaded.score(many)) for _ in range(3))
    model = loaded.model
    assert isinstance(model, Mixture)
    used = sum(member.weight > 0 for member in model.members)
    print(
        f"{len(many)} documents, {len(model.members)} members ({used} with a weight): {best:.2f} s, "
        f"{len(many) / best:,.0f} documents per second (wanted: 50,000), {len(many) / busy:,.0f} a CPU second"
    )


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock, and of CPU in all threads."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - busy


def members() -> None:
    """The member table of a default mixture on MQ2008 Fold1, and its plot."""
    import matplotlib.pyplot as plt

    model = default_fit()[0].model
    assert isinstance(model, Mixture)
    print(member_table(model))
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    rows = member_rows(model)
    kinds = sorted({row.classifier.split(" T=")[0].split(" C=")[0] for row in rows})
    for marker, kind in zip("osD^vPX*<>hp", kinds, strict=False):
        mine = [row for row in rows if row.classifier.split(" T=")[0].split(" C=")[0] == kind]
        axes.plot([row.measure for row in mine], [row.weight for row in mine], marker, label=kind, alpha=0.6)
    axes.set(xlabel="NDCG@10 on validation data", ylabel="weight in the mixture")
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(IMAGES / "mixture-members.png", dpi=110)
    print(f"plot in {IMAGES / 'mixture-members.png'}")


PARTS: dict[str, Callable[[], None]] = {
    "mq2008": mq2008,
    "ohsumed": ohsumed,
    "bandit": bandit,
    **{f"bandit-{form}-{size}": partial(bandit, (form, size)) for form, size in BASES},
    "draws": draws,
    "direction": direction,
    "sigmoids": sigmoids,
    "fold": fold_time,
    "speed": speed,
    "members": members,
}


def main() -> None:
    unknown = [word for word in sys.argv[1:] if word not in PARTS]
    if unknown:
        raise SystemExit(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main()
