"""Routing between people and a simulated model, replayed on real preferences; used by ``bench.judges``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple

import numpy as np

from topkit.compute import Floats
from topkit.data.judgments import Answer, Preference
from topkit.data.preferences import read_preferences
from topkit.labelling import Question, Verdict
from topkit.labelling.agreement.pairs import FIRST, SECOND, TIE, Pair, outcome, pairs_judged
from topkit.labelling.files import read_preferences_csv
from topkit.labelling.judges import RecordedJudge, RoutedJudge
from topkit.metrics.significance import paired_t

K = 5
AGREEMENT = 0.8
"""How often the simulated model agrees with people."""
THRESHOLDS = (1.01, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6)
"""Confidences from which on the model's answer counts; the first one leaves all to people."""
CHECKED = 0.05
ANSWER: dict[int, Answer] = {FIRST: "a", TIE: "tie", SECOND: "b"}
Point = tuple[str, float, float, float, float, float]
"""Kind of confidence, threshold, share saved, share found, loss, p."""


class Task(NamedTuple):
    """A query: people's answer to each of its pairs, and the documents that should be found."""

    query: str
    answers: list[Preference]
    wanted: frozenset[str]


class SimulatedModel:
    """Gives people's answer with a probability that is 0.8 on average, and says how sure it is.

    Calibrated: the probability is uniform from 0.6 to 1 and is the confidence. Constant: the probability is
    the same 0.8 for all, so the confidence is drawn at random and says nothing.
    """

    name = "model"

    def __init__(self, people: RecordedJudge, kind: str, seed: int) -> None:
        self.people, self.kind, self.seed = people, kind, seed
        self.given: dict[tuple[str, Question], Verdict] = {}

    def judge(self, query: str, question: Question) -> Verdict:
        if (query, question) not in self.given:
            self.given[query, question] = self._drawn(query, question)
        return self.given[query, question]

    def _drawn(self, query: str, question: Question) -> Verdict:
        chance = Random(f"{self.seed} {query} {sorted(question.documents)}")
        said = self.people.judge(query, question).answer
        confidence = chance.uniform(2 * AGREEMENT - 1, 1.0)
        right = chance.random() < (confidence if self.kind == "calibrated" else AGREEMENT)
        others = [answer for answer in ("a", "b") if answer != said]
        return Verdict(said if right else chance.choice(others), None, confidence)


def cast_tasks(folder: Path, _: int) -> list[Task]:
    """CAsT 2019: crowd workers' pairs; the document that the local assessor called best should be found."""
    crowd = read_preferences(folder / "cast2019-prefs" / "TREC-CAsT-2019.pref").preferences
    rows = [line.split() for line in (folder / "cast2019-prefs" / "TREC-CAST-2019.local.qrels").open()]
    best: dict[str, set[str]] = {}
    for query, _zero, document, _grade in rows:
        best.setdefault(query, set()).add(document)
    by_query: dict[str, list[Preference]] = {}
    votes: dict[Pair, list[int]] = {}  # workers are not named, so every answer is a vote
    for answer in crowd:
        a, b = sorted((answer.a, answer.b))
        votes.setdefault(Pair(answer.query, a, b), []).append(outcome(answer, a))
    for pair, answers in votes.items():
        by_query.setdefault(pair.query, []).append(_majority(pair, answers))
    return [
        Task(query, answers, frozenset(best[query])) for query, answers in by_query.items() if query in best
    ]


def music_tasks(folder: Path, seed: int) -> list[Task]:
    """Music similarity: half of the workers answer; the top 5 by the other half should be found."""
    columns = {"query": "Input.query", "a": "Input.docA", "b": "Input.docB", "answer": "Answer.radio"}
    columns |= {"assessor": "WorkerId", "seconds": "WorkTimeInSeconds"}
    music, _ = read_preferences_csv(folder / "music-prefs" / "judgments.csv", columns, {"s": "tie"})
    chance = Random(f"halves {seed}")
    halves: tuple[dict[str, list[Preference]], dict[str, list[Preference]]] = ({}, {})
    for pair, judged in pairs_judged(music.preferences).items():
        answers = list(judged.values())
        chance.shuffle(answers)
        for half, part in zip(halves, (answers[::2], answers[1::2]), strict=True):
            half.setdefault(pair.query, []).append(_majority(pair, part))
    return [Task(query, halves[0][query], frozenset(top(halves[1][query]))) for query in halves[0]]


class Data(NamedTuple):
    """Where the tasks come from."""

    tasks: Callable[[Path, int], list[Task]]
    varies: bool
    """Whether the tasks depend on the seed."""


CAST, MUSIC = Data(cast_tasks, False), Data(music_tasks, True)


def _majority(pair: Pair, answers: list[int]) -> Preference:
    votes = Counter(answers).most_common()
    clear = len(votes) == 1 or votes[0][1] > votes[1][1]
    return Preference(pair.query, pair.a, pair.b, ANSWER[votes[0][0]] if clear else "tie", "people")


def top(preferences: Iterable[Preference]) -> list[str]:
    """The five documents with the largest share of wins, then by name; a tie is half a win."""
    wins: dict[str, list[float]] = {}
    for p in preferences:
        value = 0.5 if p.winner is None else float(p.winner == p.a)
        wins.setdefault(p.a, []).append(value)
        wins.setdefault(p.b, []).append(1 - value)
    return sorted(wins, key=lambda document: (-fmean(wins[document]), document))[:K]


def routing_curves(data: Data, folder: Path, seeds: int) -> list[Point]:
    """Saved judgments and documents found for every threshold and both kinds of confidence."""
    by_seed = [data.tasks(folder, seed) for seed in range(seeds if data.varies else 1)]
    points: list[Point] = []
    for kind in ("calibrated", "constant"):
        saved: dict[float, list[float]] = {sure: [] for sure in THRESHOLDS}
        found: dict[float, list[Floats]] = {sure: [] for sure in THRESHOLDS}
        for seed in range(seeds):
            tasks = by_seed[seed % len(by_seed)]
            people = RecordedJudge("people", [answer for task in tasks for answer in task.answers])
            model = SimulatedModel(people, kind, seed)
            for sure in THRESHOLDS:
                routed = RoutedJudge(model, people, sure=sure, check=CHECKED, seed=seed)
                found[sure].append(_found(tasks, routed))
                saved[sure].append(routed.cost().saved)
        by_people = np.mean(found[THRESHOLDS[0]], axis=0)
        for sure in THRESHOLDS:
            mean = np.mean(found[sure], axis=0)
            loss = by_people - mean
            share = float(np.mean(saved[sure]))
            points.append((kind, sure, share, float(mean.mean()), float(loss.mean()), paired_t(loss)))
    return points


def _found(tasks: list[Task], routed: RoutedJudge) -> Floats:
    """The share of wanted documents in the top 5, per query."""
    found: list[float] = []
    for task in tasks:
        answers = [
            p._replace(answer=routed.judge(p.query, Question(p.a, p.b)).answer)  # type: ignore[arg-type]
            for p in task.answers
        ]
        found.append(len(task.wanted & set(top(answers))) / max(1, len(task.wanted)))
    return np.array(found)
