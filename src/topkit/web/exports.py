"""Exports of a project's judgments at any time, in formats that topkit can read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from statistics import median_low
from typing import NamedTuple

import numpy as np

from topkit.data import Dataset, Grade, InputError, Judgments, write_letor, write_preferences, write_qrels
from topkit.data.files import FilePath, text_writer
from topkit.data.truth import Truth
from topkit.labelling.files import GRADE_COLUMNS, PREFERENCE_COLUMNS, write_judgments_csv
from topkit.web.records import Record, by_topic, judgments_of, top_of

Labels = dict[str, dict[str, float]]
"""Topic → document → label."""


class Format(NamedTuple):
    """An export format."""

    file: str
    title: str
    write: Callable[[list[Record], FilePath], None]
    dropped: bool = False
    """Whether judgments that were dropped are written, too."""


def write_top_k(records: list[Record], path: FilePath) -> None:
    """Top-k truth of complete topics as LETOR labels: k for the best, 1 for the last of them, 0 below."""
    labels = _top_labels(records)
    if not labels:
        raise InputError("no topic is complete yet", "complete at least one topic")
    _write_labels(labels, path)


def write_grades_letor(records: list[Record], path: FilePath) -> None:
    """Grades 0-4 as LETOR labels; with several assessors, the (lower) median."""
    labels = _median_grades(records)
    if not labels:
        raise InputError("there are no grades yet", "grade at least one document")
    _write_labels(labels, path)


def write_trec_qrels(records: list[Record], path: FilePath) -> None:
    """TREC judgments: the grades of graded topics, top-k labels for the others."""
    labels = _median_grades(records)
    for query, top in _top_labels(records).items():
        labels.setdefault(query, top)
    grades = [Grade(query, doc, label) for query, docs in labels.items() for doc, label in docs.items()]
    write_qrels(Judgments(tuple(grades)), path)


def write_triples(records: list[Record], path: FilePath) -> None:
    """Lines ``topic A B winner assessor seconds``; spaces in assessors' names become underscores."""
    preferences = judgments_of(records).preferences
    for preference in preferences:
        for key in (preference.query, preference.a, preference.b):
            if key.split() != [key]:
                raise InputError(
                    f"the id {key!r} contains spaces, which this format does not allow", "export CSV instead"
                )
    named = tuple(
        preference._replace(assessor="_".join(preference.assessor.split())) for preference in preferences
    )
    write_preferences(Judgments(preferences=named), path)


def write_jsonl(records: list[Record], path: FilePath) -> None:
    """One JSON object per judgment with all its fields, including withdrawn and dropped judgments.

    ``query_version`` counts the texts of the topic: 2 if the query was changed once before it was shown.
    ``a_version`` and ``b_version`` count the texts of the documents.
    """
    with text_writer(path) as stream:
        for record in records:
            origin = {"query": record.topic, "assessor": record.assessor, "tool": record.tool}
            dropped = record.row["state"] == "dropped"
            for judgment in record.log:
                row = {**origin, **asdict(judgment), "query_version": record.query_version(judgment)}
                for side, key in (("a", judgment.a), ("b", judgment.b)):
                    row[f"{side}_version"] = record.document_version(judgment, key) if key else None
                row["dropped"] = dropped
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def write_preferences_csv(records: list[Record], path: FilePath) -> None:
    """One row per preference that counts."""
    preferences = Judgments(preferences=judgments_of(records).preferences)
    _write_csv(preferences, bool(preferences.preferences), PREFERENCE_COLUMNS, path)


def write_grades_csv(records: list[Record], path: FilePath) -> None:
    """One row per grade that counts."""
    grades = Judgments(judgments_of(records).grades)
    _write_csv(grades, bool(grades.grades), GRADE_COLUMNS, path)


def _write_csv(judgments: Judgments, any_rows: bool, columns: tuple[str, ...], path: FilePath) -> None:
    if any_rows:
        write_judgments_csv(judgments, path)
    else:
        with text_writer(path) as stream:
            stream.write(",".join(columns) + "\n")


def _top_labels(records: list[Record]) -> Labels:
    labels: Labels = {}
    for group in by_topic(records).values():
        top = top_of(group)
        if top is not None:
            items = list(group[0].task.documents)
            labels[group[0].topic] = dict(zip(items, top.labels(items).tolist(), strict=True))
    return labels


def _median_grades(records: list[Record]) -> Labels:
    grades: dict[str, dict[str, list[float]]] = {}
    for grade in judgments_of(records).grades:
        grades.setdefault(grade.query, {}).setdefault(grade.doc, []).append(grade.grade)
    return {
        query: {doc: float(median_low(values)) for doc, values in docs.items()}
        for query, docs in grades.items()
    }


def _write_labels(labels: Labels, path: FilePath) -> None:
    rows = [(query, doc, label) for query, docs in labels.items() for doc, label in docs.items()]
    queries, documents, values = zip(*rows, strict=True)
    features = np.zeros((len(rows), 0), np.float32)
    data = Dataset.build(
        features, list(values), list(queries), doc_ids=list(documents), truth=Truth("graded")
    )
    write_letor(data, path)


EXPORTS = {
    "top-k": Format("top-k.txt", "Top-k truth as LETOR labels", write_top_k),
    "grades": Format("grades.txt", "Grades as LETOR labels", write_grades_letor),
    "qrels": Format("qrels.txt", "TREC judgments", write_trec_qrels),
    "triples": Format("preferences.txt", "Preference triples", write_triples),
    "preferences-csv": Format("preferences.csv", "Preferences as CSV", write_preferences_csv),
    "grades-csv": Format("grades.csv", "Grades as CSV", write_grades_csv),
    "jsonl": Format("judgments.jsonl", "All judgments as JSON Lines", write_jsonl, dropped=True),
}
"""Exports by name. ``project`` (:mod:`topkit.web.bundle`) contains everything and can be imported."""
