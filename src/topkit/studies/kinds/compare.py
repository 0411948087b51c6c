"""compare: rankers over folds, settings chosen on validation data, differences tested query by query."""

from __future__ import annotations

from collections.abc import Iterator

from topkit.metrics import metric
from topkit.studies.fits import compute_fit, fit, fit_cell, importances, measured, scores_of, turns
from topkit.studies.kind import Cell, Heading, Kind, Outcome, Part, Setting, Table
from topkit.studies.results import Results
from topkit.studies.showing import by_query, importance_plot, score_table
from topkit.studies.sources import load
from topkit.studies.spec import Study

SETTINGS = {
    "baseline": Setting("", "the ranker that others are tested against; the first unless named"),
    "test": Setting(
        "t",
        "t, wilcoxon, randomisation or tukey (all pairs at once)",
        ("t", "wilcoxon", "randomisation", "tukey"),
    ),
    "correction": Setting(
        "holm", "for the number of comparisons: holm or bonferroni", ("holm", "bonferroni")
    ),
    "importance": Setting(False, "measure how much each ranker leans on each feature (takes longer)"),
}


def cells(study: Study) -> Iterator[Cell]:
    """A fit for each data set, ranker, fold and seed."""
    more = {"importance": True} if study.settings["importance"] else {}
    for turn in turns(study):
        for one in study.rankers:
            yield fit_cell(study, turn, one, {"ranker": one.name}, **more)


def compute(cell: Cell) -> Outcome:
    if not cell.what.get("importance"):
        return compute_fit(cell)
    data = load(cell.what["data"], cell.where)
    fitted, facts = fit(cell.what, data.learn.train, data.learn.valid)
    facts["importance"] = importances(fitted, data.learn.valid)
    return measured(cell.what, data, scores_of(fitted, data.learn.test), facts)


def show(study: Study, results: Results) -> Iterator[Part]:
    """A table for each data set, the best method query by query, hard queries, features."""
    which = study.metrics[0]
    for source in study.data:
        own = results.where(data=source.name)
        evaluations = own.evaluations(study.metrics, source.convention, "ranker")
        baseline = study.settings["baseline"] or study.rankers[0].name
        caption = (
            f"{source.name}, {len(source.folds)} folds, settings chosen by {study.choose} on validation data"
        )
        yield Heading(source.name)
        yield Table(
            source.name,
            score_table(
                evaluations,
                study.metrics,
                caption,
                baseline=baseline,
                test=study.settings["test"],
                correction=study.settings["correction"],
            ),
        )
        yield from by_query(source.name, evaluations, which, baseline)
        sign = 1 if metric(which).measure.greater_is_better else -1
        best = max(evaluations, key=lambda row: sign * evaluations[row].mean[which])
        yield from importance_plot(source.name, own, best)


COMPARE = Kind(
    "rankers over folds, tested against a baseline query by query",
    SETTINGS,
    cells,
    compute,
    show,
    metrics=("ndcg@10", "map"),
    rankers=("bestfeature", "ranksvm", "listnet", "topk-listmle", "focusednet"),
)
