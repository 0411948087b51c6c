"""The top k of a topic, with the evidence for each of its documents."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from topkit.web.judging import PlacedDocument, counted_answers
from topkit.web.records import Record, judgments_of, top_of


@dataclass(frozen=True)
class TopDocument(PlacedDocument):
    """A document of the top k with its evidence: comparisons won, tied and lost, and grades."""

    won: int
    tied: int
    lost: int
    grades: list[int]
    in_top_of: int
    version: int
    """How often the text was changed under existing judgments, plus one."""
    earlier: int
    """How many of the judgments saw an earlier version."""


@dataclass(frozen=True)
class Evidence:
    """The top k of a topic; ``complete`` is the number of complete labellings behind it."""

    complete: int
    top: list[TopDocument]
    tied_out: list[str]
    bad: list[str]


def evidence(records: list[Record]) -> Evidence:
    """The top k of one topic, and the evidence for each of its documents."""
    top = top_of(records)
    if top is None:
        return Evidence(0, [], [], [])
    documents = records[0].task.documents
    judgments = judgments_of(records)
    results = [record.lab.result for record in records if record.standing.done and record.lab.result]
    rows = []
    for place, item in zip(top.places, top.order, strict=True):
        comparisons = [p for p in judgments.preferences if item in (p.a, p.b)]
        rows.append(
            TopDocument(
                **asdict(documents[item]),
                place=place,
                won=sum(p.winner == item for p in comparisons),
                tied=sum(p.winner is None for p in comparisons),
                lost=sum(p.winner is not None and p.winner != item for p in comparisons),
                grades=[int(grade.grade) for grade in judgments.grades if grade.doc == item],
                in_top_of=sum(item in result.order for result in results),
                version=1 + len(records[0].document_changes.get(item, ())),
                earlier=_saw_earlier_version(records, item),
            )
        )
    return Evidence(len(results), rows, list(top.tied_out), sorted(top.bad))


def _saw_earlier_version(records: list[Record], key: str) -> int:
    """How many judgments that count are about an earlier text of the document."""
    changes = len(records[0].document_changes.get(key, ()))
    return sum(
        record.document_version(judgment, key) <= changes
        for record in records
        for judgment in counted_answers(record.log)
        if key in (judgment.a, judgment.b)
    )
