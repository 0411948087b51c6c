"""Interleaved pages as a file to show, and the outcomes of the pages that were shown."""

from __future__ import annotations

import csv

import numpy as np

from topkit.clicks.interleaving import interleave
from topkit.compute import Floats
from topkit.data import InputError, Run
from topkit.data.files import FilePath
from topkit.data.formats import read_table
from topkit.data.writers import text_writer

COLUMNS = ("page", "query", "position", "document", "credit")


def write_interleaved(a: Run, b: Run, path: FilePath, method: str, length: int, pages: int, seed: int) -> int:
    """Write pages of the queries that both runs have, as CSV; returns their number."""
    queries = [qid for qid in a.qids if qid in b]
    if not queries:
        raise InputError("the runs have no query in common", "use the same query ids in both")
    if pages < 1:
        raise InputError(f"expected at least one page per query, got {pages}")
    rng = np.random.default_rng(seed)
    number = 0
    with text_writer(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for qid in queries:
            rankings = [[doc for doc, _ in sorted(run[qid], key=lambda entry: -entry[1])] for run in (a, b)]
            for _ in range(pages):
                number += 1
                page = interleave(rankings[0], rankings[1], method, length=length, rng=rng)
                rows = enumerate(zip(page.docs, page.credit, strict=True), 1)
                writer.writerows((number, qid, place, doc, f"{credit:.6g}") for place, (doc, credit) in rows)
    return number


def read_outcomes(path: FilePath) -> Floats:
    """The outcome of each page of a table with the columns page, credit and clicks."""
    table = read_table(path, ("page",))
    missing = [name for name in ("page", "credit", "clicks") if name not in table.column_names]
    if missing:
        raise InputError(
            f"the file has no column {missing[0]!r}",
            "expected the columns page, credit and clicks",
            file=path,
        )
    try:
        credit, clicks = (table[name].to_numpy().astype(np.float64) for name in ("credit", "clicks"))
    except (TypeError, ValueError):
        raise InputError("expected numbers in credit and clicks", file=path) from None
    if not np.isfinite(credit).all() or not np.isin(clicks, (0.0, 1.0)).all():
        raise InputError("expected finite credit and clicks of 0 or 1", "fill the columns", file=path)
    page = table["page"].combine_chunks().dictionary_encode().indices.to_numpy()
    return np.bincount(page, credit * clicks).astype(np.float64)
