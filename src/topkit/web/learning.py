"""Learn from the app: train a ranker on the judgments so far, show its learning curve, and rank new topics.

Features come from an uploaded LETOR file, or are computed from the texts of the documents. The ranker is
fitted to the preferences that the answers of complete topics state or imply, as in :mod:`topkit.loop`, and is
measured by how many answers on topics that it has not seen it predicts. Rankers and features need Numba,
which the app does not import at its start; so they are imported where they are used, in a thread.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from topkit.data.errors import InputError
from topkit.web.document_kinds import plain_text
from topkit.web.lookup import project_records
from topkit.web.names import MODEL_MARK
from topkit.web.records import Record
from topkit.web.schema import candidate, document, learned, topic
from topkit.web.standings import LabellingCache
from topkit.web.store import Store
from topkit.web.store.projects import add_candidates, topics_of

if TYPE_CHECKING:
    from topkit.data import Dataset
    from topkit.loop.training import Labelled
    from topkit.rankers import Learner

RANKER = "ranksvm"
"""Learns from single preferences, and takes moments on the judgments of a project."""
FEWEST = 4
"""Complete topics; fewer cannot be split into topics to learn from and topics to test on."""
SPLITS = 6
SHARES = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Point:
    """A point of the learning curve: topics learned from, and the share of held-out answers predicted."""

    topics: int
    agreement: float
    low: float
    high: float
    """Two standard errors over random splits."""


@dataclass(frozen=True)
class Learned:
    """What a ranker has learned from a project."""

    time: float
    ranker: str
    features: list[str]
    topics: int
    answers: int
    curve: list[Point]
    gain: tuple[float, float, float] | None
    """What another hour of judging is expected to add to the agreement, with its 95 % interval."""
    minutes: float
    """The time that the judgments behind the ranker took."""


class Learning:
    """Trains rankers one after the other in a thread."""

    def __init__(self, store: Store, cache: LabellingCache) -> None:
        self._store, self._cache = store, cache
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="learning")
        self._running: dict[int, Future[None]] = {}
        self._lock = threading.Lock()

    def start(self, project: int, prior: bool) -> bool:
        """Start to learn from a project, and rank its new topics if asked; False if that is under way."""
        with self._lock:
            if self.running(project):
                return False
            self._running[project] = self._pool.submit(self._run, project, prior)
            return True

    def running(self, project: int) -> bool:
        """True while a ranker is trained for the project."""
        future = self._running.get(project)
        return future is not None and not future.done()

    def wait(self, project: int) -> None:
        """Wait for the end, for tests."""
        if project in self._running:
            self._running[project].result()

    def close(self) -> None:
        """Drop what has not started yet."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, project: int, prior: bool) -> None:
        try:
            result = learn(self._store, project, self._cache)
            content, problem = asdict(result), ""
            if prior:
                content["ranked"] = rank_new_topics(self._store, project, self._cache)
        except InputError as error:
            content, problem = {}, str(error)
        except Exception as error:  # the thread must continue, and the page must show what happened
            content, problem = {}, f"the training failed ({type(error).__name__}: {error})"
        with self._store.write() as connection:
            connection.execute(learned.delete().where(learned.c.project == project))
            values = {"project": project, "time": time.time(), "problem": problem}
            connection.execute(learned.insert().values(content=json.dumps(content), **values))


def last_result(store: Store, project: int) -> dict[str, Any] | None:
    """What was learned last: the fields of :class:`Learned`, or a problem; None if nothing was."""
    with store.read() as connection:
        row = connection.execute(sa.select(learned).where(learned.c.project == project)).first()
    return None if row is None else {**json.loads(row.content), "time": row.time, "problem": row.problem}


def learn(store: Store, project: int, cache: LabellingCache, seed: int = 0) -> Learned:
    """Train on the complete topics of a project and measure on topics held out."""
    from topkit.loop.outlook import expected_gain
    from topkit.rankers import ranker

    records = people_only(project_records(store, project, cache))
    queries = features_of(store, project)
    done = examples(queries, records)
    numbers = sorted({part.query for part in done if len(part.better)})
    if len(numbers) < FEWEST:
        problem = f"expected at least {FEWEST} complete topics with preferences, got {len(numbers)}"
        raise InputError(problem, "complete more topics in pairs")
    template = ranker(RANKER)
    used = [record for record in records if record.standing.done and record.tool == "pairs"]
    seconds = sum(answer.seconds or 0.0 for record in used for answer in record.lab.answers)
    gain = expected_gain(template, queries, done, seconds / 60, seed)
    return Learned(
        time=time.time(),
        ranker=RANKER,
        features=list(queries.feature_names or ()),
        topics=len(numbers),
        answers=sum(len(record.lab.answers) for record in used),
        curve=learning_curve(template, queries, done, numbers, seed),
        gain=None if gain is None else (gain.value, gain.low, gain.high),
        minutes=seconds / 60,
    )


def people_only(records: list[Record]) -> list[Record]:
    """The labellings of people: a ranker should not learn the errors of a model."""
    return [record for record in records if not record.assessor.startswith(MODEL_MARK)]


