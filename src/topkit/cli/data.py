"""``topkit data``: inspect data sets, convert, normalise, split and audit them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from topkit.cli.completion import name_option
from topkit.cli.output import Form, check_form, print_json, print_records
from topkit.cli.shared import FILES, Regroup, Seed, Source, TruthName, read_dataset, save_dataset

if TYPE_CHECKING:
    from topkit.data import Dataset
    from topkit.data.describe import Facts
    from topkit.features.audit_report import Audit

app = typer.Typer(help="Inspect data sets, convert, normalise, split and audit them.", no_args_is_help=True)


@app.command(no_args_is_help=True)
def info(
    files: Annotated[list[Path], Argument(help=FILES)],
    regroup: Regroup = False,
    form: Form = "table",
) -> None:
    """Print sizes, labels and features of data sets.

    Examples: `topkit data info train.txt vali.txt.gz`

    `topkit data info train.txt --format json`
    """
    from topkit.data.describe import describe

    check_form(form)
    facts = {str(path): describe(read_dataset(path, regroup=regroup)) for path in files}
    records = [
        {"file": file, **fact._asdict(), "labels": {f"{label:g}": count for label, count in fact.labels}}
        for file, fact in facts.items()
    ]
    print_records(records, form, lambda: "\n".join(_info(file, fact) for file, fact in facts.items()))


def _info(file: str, facts: Facts) -> str:
    labels = ", ".join(f"{label:g} ({count:,})" for label, count in facts.labels)
    constant = f", {facts.constant} of them constant" if facts.constant else ""
    missing = f", {facts.missing:.1%} of the values missing" if facts.missing else ""
    per_query = f"{facts.shortest} to {facts.longest} per query, median {facts.median:g}"
    return "\n".join(
        [
            file,
            f"  queries    {facts.queries:,}, {facts.single_label:,} with one label only",
            f"  documents  {facts.documents:,}; {per_query}",
            f"  labels     {labels}",
            f"  features   {facts.features}{constant}{missing}",
        ]
    )


@app.command(no_args_is_help=True)
def convert(
    source: Source,
    target: Annotated[Path, Argument(help="File to write; its name says the format, .gz compresses.")],
    to: Annotated[str | None, Option(help="Convert the truth: order or top-K, such as top-10.")] = None,
    regroup: Regroup = False,
    truth: TruthName = "graded",
    seed: Seed = 0,
    break_ties: Annotated[
        bool, Option("--break-ties", help="Order the ties of top-K truth at random by --seed.")
    ] = False,
) -> None:
    """Convert between file formats, and between kinds of truth.

    The file names say the formats: .parquet, .csv, .tsv, .jsonl, .svm (or .svmlight, .libsvm), else LETOR
    text. Tables have the columns qid, label and, if known, doc_id; all others are features.

    Examples: `topkit data convert train.txt train.parquet`

    `topkit data convert train.csv train.svm.gz`

    `topkit data convert train.txt top10.parquet --to top-10 --seed 1`

    `topkit data convert judged.txt untied.txt --truth top-10 --to top-10 --break-ties --seed 1`
    """
    from topkit.data import InputError, Truth

    data = read_dataset(source, regroup=regroup, truth=truth)
    if to is not None:
        new_truth = Truth.parse(to)
        if new_truth.kind == "graded":
            raise InputError("an order cannot be converted to grades", "convert to order or top-K")
        if new_truth.k is None:
            data = data.as_order(seed)
        else:
            data = data.top_k(new_truth.k, seed, break_ties=break_ties)
    save_dataset(data, target)


@app.command(no_args_is_help=True)
def normalise(
    source: Source,
    target: Annotated[Path, Argument(help="File to write.")],
    method: Annotated[str, Option(help="min-max, z-score or sortnet.")] = "min-max",
    mode: Annotated[str, Option(help="replace the features, or append to them.")] = "replace",
    regroup: Regroup = False,
) -> None:
    """Normalise features within each query.

    Example: `topkit data normalise train.txt train-norm.txt --method z-score`
    """
    from topkit.data import InputError, normalise

    if mode not in ("replace", "append"):
        raise InputError(f"unknown mode {mode!r}", "choose replace or append")
    checked: Literal["replace", "append"] = "append" if mode == "append" else "replace"
    data = normalise(read_dataset(source, regroup=regroup), method, checked)
    save_dataset(data, target)


@app.command(no_args_is_help=True)
def split(
    source: Source,
    folder: Annotated[Path, Argument(help="Folder to write to; created if missing.")],
    folds: Annotated[int | None, Option(help="Number of folds: FoldN/train, vali, test.")] = None,
    shares: Annotated[str, Option(help="Without --folds: shares of train, vali, test.")] = "0.6,0.2,0.2",
    ending: Annotated[str, Option(help="Ending of the files: txt, txt.gz or parquet.")] = "txt",
    regroup: Regroup = False,
    seed: Seed = 0,
) -> None:
    """Split the queries into folds, or into train, vali and test.

    Examples: `topkit data split all.txt folds/ --folds 5`

    `topkit data split all.txt parts/ --shares 0.8,0.1,0.1`
    """
    from topkit.data import query_folds, split_queries

    data = read_dataset(source, regroup=regroup)
    parts: dict[str, tuple[Dataset, ...]]
    if folds is not None:
        parts = {f"Fold{i}": tuple(fold) for i, fold in enumerate(query_folds(data, folds, seed), 1)}
    else:
        parts = {".": tuple(split_queries(data, _shares(shares), seed))}
    for subfolder, datasets in parts.items():
        (folder / subfolder).mkdir(parents=True, exist_ok=True)
        for name, part in zip(("train", "vali", "test"), datasets, strict=True):
            path = folder / subfolder / f"{name}.{ending}"
            save_dataset(part, path)


def _shares(text: str) -> list[float]:
    from topkit.data import InputError

    try:
        shares = [float(share) for share in text.split(",")]
    except ValueError:
        raise InputError(f"invalid shares {text!r}", "for example --shares 0.6,0.2,0.2") from None
    if len(shares) != 3:
        raise InputError(f"expected 3 shares, got {len(shares)}", "give those of train, vali and test")
    return shares


@app.command(no_args_is_help=True)
def audit(
    files: Annotated[list[Path], Argument(help="A data set, or its parts (train, vali, test).")],
    metric: Annotated[str, name_option("measure", "Measure of the single features.")] = "map",
    cut: Annotated[int | None, Option(help="Count queries with relevant documents beyond this rank.")] = None,
    by: Annotated[str | None, Option(help="The feature that --cut ranks by.")] = None,
    falling: Annotated[
        str, Option(help="Comma-separated features whose smaller values are better, such as ages.")
    ] = "",
    plot: Annotated[Path | None, Option(help="Plot of the features to write (.png, .svg).")] = None,
    regroup: Regroup = False,
    seed: Seed = 0,
    form: Form = "table",
) -> None:
    """Look for biased sampling, leaks, duplicates and queries that occur in two parts.

    Exits with code 1 if something was found that makes results misleading.

    Examples: `topkit data audit Fold1/train.txt Fold1/vali.txt Fold1/test.txt --plot audit.png`

    `topkit data audit shop.parquet --falling price,days`
    """
    check_form(form)
    from topkit.features import audit_dataset
    from topkit.reporting.progress import busy

    with busy("ranking by every single feature"):
        parts = {str(path): read_dataset(path, regroup=regroup) for path in files}
        names = [name.strip() for name in falling.split(",") if name.strip()]
        result = audit_dataset(parts, metric=metric, cut=cut, by=by, falling=names, seed=seed)
        if plot is not None:
            result.plot(plot)
    _print_audit(result, form)
    if not result.passed:
        raise typer.Exit(1)


def _print_audit(result: Audit, form: str) -> None:
    findings = [{"verdict": finding.verdict, "text": finding.text} for finding in result.findings]
    if form == "json":
        singles = [
            {"feature": single.feature, "larger_first": single.forward, "smaller_first": single.reverse}
            for single in result.singles
        ]
        sizes = {"queries": result.queries, "documents": result.documents, "passed": result.passed}
        facts = {"metric": result.metric, "random_order": result.random}
        print_json({**sizes, **facts, "findings": findings, "features": singles})
    else:
        print_records(findings, form, lambda: str(result))
