"""k: is the top k of a full order enough to learn from? Training truth is cut at k, the test is not."""

from __future__ import annotations

from collections.abc import Iterator

from topkit.data import Dataset
from topkit.rankers import settings_of
from topkit.studies.fits import TOP, fit, fit_cell, measured, scores_of, turns
from topkit.studies.kind import Cell, Heading, Kind, Outcome, Part, Plot, Setting, Table, Words
from topkit.studies.plots import curves
from topkit.studies.results import Results
from topkit.studies.sources import load
from topkit.studies.spec import Study
from topkit.studies.tables import ResultTable

ALL = 0
SETTINGS = {
    "ks": Setting([1, 2, 3, 5, 7, 10, 15, 20, 30, ALL], "where the training truth is cut; 0 keeps all of it"),
}


def cells(study: Study) -> Iterator[Cell]:
    """A fit for each data set, ranker, k, fold and seed."""
    for turn in turns(study):
        for one in study.rankers:
            for k in study.settings["ks"]:
                yield fit_cell(study, turn, one, {"ranker": one.name, "k": k}, k=k)


def compute(cell: Cell) -> Outcome:
    """Train on the truth cut at k; choose by the top ten of the validation truth; test as always.

    Rankers with a setting k get it; for the others the labels of the cut truth say all.
    """
    data = load(cell.what["data"], cell.where)
    k, seed = cell.what["k"], cell.what["seed"]
    train = cut(data.learn.train, k, seed)
    settings = {}
    if "k" in settings_of(cell.what["ranker"], **cell.what["set"]):
        settings["k"] = k or int(train.lengths.max())
    fitted, facts = fit(cell.what, train, data.learn.valid.top_k(TOP, seed), **settings)
    return measured(cell.what, data, scores_of(fitted, data.learn.test), facts)


def cut(data: Dataset, k: int, seed: int) -> Dataset:
    """The truth cut at k; all of it for 0: the full order, or the grades as they are."""
    return data if k == ALL else data.top_k(k, seed)


def show(study: Study, results: Results) -> Iterator[Part]:
    """Each measure against k, a line for each ranker."""
    ks = study.settings["ks"]
    names = ["all" if k == ALL else str(k) for k in ks]
    for source in study.data:
        yield Heading(source.name)
        own = results.where(data=source.name)
        for which in study.metrics:
            means = own.mean(which, "ranker", "k")
            rows = tuple((one.name, tuple(means[one.name, k] for k in ks)) for one in study.rankers)
            note = (
                f"{source.name}: {which} on the test part by the k that training truth is cut at, "
                f"{len(source.folds)} folds; convention {source.convention}"
            )
            yield Table(f"k-{source.name}-{which}", ResultTable(tuple(names), rows, (note,), bold=False))
            for row, values in rows:
                yield Words(f"{source.name}, {which}: {row} {settles(names, values)}")
            yield Plot(
                f"k-{source.name}-{which}",
                curves(ks, {name: list(values) for name, values in rows}, "k", which, even=True, names=names),
                note + ".",
            )


def settles(names: list[str], values: tuple[float, ...]) -> str:
    """From which k on all values are within 2 % of the last.

    >>> settles(["1", "2", "5", "all"], (0.40, 0.495, 0.505, 0.50))
    'stays within 2 % of its last value from k = 2 on (k = 1: −20.0 %).'
    """
    last = values[-1]
    place = next(i for i in range(len(values)) if all(abs(v - last) <= 0.02 * last for v in values[i:]))
    before = f"{100 * (values[0] / last - 1):+.1f}".replace("-", "−")
    return f"stays within 2 % of its last value from k = {names[place]} on (k = {names[0]}: {before} %)."


TOP_K = Kind(
    "test quality against the k that the training truth is cut at",
    SETTINGS,
    cells,
    compute,
    show,
    metrics=("kndcg@10", "ndcg@10"),
    rankers=("ranksvm", "rankboost", "ranknet", "topk-listmle"),
)