def examples(queries: Dataset, records: Sequence[Record]) -> list[Labelled]:
    """The preferences of each complete labelling in pairs, as rows of the data set."""
    from topkit.loop.training import labelled

    place = {str(qid): number for number, qid in enumerate(queries.qids)}
    return [
        labelled(queries, place[record.topic], record.lab)
        for record in records
        if record.tool == "pairs" and record.standing.done and record.topic in place
    ]


def learning_curve(
    template: Learner, queries: Dataset, done: Sequence[Labelled], numbers: Sequence[int], seed: int
) -> list[Point]:
    """The agreement with answers on held-out topics after learning from a part of the others."""
    import numpy as np

    from topkit.loop.training import agreement, fit

    chance = np.random.default_rng([seed, 17])
    values: dict[int, list[float]] = {}
    for _ in range(SPLITS):
        order = chance.permutation(np.array(numbers))
        held = set(order[: max(1, len(order) // 4)].tolist())
        rest = [number for number in order.tolist() if number not in held]
        better = np.concatenate([part.better[part.asked] for part in done if part.query in held])
        worse = np.concatenate([part.worse[part.asked] for part in done if part.query in held])
        if not len(better):
            continue
        for count in sorted({max(1, round(share * len(rest))) for share in SHARES}):
            chosen = set(rest[:count])
            fitted = fit(template, queries, [part for part in done if part.query in chosen])
            if fitted is not None:
                scores = fitted.ordering_scores(queries)
                values.setdefault(count, []).append(agreement(scores, better, worse))
    points = []
    for count, measured in sorted(values.items()):
        mean = float(np.mean(measured))
        error = 2 * float(np.std(measured, ddof=1)) / len(measured) ** 0.5 if len(measured) > 1 else 0.0
        points.append(Point(count, mean, max(0.0, mean - error), min(1.0, mean + error)))
    return points


# -- features ----------------------------------------------------------------------------------------------
def features_of(store: Store, project: int) -> Dataset:
    """One row per topic and candidate document: uploaded features if there are any, else of the texts."""
    uploaded = uploaded_features(store, project)
    if uploaded is not None:
        return uploaded
    from topkit.features import Document, build_dataset, build_index

    with store.read() as connection:
        queries = {row["key"]: row["query"] for row in topics_of(connection, project)}
        keys = _candidate_keys(connection, project)
        rows = connection.execute(sa.select(document).where(document.c.project == project)).all()
    if not rows or not queries:
        raise InputError("the project has no topics or documents", "import them first")
    everything = [row.key for row in rows]
    grades = {key: dict.fromkeys(keys.get(key) or everything, 0.0) for key in queries}
    texts = (
        Document(row.key, {"title": row.title, "text": plain_text(row.kind, "", row.body)}) for row in rows
    )
    with tempfile.TemporaryDirectory() as folder:
        index = build_index(texts, Path(folder) / "index", fields=["title", "text"])
        data, _ = build_dataset(index, queries, grades, features="ohsumed", sampling="judged")
    return data


def _candidate_keys(connection: sa.Connection, project: int) -> dict[str, list[str]]:
    query = (
        sa.select(topic.c.key, document.c.key.label("document"))
        .join(candidate, candidate.c.topic == topic.c.id)
        .join(document, document.c.id == candidate.c.document)
        .where(topic.c.project == project)
        .order_by(topic.c.id, candidate.c.place)
    )
    keys: dict[str, list[str]] = {}
    for row in connection.execute(query):
        keys.setdefault(row.key, []).append(row.document)
    return keys


def uploaded_features(store: Store, project: int) -> Dataset | None:
    """The features that an admin uploaded, or None."""
    from topkit.web.store.features import stored_features

    with store.read() as connection:
        text = stored_features(connection, project)
    if text is None:
        return None
    from topkit.data.letor import read_letor

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "features.txt"
        path.write_text(text, encoding="utf-8")
        return read_letor(path, regroup=True)


# -- the prior of new topics -------------------------------------------------------------------------------
def rank_new_topics(store: Store, project: int, cache: LabellingCache) -> int:
    """Rank the candidates of topics that nobody judges yet; their labellings start from this order.

    Returns how many topics were ranked. A topic with labellings is left alone: its questions depend on it.
    """
    import numpy as np

    from topkit.loop.training import fit
    from topkit.rankers import ranker

    records = people_only(project_records(store, project, cache))
    queries = features_of(store, project)
    fitted = fit(ranker(RANKER), queries, examples(queries, records))
    if fitted is None:
        raise InputError("there are no preferences to learn from", "complete more topics in pairs")
    scores = fitted.ordering_scores(queries)
    names = queries.names_of_documents()
    with store.write() as connection:
        new = {row["key"] for row in topics_of(connection, project) if not row["labellings"]}
        orders = {}
        for number, qid in enumerate(queries.qids):
            rows = slice(int(queries.ptr[number]), int(queries.ptr[number + 1]))
            if str(qid) in new:
                best = np.argsort(-scores[rows], kind="stable")
                query_names = names[rows].tolist()
                orders[str(qid)] = [str(query_names[i]) for i in best]
        add_candidates(connection, project, orders, prior=True)
    return len(orders)
