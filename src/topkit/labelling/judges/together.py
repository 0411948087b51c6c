"""Many labellings by one judge, side by side where the judge can answer several questions at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event
from typing import Protocol, runtime_checkable

from topkit.labelling.foresee import foreseeable
from topkit.labelling.judges.judge import Judge, answered_by
from topkit.labelling.labelling import Labelling
from topkit.labelling.question import Question

OnAnswer = Callable[[str, Labelling], object]
"""Called with the query and its labelling after each answer; from any thread."""
PATIENCE = 8
"""After a look ahead without new questions, the next one follows after at most this many answers."""


@runtime_checkable
class ConcurrentJudge(Protocol):
    """A judge that may be asked from several threads, and that may learn early which questions will come."""

    concurrency: int

    def prefetch(self, questions: Iterable[tuple[str, Question]]) -> None:
        """Start answering (query, question) pairs without waiting."""
        ...


def label_all(
    labellings: Mapping[str, Labelling],
    judge: Judge,
    *,
    on_answer: OnAnswer = lambda query, labelling: None,
) -> dict[str, Labelling]:
    """The labellings of all queries, answered to the end.

    A judge with ``concurrency`` (a :class:`ChatJudge`) labels that many queries at the same time. If there
    are fewer queries, the questions of one labelling that do not depend on each other are asked at the same
    time too. Other judges label one query after another. The first error ends all.
    """
    if not isinstance(judge, ConcurrentJudge):
        return {
            query: _labelled(query, lab, judge, 0, on_answer, Event()) for query, lab in labellings.items()
        }
    threads = max(1, min(judge.concurrency, len(labellings)))
    ahead = judge.concurrency // threads if judge.concurrency > threads else 0
    stop = Event()
    with ThreadPoolExecutor(threads, thread_name_prefix="label") as pool:
        futures = {
            query: pool.submit(_labelled, query, lab, judge, ahead, on_answer, stop)
            for query, lab in labellings.items()
        }
        try:
            wait(futures.values(), return_when=FIRST_EXCEPTION)
            for future in futures.values():  # the error, not the cancellation of the others
                if future.done() and not future.cancelled() and (error := future.exception()) is not None:
                    raise error
            return {query: future.result() for query, future in futures.items()}
        finally:
            stop.set()
            for future in futures.values():
                future.cancel()


def _labelled(
    query: str, labelling: Labelling, judge: Judge, ahead: int, on_answer: OnAnswer, stop: Event
) -> Labelling:
    """One labelling to its end; ``ahead`` questions are asked early where they are foreseeable."""
    asked: set[frozenset[str]] = set()
    pause = gap = 0
    while labelling.question is not None and not stop.is_set():
        documents = frozenset(labelling.question.documents)
        if ahead and isinstance(judge, ConcurrentJudge) and documents not in asked:
            pause -= 1
            if pause < 0:
                coming = foreseeable(labelling, 2 * ahead)
                judge.prefetch((query, question) for question in coming)
                asked |= {frozenset(question.documents) for question in coming}
                gap = min(PATIENCE, 2 * gap + 1) if len(coming) < 2 else 0
                pause = gap
        labelling = answered_by(labelling, judge, query)
        on_answer(query, labelling)
    return labelling
