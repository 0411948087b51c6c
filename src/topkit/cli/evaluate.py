"""``topkit eval``: measures of scores or runs, side by side, with the convention they follow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from topkit.cli.completion import name_option
from topkit.cli.output import Format, print_table

if TYPE_CHECKING:
    from topkit.data import Judgments
    from topkit.metrics import Evaluation

BY_GRADES, BY_PREFERENCES = "ndcg@10,map,p@10,rr", "ppref,compat"
"""The metrics if none are named."""

Metrics = Annotated[
    str | None,
    name_option(
        "measure",
        "For example ndcg@1..10,err [ndcg@10,map,p@10,rr; ppref,compat for preferences alone].",
        several=True,
    ),
]
ConventionName = Annotated[
    str | None,
    name_option("convention", "yahoo, ranklib, trec, letor3, letor4 or mslr [yahoo; trec with --qrels]."),
]


def evaluate(
    files: Annotated[
        list[Path], Argument(help="A data set and score files (one score per line); with --qrels, TREC runs.")
    ],
    qrels: Annotated[Path | None, Option(help="TREC judgments; the files are then runs.")] = None,
    preferences: Annotated[
        Path | None,
        Option(help="Preferences: `query a b winner`, CSV or JSON Lines; the files are runs."),
    ] = None,
    qrels_format: Annotated[
        str | None, Option(help="Format of --qrels: trec, plain, beir, msmarco, smart, cranfield [detected].")
    ] = None,
    metrics: Metrics = None,
    convention: ConventionName = None,
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
    """Evaluate score files on a data set, or runs on judgments: TREC, BEIR, MS MARCO or preferences.

    Examples: `topkit eval test.txt svm.scores net.scores --metrics ndcg@10,err --test t`

    `topkit eval --qrels qrels.txt run1 run2.gz --metrics map,p@1..10 --format latex`

    `topkit eval --preferences prefs.csv run1 run2 --metrics ppref,compat`
    """
    import gc

    from topkit.data.settings import lookup
    from topkit.reporting.results import per_query_table, score_table
    from topkit.reporting.tables import FORMATS, bold_on_terminal

    gc.disable()  # a short-lived process: garbage collection would take a third of its time
    write = lookup(FORMATS, output, "format")
    names = metrics or (BY_GRADES if preferences is None or qrels is not None else BY_PREFERENCES)
    if qrels is not None or preferences is not None:
        judgments = _judgments(qrels, qrels_format, preferences)
        results = _evaluate_runs(judgments, files, names, convention or "trec", missing)
    else:
        results = _evaluate_scores(files, names, convention or "yahoo", truth)
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


def _judgments(qrels: Path | None, qrels_format: str | None, preferences: Path | None) -> Judgments:
    """The grades and the preferences of the files, together."""
    from topkit.data import Judgments, read_preferences, read_qrels

    grades = Judgments() if qrels is None else read_qrels(qrels, qrels_format)
    answers = Judgments() if preferences is None else read_preferences(preferences)
    return Judgments(grades.grades, answers.preferences)


def _evaluate_runs(
    judgments: Judgments, files: list[Path], metrics: str, convention: str, missing: str
) -> dict[str, Evaluation]:
    from topkit.data import InputError, read_run
    from topkit.metrics import evaluate_run, parse_metrics

    if missing not in ("skip", "zero"):
        raise InputError(f"invalid --missing {missing!r}", "choose skip or zero")
    parsed = parse_metrics(metrics)
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
    from topkit.data.compression import without_compression

    short = [without_compression(path.name) for path in files]
    return short if len(set(short)) == len(short) else [str(path) for path in files]
