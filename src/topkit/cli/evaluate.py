"""``topkit eval``: measures of scores or runs, side by side, with the convention they follow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from topkit.cli.output import Format, print_table

if TYPE_CHECKING:
    from topkit.metrics import Evaluation


def evaluate(
    files: Annotated[
        list[Path], Argument(help="A data set and score files (one score per line); with --qrels, TREC runs.")
    ],
    qrels: Annotated[Path | None, Option(help="TREC judgments; the files are then runs.")] = None,
    metrics: Annotated[str, Option(help="For example ndcg@1..10,err,map.")] = "ndcg@10,map,p@10,rr",
    convention: Annotated[
        str | None, Option(help="yahoo, ranklib, trec, letor3, letor4 or mslr [yahoo; trec with --qrels].")
    ] = None,
    output: Format = "table",
    per_query: Annotated[bool, Option("--per-query", help="Print one row per query, not means.")] = False,
    interval: Annotated[bool, Option("--interval", help="Add 95 % bootstrap intervals.")] = False,
    test: Annotated[
        str | None, Option(help="Test against the first: t, wilcoxon, randomisation, tukey.")
    ] = None,
    correction: Annotated[str, Option(help="Correction of --test: holm, bonferroni or none.")] = "holm",
    missing: Annotated[str, Option(help="Judged queries missing from a run: skip or zero.")] = "skip",
    truth: Annotated[str, Option(help="What the labels mean: graded, order or top-K.")] = "graded",
    seed: Annotated[int, Option(help="Seed of bootstrap and randomisation.")] = 0,
) -> None:
    """Evaluate score files on a data set, or TREC runs on judgments.

    Examples: `topkit eval test.txt svm.scores net.scores --metrics ndcg@10,err --test t`

    `topkit eval --qrels qrels.txt run1 run2.gz --metrics map,p@1..10 --format latex`
    """
    import gc

    from topkit.data.settings import lookup
    from topkit.reporting.results import per_query_table, score_table
    from topkit.reporting.tables import FORMATS, bold_on_terminal

    gc.disable()  # a short-lived process: garbage collection would take a third of its time
    write = lookup(FORMATS, output, "format")
    if qrels is not None:
        results = _evaluate_runs(qrels, files, metrics, convention or "trec", missing)
    else:
        results = _evaluate_scores(files, metrics, convention or "yahoo", truth)
    if per_query:
        print_table(per_query_table(results), output)
        return
    corrected = None if correction == "none" else correction
    scores = score_table(results, test=test, correction=corrected, interval=interval, seed=seed)
    print(scores.table().text(bold_on_terminal()) if output == "table" else write(scores))


def _evaluate_scores(files: list[Path], metrics: str, convention: str, truth: str) -> dict[str, Evaluation]:
    from topkit.data import InputError, read_letor, read_parquet
    from topkit.data.scores import read_scores
    from topkit.metrics import evaluate, parse_metrics

    if len(files) < 2:
        raise InputError("no score files", "name the data set first and then one or more score files")
    parsed = parse_metrics(metrics)
    path, *score_files = files
    is_text = path.suffix != ".parquet"
    data = read_letor(path, features=False, truth=truth) if is_text else read_parquet(path)
    return {
        name: evaluate(data, read_scores(file, len(data)), parsed, convention=convention)
        for name, file in zip(_names(score_files), score_files, strict=True)
    }


def _evaluate_runs(
    qrels: Path, files: list[Path], metrics: str, convention: str, missing: str
) -> dict[str, Evaluation]:
    from topkit.data import InputError, read_qrels, read_run
    from topkit.metrics import evaluate_run, parse_metrics

    if missing not in ("skip", "zero"):
        raise InputError(f"invalid --missing {missing!r}", "choose skip or zero")
    parsed = parse_metrics(metrics)
    judgments = read_qrels(qrels)
    results = {}
    for name, file in zip(_names(files), files, strict=True):
        run = read_run(file, name=name, compiled=False)
        try:
            results[name] = evaluate_run(
                judgments, run, parsed, convention=convention, missing="zero" if missing == "zero" else "skip"
            )
        except InputError as error:
            raise InputError(error.problem, error.remedy, file=file) from None
    return results


def _names(files: list[Path]) -> list[str]:
    """File names if they differ, else complete paths."""
    short = [path.name.removesuffix(".gz") for path in files]
    return short if len(set(short)) == len(short) else [str(path) for path in files]
