"""Result pages as a data set, for logs without features."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from topkit.data import Dataset, InputError, Page


def pages_data(pages: Iterable[Page], graded: bool = True) -> Dataset:
    """The documents of pages as a data set with one feature: the mean of 1/position over pages.

    With ``graded``, labels are grades (the last of a document, negative grades become 0) and only
    graded documents are included, unless no page has grades. Otherwise all documents are included, with
    label 0.

    >>> page = Page("q", ("a", "b", "c"), (False, True, False), grades=(2.0, -2.0, 0.0))
    >>> pages_data([page]).y.tolist()
    [2.0, 0.0, 0.0]
    """
    shown: dict[str, dict[str, list[float]]] = {}
    grades: dict[str, dict[str, float]] = {}
    for page in pages:
        places = shown.setdefault(page.query, {})
        for place, doc in enumerate(page.docs, 1):
            places.setdefault(doc, []).append(1.0 / place)
        if graded and page.grades:
            grades.setdefault(page.query, {}).update(zip(page.docs, page.grades, strict=True))
    if not shown:
        raise InputError("no pages to read", "give at least one result page")
    known = [
        (query, doc, float(np.mean(places)), max(grades.get(query, {}).get(doc, 0.0), 0.0))
        for query, docs in shown.items()
        for doc, places in docs.items()
        if not grades or doc in grades.get(query, {})
    ]
    queries, docs, feature, labels = zip(*known, strict=True)
    return Dataset.build(
        np.array(feature)[:, None], labels, queries, doc_ids=docs, feature_names=["reciprocal-rank"]
    )
