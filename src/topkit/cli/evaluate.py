"""``topkit eval``: measures of scores or runs, side by side, with the convention they follow."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from topkit.metrics import Evaluation
    from topkit.studies.tables import ResultTable


def evaluate(
    files: Annotated[
        list[Path],
        typer.Argument(help="A data set and score files (a score a line); with --qrels, TREC runs."),
    ],
    qrels: Annotated[Path | None, typer.Option(help="TREC judgments; the files are runs then.")] = None,
    metrics: Annotated[str, typer.Option(help="For example ndcg@1..10,err,map.")] = "ndcg@10,map,p@10,rr",
    convention: Annotated[
        str | None,
        typer.Option(help="yahoo, ranklib, trec, letor3, letor4 or mslr [yahoo; trec with --qrels]."),
    ] = None,
    output: Annotated[str, typer.Option("--format", help="table, markdown, latex, csv or json.")] = "table",
    per_query: Annotated[bool, typer.Option("--per-query", help="One row a query instead of means.")] = False,
    interval: Annotated[bool, typer.Option("--interval", help="Add 95 % bootstrap intervals.")] = False,
    test: Annotated[
        str | None, typer.Option(help="Mark differences to the first: t, wilcoxon, randomisation or tukey.")
    ] = None,
    correction: Annotated[str, typer.Option(help="For many comparisons: holm, bonferroni or none.")] = "holm",
    missing: Annotated[
        str, typer.Option(help="Judged queries that a run leaves out: skip or zero.")
    ] = "skip",
    truth: Annotated[str, typer.Option(help="What the labels mean: graded, order or top-K.")] = "graded",
    seed: Annotated[int, typer.Option(help="Seed of bootstrap and randomisation.")] = 0,
) -> None:
    """Evaluate score files of a data set, or TREC runs by judgments.

    Examples: `topkit eval test.txt svm.scores net.scores --metrics ndcg@10,err --test t`

    `topkit eval --qrels qrels.txt run1 run2.gz --metrics map,p@1..10 --format latex`
    """
    import gc

    from topkit.data import InputError
    from topkit.studies.tables import FORMATS, as_text

    gc.disable()  # a short-lived process: looking for garbage would take a third of its time
    if output not in FORMATS:
        raise InputError(f"unknown format {output!r}", f"choose one of {', '.join(FORMATS)}")
    if qrels is not None:
        results = _runs(qrels, files, metrics, convention or "trec", missing)
    else:
        results = _scores(files, metrics, convention or "yahoo", truth)
    if per_query:
        tables = [_per_query(name, result) for name, result in results.items()]
    else:
        tables = [_means(results, interval, test, correction, seed)]
    for table in tables:
        if output == "table" and sys.stdout.isatty():
            print(as_text(table, lambda text: f"\033[1m{text}\033[0m"))
        else:
            print(FORMATS[output](table))


def _scores(files: list[Path], metrics: str, convention: str, truth: str) -> dict[str, Evaluation]:
    from topkit.data import InputError, read_letor, read_parquet
    from topkit.data.scores import read_scores
    from topkit.metrics import evaluate, parse_metrics

    if len(files) < 2:
        raise InputError("there are no scores", "name the data set first and then one or more score files")
    chosen = parse_metrics(metrics)
    path, *score_files = files
    text = path.suffix != ".parquet"
    data = read_letor(path, features=False, truth=truth) if text else read_parquet(path)
    return {
        name: evaluate(data, read_scores(file, len(data)), chosen, convention=convention)
        for name, file in zip(_names(score_files), score_files, strict=True)
    }


def _runs(
    qrels: Path, files: list[Path], metrics: str, convention: str, missing: str
) -> dict[str, Evaluation]:
    from topkit.data import InputError, read_qrels, read_run
    from topkit.metrics import evaluate_run, parse_metrics

    if missing not in ("skip", "zero"):
        raise InputError(f"unknown choice {missing!r} of --missing", "choose skip or zero")
    chosen = parse_metrics(metrics)
    judged = read_qrels(qrels)
    results = {}
    for name, file in zip(_names(files), files, strict=True):
        run = read_run(file, name=name, compiled=False)
        try:
            results[name] = evaluate_run(
                judged, run, chosen, convention=convention, missing="zero" if missing == "zero" else "skip"
            )
        except InputError as error:
            raise InputError(error.problem, error.remedy, file=file) from None
    return results


def _names(files: list[Path]) -> list[str]:
    """File names where they differ, whole paths otherwise."""
    short = [path.name.removesuffix(".gz") for path in files]
    return short if len(set(short)) == len(short) else [str(path) for path in files]


def _means(
    results: dict[str, Evaluation], interval: bool, test: str | None, correction: str, seed: int
) -> ResultTable:
    from topkit.metrics import metric
    from topkit.studies.tables import ResultTable

    first = next(iter(results.values()))
    columns = tuple(first.mean)
    notes = [f"{len(first.qids)} queries; convention {first.convention}"]
    intervals = {}
    if interval:
        notes.append("in brackets: 95 % bootstrap interval over queries")
        intervals = {
            (name, column): result.interval(column, seed=seed)
            for name, result in results.items()
            for column in columns
        }
    marks: dict[tuple[str, str], str] = {}
    if test is not None:
        marks, said = _marks(results, columns, test, correction, seed)
        notes.append(said)
    return ResultTable(
        columns,
        tuple((name, tuple(result.mean[c] for c in columns)) for name, result in results.items()),
        tuple(notes),
        tuple(metric(column).measure.greater_is_better for column in columns),
        marks,
        intervals,
    )


def _marks(
    results: dict[str, Evaluation], columns: tuple[str, ...], test: str, correction: str, seed: int
) -> tuple[dict[tuple[str, str], str], str]:
    """▲ and ▼ where a system differs from the first with p < 0.05, and the sentence that says so."""
    from topkit.metrics import compare
    from topkit.metrics.significance import TESTS

    baseline = next(iter(results))
    chosen = None if correction == "none" else correction
    marks = {}
    for column in columns:
        comparison = compare(results, column, test, chosen, baseline, seed)
        for pair in comparison.pairs:  # the baseline comes first in every pair
            if pair.corrected < 0.05:
                marks[pair.b, column] = "▲" if pair.difference < 0 else "▼"
    corrected = "" if test == "tukey" or chosen is None else f", {correction.title()}'s correction"
    return marks, f"▲ ▼: above or below {baseline} with p < 0.05, {TESTS[test]}{corrected}"


def _per_query(name: str, result: Evaluation) -> ResultTable:
    from topkit.studies.tables import ResultTable

    columns = tuple(result.per_query)
    rows = tuple(
        (qid, tuple(float(result.per_query[c][i]) for c in columns)) for i, qid in enumerate(result.qids)
    )
    return ResultTable(columns, rows, (f"{name}; convention {result.convention}",))
