"""Files of a project's judgments, at any moment, in formats that the toolkit reads back."""

from __future__ import annotations

import json
from collections.abc import Callable
from statistics import median_low
from typing import NamedTuple

import numpy as np

from topkit.data import Dataset, Grade, InputError, Judgments, write_letor, write_preferences, write_qrels
from topkit.data.files import FilePath, text_writer
from topkit.data.truth import Truth
from topkit.labelling.files import GRADE_COLUMNS, PREFERENCE_COLUMNS, write_judgments_csv
from topkit.web.records import Record, by_topic, judgments_of, top_of


class Format(NamedTuple):
    """A kind of export."""

    file: str
    title: str
    write: Callable[[list[Record], FilePath], None]


def write_top_k(records: list[Record], path: FilePath) -> None:
    """Top-k truth of complete topics as LETOR labels: k for the best, 1 for the last of them, 0 below."""
    labels: list[float] = []
    topics: list[str] = []
    documents: list[str] = []
    for group in by_topic(records).values():
        top = top_of(group)
        if top is None:
            continue
        items = list(group[0].task.documents)
        labels += top.labels(items).tolist()
        topics += [group[0].topic] * len(items)
        documents += items
    _write_labels(labels, topics, documents, path, "no topic is complete yet", "label one to its end")


def write_grades_letor(records: list[Record], path: FilePath) -> None:
    """Grades 0-4 as LETOR labels; of several assessors the (lower) median."""
    graded = _median_grades(records)
    rows = [(query, doc, grade) for query, docs in graded.items() for doc, grade in docs.items()]
    _write_labels(
        [grade for *_, grade in rows],
        [query for query, *_ in rows],
        [doc for _, doc, _ in rows],
        path,
        "there are no grades yet",
        "grade a document",
    )


def write_trec_qrels(records: list[Record], path: FilePath) -> None:
    """TREC judgments: grades where a topic was graded, else its top-k labels."""
    graded = _median_grades(records)
    for group in by_topic(records).values():
        top = top_of(group)
        if group[0].topic not in graded and top is not None:
            items = list(group[0].task.documents)
            graded[group[0].topic] = dict(zip(items, top.labels(items).tolist(), strict=True))
    grades = [Grade(query, doc, grade) for query, docs in graded.items() for doc, grade in docs.items()]
    write_qrels(Judgments(tuple(grades)), path)


def write_triples(records: list[Record], path: FilePath) -> None:
    """Lines ``topic A B winner assessor seconds``; spaces in an assessor's name become underscores."""
    given = judgments_of(records).preferences
    for preference in given:
        ids = (preference.query, preference.a, preference.b)
        if any(one.split() != [one] for one in ids):
            raise InputError(f"one of the ids {ids} has spaces, which this format cannot hold", "export CSV")
    named = tuple(one._replace(assessor="_".join(one.assessor.split())) for one in given)
    write_preferences(Judgments(preferences=named), path)


def write_jsonl(records: list[Record], path: FilePath) -> None:
    """One object a judgment with all that is known of it, those taken back included."""
    with text_writer(path) as stream:
        for record in records:
            about = {"query": record.topic, "assessor": record.assessor, "tool": record.task.tool}
            for event in record.events:
                stream.write(json.dumps({**about, **event._asdict()}, ensure_ascii=False) + "\n")


def _csv(columns: tuple[str, ...], kind: str) -> Callable[[list[Record], FilePath], None]:
    def write(records: list[Record], path: FilePath) -> None:
        given = judgments_of(records)
        chosen = Judgments(given.grades) if kind == "grades" else Judgments(preferences=given.preferences)
        if getattr(chosen, kind):
            write_judgments_csv(chosen, path)
        else:
            with text_writer(path) as stream:
                stream.write(",".join(columns) + "\n")

    return write


def _median_grades(records: list[Record]) -> dict[str, dict[str, float]]:
    given: dict[str, dict[str, list[float]]] = {}
    for grade in judgments_of(records).grades:
        given.setdefault(grade.query, {}).setdefault(grade.doc, []).append(grade.grade)
    return {
        query: {doc: float(median_low(grades)) for doc, grades in docs.items()}
        for query, docs in given.items()
    }


def _write_labels(
    labels: list[float], topics: list[str], documents: list[str], path: FilePath, problem: str, remedy: str
) -> None:
    if not labels:
        raise InputError(problem, remedy)
    features = np.zeros((len(labels), 0), np.float32)
    write_letor(Dataset.build(features, labels, topics, doc_ids=documents, truth=Truth("graded")), path)


EXPORTS = {
    "top-k": Format("top-k.txt", "Top-k truth as LETOR labels", write_top_k),
    "grades": Format("grades.txt", "Grades as LETOR labels", write_grades_letor),
    "qrels": Format("qrels.txt", "TREC judgments", write_trec_qrels),
    "triples": Format("preferences.txt", "Preference triples", write_triples),
    "preferences-csv": Format(
        "preferences.csv", "Preferences as CSV", _csv(PREFERENCE_COLUMNS, "preferences")
    ),
    "grades-csv": Format("grades.csv", "Grades as CSV", _csv(GRADE_COLUMNS, "grades")),
    "jsonl": Format("judgments.jsonl", "Every judgment as JSON Lines", write_jsonl),
}
"""Exports by name. ``project`` (:mod:`topkit.web.bundle`) holds everything and can be imported."""
