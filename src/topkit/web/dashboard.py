"""What the admin sees of a project: progress, pace, agreement, disagreements, the top k with its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isnan
from statistics import median
from typing import Any

from topkit.data.errors import InputError
from topkit.data.judgments import Grade, Preference
from topkit.labelling.agreement import (
    Agreement,
    JudgedPairs,
    agreement,
    assessor_quality,
    chi_square,
    fleiss_kappa,
    implied_preferences,
    krippendorff_alpha,
    pairs_by_grades,
    pairs_judged,
    timing,
)
from topkit.labelling.agreement.pairs import FIRST, TIE
from topkit.web.records import Record, judgments_of, top_of

BINS = (2, 5, 10, 15, 20, 30, 45, 60, 90, 120)
"""Upper ends, in seconds, of the bins that times of judgments are counted in; the last bin is open."""


def progress(records: list[Record]) -> list[dict[str, Any]]:
    """One row a labelling: judgments given, about how many are left, active minutes."""
    rows = []
    for record in records:
        found = record.lab.progress
        rows.append(
            {
                "labelling": record.task.id,
                "topic": record.task.topic,
                "topic_key": record.topic,
                "query": record.row["query"],
                "assessor": record.assessor,
                "tool": record.task.tool,
                "asked": found.asked,
                "likely": round(found.likely, 1),
                "share": round(found.share, 4),
                "done": record.lab.question is None,
                "minutes": round(sum(answer.seconds or 0.0 for answer in record.lab.answers) / 60, 2),
            }
        )
    return rows


def summary(records: list[Record], key: str) -> list[dict[str, Any]]:
    """Progress by topic or by assessor: how many labellings are done, and the share of the work."""
    rows: dict[str, dict[str, Any]] = {}
    for one in progress(records):
        row = rows.setdefault(one[key], {"name": one[key], "done": 0, "of": 0, "asked": 0, "likely": 0.0})
        row["of"] += 1
        row["done"] += one["done"]
        row["asked"] += one["asked"]
        row["likely"] += one["likely"]
    for row in rows.values():
        whole = row["asked"] + row["likely"]
        row["share"] = row["asked"] / whole if whole else 1.0
    return list(rows.values())


def pace(records: list[Record]) -> dict[str, Any]:
    """Times as in the paper's Table 1 for each tool, a median for each assessor, and counts by duration."""
    given = judgments_of(records)
    tools: dict[str, Sequence[Grade | Preference]] = {"pairs": given.preferences, "grades": given.grades}
    found: dict[str, Any] = {"bins": list(BINS), "tools": {}, "assessors": []}
    for tool, rows in tools.items():
        if not rows:
            continue
        seconds = [row.seconds for row in rows]
        counts = Counter(sum(value > end for end in BINS) for value in seconds)
        table = {name: _number(value) for name, value in timing(rows)._asdict().items()}
        found["tools"][tool] = {**table, "histogram": [counts[i] for i in range(len(BINS) + 1)]}
    by_person: dict[tuple[str, str], list[float]] = {}
    for tool, rows in tools.items():
        for row in rows:
            by_person.setdefault((row.assessor, tool), []).append(row.seconds)
    for (assessor, tool), seconds in sorted(by_person.items()):
        one = {"assessor": assessor, "tool": tool, "judgments": len(seconds)}
        found["assessors"].append({**one, "median": median(seconds), "minutes": sum(seconds) / 60})
    return found


def agreement_tables(records: list[Record]) -> dict[str, Any]:
    """The tables of the paper for pairs asked, for all that answers imply, and for grades."""
    given = judgments_of(records)
    implied = implied_preferences(given.preferences)
    ways = {
        "asked": pairs_judged(given.preferences),
        "implied": pairs_judged(implied),
        "grades": pairs_by_grades(given.grades),
    }
    tables = {name: agreement(pairs) for name, pairs in ways.items()}
    found: dict[str, Any] = {name: _table(tables[name], pairs) for name, pairs in ways.items()}
    found["chi_square"] = None
    try:
        test = chi_square(tables["implied"], tables["grades"])
        found["chi_square"] = {"statistic": test.statistic, "p": test.p}
    except InputError:  # one of the two has nothing to compare yet
        pass
    found["assessors"] = [
        {
            "assessor": name,
            "judgments": quality.judgments,
            "agreement": _number(quality.agreement),
            "agreement_without_ties": _number(quality.agreement_without_ties),
            "ties": _number(quality.tie_share),
            "left": _number(quality.left_share),
            "circles": quality.triads.circles,
        }
        for name, quality in _quality(records).items()
    ]
    return found


