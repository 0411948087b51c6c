"""Judgments and runs of other tools: data frames, nested dictionaries, ir_measures, ir_datasets, ranx."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from topkit.data.errors import InputError
from topkit.data.judgments import GradeTable, Judgments
from topkit.data.run import Run

KINDS = "a data frame, a nested dictionary, a ranx object or an iterable of ir_measures records"


def judgments_of(value: Any) -> Judgments:
    """Judgments from any of the ways in which tools hold grades.

    >>> judgments_of({"q": {"d1": 1, "d2": 0}}).grades_by_query()
    {'q': {'d1': 1.0, 'd2': 0.0}}
    """
    if isinstance(value, Judgments):
        return value
    if isinstance(held := getattr(value, "judgments", None), Judgments):
        return held  # a Collection
    if callable(read := getattr(value, "qrels_iter", None)):
        value = read()  # a data set of ir_datasets
    if _is_frame(value):
        return Judgments.from_frame(value)
    table = _table(value, "relevance", "Judgments")
    queries = [query for query, of_query in table.items() for _ in of_query]
    docs = [doc for of_query in table.values() for doc in of_query]
    grades = [grade for of_query in table.values() for grade in of_query.values()]
    return Judgments(GradeTable(queries, docs, grades))


def run_of(value: Any) -> Run:
    """A run from any of the ways in which tools hold scored documents; documents keep the order given.

    >>> run_of({"q": {"d1": 0.5, "d2": 2}})["q"]
    [('d1', 0.5), ('d2', 2.0)]
    """
    if isinstance(value, Run):
        return value
    if _is_frame(value):
        return Run.from_frame(value)
    table = _table(value, "score", "Run")
    name = getattr(value, "name", None)
    return Run.of(
        {query: list(of_query.items()) for query, of_query in table.items()},
        name if isinstance(name, str) else "run",
    )


def _is_frame(value: Any) -> bool:
    from topkit.data.frames import is_frame

    return not isinstance(value, Mapping) and is_frame(value)


def _table(value: Any, field: str, expected: str) -> dict[str, dict[str, float]]:
    """Query → document → number."""
    if not isinstance(value, Mapping) and callable(getattr(value, "to_dict", None)):
        value = value.to_dict()  # ranx's Qrels and Run
    if isinstance(value, Mapping):
        triples = (
            (query, doc, number) for query, docs in value.items() for doc, number in _pairs(docs, query)
        )
    elif isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        triples = (_record(record, field) for record in value)
    else:
        raise InputError(f"expected {expected}, got {type(value).__name__}", f"give {expected}, {KINDS}")
    table: dict[str, dict[str, float]] = {}
    for query, doc, number in triples:
        of_query = table.setdefault(str(query), {})
        if str(doc) in of_query:
            raise InputError(
                f"document {doc!r} is given twice for query {query!r}", "give each document once"
            )
        of_query[str(doc)] = _number(number, doc, query)
    if not table:
        raise InputError(f"expected {expected} of at least one query, got none", f"give {KINDS}")
    return table


def _pairs(docs: Any, query: object) -> Iterable[tuple[object, Any]]:
    if isinstance(docs, Mapping):
        return docs.items()
    try:
        return [(doc, number) for doc, number in docs]
    except (TypeError, ValueError):
        raise InputError(
            f"query {query!r}: expected a dictionary from document to number, got {type(docs).__name__}",
            'write {"q1": {"d1": 1.5}}',
        ) from None


def _record(record: Any, field: str) -> tuple[object, object, Any]:
    try:
        return record.query_id, record.doc_id, getattr(record, field)
    except AttributeError:
        raise InputError(
            f"expected records with query_id, doc_id and {field}, got {type(record).__name__}",
            f"give {KINDS}",
        ) from None


def _number(value: Any, doc: object, query: object) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if np.isnan(number):
        raise InputError(f"document {doc!r} of query {query!r} has {value!r}", "give a number")
    return number
