"""beta: the balance β of FocusedRank, between the order in the top k and the top k against the rest."""

from __future__ import annotations

from collections.abc import Iterator

from topkit.data import InputError
from topkit.metrics import metric
from topkit.rankers import settings_of
from topkit.studies.fits import compute_fit, fit_cell, turns
from topkit.studies.kind import Cell, Kind, Part, Plot, Setting, Table, Words
from topkit.studies.plots import curves, two_axes
from topkit.studies.results import Results
from topkit.studies.spec import Study
from topkit.studies.tables import ResultTable

SETTINGS = {
    "betas": Setting([round(0.05 * i, 2) for i in range(21)], "0 is the pairwise part alone, 1 the listwise"),
}


def cells(study: Study) -> Iterator[Cell]:
    """A fit for each data set, ranker, β, fold and seed."""
    for one in study.rankers:
        if "beta" not in settings_of(one.ranker, **one.settings):
            raise InputError(
                f"the ranker {one.ranker!r} has no beta", "use focusednet, focusedsvm or focusedboost"
            )
    for turn in turns(study):
        for one in study.rankers:
            for beta in study.settings["betas"]:
                yield fit_cell(study, turn, one, {"ranker": one.name, "beta": beta}, fixed={"beta": beta})


def show(study: Study, results: Results) -> Iterator[Part]:
    """For each ranker, top-k measures on the left axis and graded ones on the right."""
    betas = study.settings["betas"]
    graded = [source.name for source in study.data if source.truth == "labels"]
    ordered = [source.name for source in study.data if source.truth != "labels"]
    for one in study.rankers:
        left: dict[str, list[float]] = {}
        right: dict[str, list[float]] = {}
        for which in study.metrics:
            by_order = metric(which).measure.needs in ("top-k", "order")
            for source in (ordered or graded) if by_order else (graded or ordered):
                means = results.where(ranker=one.name, data=source).mean(which, "beta")
                (left if by_order else right)[f"{which} {source}"] = [means[(beta,)] for beta in betas]
        lines = {**left, **right}
        labels = ("β", "by the top-k truth", "by the grades")
        figure = (
            two_axes(betas, left, right, labels) if left and right else curves(betas, lines, "β", "measure")
        )
        yield Table(one.name, _table(one.name, betas, lines, len(study.data[0].folds)))
        yield Plot(f"beta-{one.name}", figure, f"{one.name} by β, mean over test queries.")
        tops = {
            name: betas[max(range(len(values)), key=values.__getitem__)] for name, values in lines.items()
        }
        inner = sum(0 < beta < 1 for beta in tops.values())
        yield Words(
            f"{one.name}: of {len(tops)} curves, {inner} have their maximum between the ends; β there: "
            + ", ".join(f"{name} {beta:g}" for name, beta in tops.items())
            + "."
        )


def _table(name: str, betas: list[float], lines: dict[str, list[float]], folds: int) -> ResultTable:
    rows = tuple(
        (f"β {beta:g}", tuple(values[i] for values in lines.values())) for i, beta in enumerate(betas)
    )
    return ResultTable(tuple(lines), rows, (f"{name} by β, {folds} folds",))


BETA = Kind(
    "the balance β of FocusedRank between its listwise and its pairwise part",
    SETTINGS,
    cells,
    compute_fit,
    show,
    metrics=("ndcg@10", "kndcg@10", "kerr"),
    rankers=("focusednet", "focusedboost"),
)