def _quality(records: list[Record]) -> dict[str, Any]:
    """Agreement is of what answers imply (few pairs are asked of two), the rest of answers given."""
    given = judgments_of(records).preferences
    asked, implied = assessor_quality(given), assessor_quality(implied_preferences(given))
    return {
        name: asked[name]._replace(
            agreement=implied[name].agreement, agreement_without_ties=implied[name].agreement_without_ties
        )
        for name in asked
    }


def _table(found: Agreement, pairs: JudgedPairs) -> dict[str, Any]:
    counts = [[sum(said == value for _, said in answers) for value in range(3)] for answers in pairs.values()]
    units = [[float(said) for _, said in answers] for answers in pairs.values()]
    compared = found.agreed + found.disagreed
    return {
        "counts": found.counts.tolist(),
        "rows": [[_number(value) for value in row] for row in found.rows.tolist()],
        "compared": compared,
        "overall": _number(found.overall),
        "without_ties": _number(found.without_ties),
        "fleiss": _number(fleiss_kappa(counts)) if compared else None,
        "krippendorff": _number(krippendorff_alpha(units, "ordinal")) if compared else None,
    }


def disagreements(records: list[Record], limit: int = 200) -> list[dict[str, Any]]:
    """Pairs of documents that assessors see differently, the most contested first, then those asked."""
    given = judgments_of(records)
    asked = {(p.query, p.assessor, frozenset((p.a, p.b))) for p in given.preferences}
    pairs: JudgedPairs = {}
    for found in (pairs_judged(implied_preferences(given.preferences)), pairs_by_grades(given.grades)):
        for pair, answers in found.items():
            pairs.setdefault(pair, []).extend(answers)
    shown = {record.topic: record.task.documents for record in records}
    rows: list[dict[str, Any]] = []
    for (query, a, b), answers in pairs.items():
        said = Counter(value for _, value in answers)
        if len(said) < 2:
            continue
        views = [
            {
                "assessor": assessor,
                "prefers": None if value == TIE else a if value == FIRST else b,
                "asked": (query, assessor, frozenset((a, b))) in asked,
            }
            for assessor, value in answers
        ]
        opposed = min(said[FIRST], len(answers) - said[FIRST] - said[TIE])
        documents = [shown[query][key]._asdict() for key in (a, b)]
        rows.append({"topic_key": query, "documents": documents, "opposed": opposed, "views": views})
    rows.sort(
        key=lambda row: (-row["opposed"], -sum(view["asked"] for view in row["views"]), row["topic_key"])
    )
    return rows[:limit]


def evidence(records: list[Record]) -> dict[str, Any]:
    """The top k of one topic, and what speaks for each of its documents."""
    top = top_of(records)
    if top is None:
        return {"complete": 0, "top": [], "tied_out": [], "bad": []}
    documents = records[0].task.documents
    given = judgments_of(records)
    results = [record.lab.result for record in records if record.lab.result]
    rows = []
    for place, item in zip(top.places, top.order, strict=True):
        met = [p for p in given.preferences if item in (p.a, p.b)]
        rows.append(
            {
                **documents[item]._asdict(),
                "place": place,
                "won": sum(p.winner == item for p in met),
                "tied": sum(p.winner is None for p in met),
                "lost": sum(p.winner is not None and p.winner != item for p in met),
                "grades": [int(grade.grade) for grade in given.grades if grade.doc == item],
                "in_top_of": sum(item in result.order for result in results),
            }
        )
    return {"complete": len(results), "top": rows, "tied_out": list(top.tied_out), "bad": sorted(top.bad)}


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)
