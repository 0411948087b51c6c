"""The mixture: classifiers and rankers, calibrated in many ways and added up with weights.

A mixture with one member is a calibrated classifier; ``adaboost-mh`` and ``mcsvm`` train such models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from topkit.compute import Floats, over_queries
from topkit.data import Dataset, InputError, normalise
from topkit.data.normalise import NORMALISATIONS
from topkit.rankers.mixture.heads import Head, check_numbers, mixed_gain
from topkit.rankers.mixture.staged import RankerScores, Staged
from topkit.rankers.mixture.table import member_table
from topkit.rankers.names import MODELS
from topkit.scorers import Parts, ScoreModel


@dataclass(frozen=True)
class Source:
    """A classifier at several stages (rounds, penalties), or a ranker, and the features it needs."""

    title: str
    normalisation: str
    """Query-wise normalisation of its features."""
    model: Staged
    stages: tuple[int, ...]
    """The rounds, or numbers of penalties, that members use; one stage for a ranker."""
    gains: Floats
    """The gain of each class; empty for a ranker, which has one score."""
    labels: tuple[str, ...]
    """The name of each stage in tables."""

    @property
    def columns(self) -> int:
        """Scores per document."""
        return max(len(self.gains), 1)

    def outputs(self, data: Dataset, stages: tuple[int, ...] | None = None) -> Floats:
        """Stages × documents × columns, from features that are already normalised."""
        return self.model.outputs(data, self.stages if stages is None else stages)

    def only(self, stages: list[int]) -> Source:
        """The source at these of its stages, without the rounds after the last one."""
        kept = tuple(self.stages[stage] for stage in stages)
        labels = tuple(self.labels[stage] for stage in stages)
        return replace(self, model=self.model.first(kept[-1]), stages=kept, labels=labels)

    def reach(self, stage: int) -> float:
        """A bound on |score|: Σ α of a boosted classifier; 0 if there is no bound."""
        return self.model.reach(self.stages[stage])


@dataclass(frozen=True)
class Member:
    """A source at one stage with one calibration, its measure and its weight."""

    source: int
    stage: int
    head: Head
    measure: float
    weight: float = 0.0


@dataclass(frozen=True)
class Mixture(ScoreModel):
    """score = Σ weight·(gain estimated by the member); a classifier is evaluated once for all its members."""

    kind: ClassVar[str] = "mixture"
    requires: ClassVar[tuple[str, ...]] = ("lightgbm",)
    sources: tuple[Source, ...]
    members: tuple[Member, ...]
    metric: str
    """The metric that decided the weights."""
    strength: float = 0.0
    """c of the weights exp(c·measure)."""

    def score(self, data: Dataset) -> Floats:
        """The weighted sum of the members' estimated gains."""
        scores = np.empty(len(data))

        def work(first: int, last: int) -> None:
            part = data if last - first == data.n_queries else data.select(np.arange(first, last))
            scores[data.ptr[first] : data.ptr[last]] = self._score_part(part)

        over_queries(work, data.ptr)
        return scores

    def _score_part(self, data: Dataset) -> Floats:
        total = np.zeros(len(data))
        for source, used, outputs in self._evaluated(data):
            for stage, members in used.items():
                weights = np.array([member.weight for member in members])
                heads = [member.head for member in members]
                total += mixed_gain(outputs[stage], heads, weights, source.gains)
        return total

    def probabilities(self, data: Dataset) -> Floats:
        """Class probabilities, the weighted mean of the members that have them: documents × classes."""
        total, weight = np.zeros((len(data), 0)), 0.0
        for source, used, outputs in self._evaluated(data):
            for stage, members in used.items():
                for member in members:
                    if not member.head.probabilistic or total.shape[1] not in (0, source.columns):
                        continue
                    weighted = member.weight * member.head.probabilities(outputs[stage])
                    total = total + weighted if total.shape[1] else weighted
                    weight += member.weight
        if not weight:
            raise InputError(
                "no member of this model estimates class probabilities",
                "use a calibration such as log-sigmoid",
            )
        probabilities: Floats = total / weight
        return probabilities

    def member_scores(self, data: Dataset) -> Floats:
        """The score of each member alone: members × documents."""
        scores = np.empty((len(self.members), len(data)))
        place = {id(member): i for i, member in enumerate(self.members)}
        for source, used, outputs in self._evaluated(data, all_members=True):
            for stage, members in used.items():
                for member in members:
                    scores[place[id(member)]] = member.head.gain(outputs[stage], source.gains)
        return scores

    @property
    def details(self) -> str:
        """The members with the largest weights as a table, if there are several."""
        return member_table(self, 10) if len(self.members) > 1 else ""

    def only_used(self) -> Mixture:
        """The members with a weight, and the parts of classifiers that they need."""
        used = [member for member in self.members if member.weight != 0]
        sources: list[Source] = []
        members: list[Member] = []
        for number in sorted({member.source for member in used}):
            of_source = [member for member in used if member.source == number]
            stages = sorted({member.stage for member in of_source})
            members += [replace(m, source=len(sources), stage=stages.index(m.stage)) for m in of_source]
            sources.append(self.sources[number].only(stages))
        return replace(self, sources=tuple(sources), members=tuple(members))

    def _evaluated(
        self, data: Dataset, all_members: bool = False
    ) -> Iterator[tuple[Source, dict[int, list[Member]], Floats]]:
        """Each source that is needed, its members by stage, and its outputs at those stages."""
        views: dict[str, Dataset] = {"none": data}
        for number, source in enumerate(self.sources):
            by_stage: dict[int, list[Member]] = {}
            for member in self.members:
                if member.source == number and (all_members or member.weight != 0):
                    by_stage.setdefault(member.stage, []).append(member)
            if not by_stage:
                continue
            name = source.normalisation
            if name not in views:
                views[name] = normalise(data, name)
            stages = sorted(by_stage)
            outputs = source.outputs(views[name], tuple(source.stages[stage] for stage in stages))
            yield source, {i: by_stage[stage] for i, stage in enumerate(stages)}, outputs

    # -- files ---------------------------------------------------------------------------------------------
    def parts(self) -> Parts:
        """The arrays of members one after the other, and the parts of each source under its number."""
        arrays: dict[str, Any] = {
            "source": np.array([member.source for member in self.members], np.int32),
            "stage": np.array([member.stage for member in self.members], np.int32),
            "measure": np.array([member.measure for member in self.members]),
            "weight": np.array([member.weight for member in self.members]),
            "numbers": np.concatenate([np.empty(0), *(member.head.numbers for member in self.members)]),
            "sizes": np.array([len(member.head.numbers) for member in self.members], np.int32),
        }
        texts: dict[str, str] = {}
        described = []
        for i, source in enumerate(self.sources):
            model = source.model.parts()
            arrays |= {f"source{i}/{name}": array for name, array in model.arrays.items()}
            texts |= {f"source{i}/{name}": text for name, text in model.texts.items()}
            arrays[f"source{i}.gains"] = source.gains
            described.append(
                {
                    "title": source.title,
                    "normalisation": source.normalisation,
                    "model": source.model.kind,
                    "stages": list(source.stages),
                    "labels": list(source.labels),
                    "values": dict(model.values),
                }
            )
        values = {
            "metric": self.metric,
            "strength": self.strength,
            "sources": described,
            "heads": [[member.head.name, member.head.family] for member in self.members],
        }
        return Parts(values, arrays, texts)

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        """The mixture put together again; ValueError, KeyError or IndexError if parts are inconsistent."""
        sources = [_source_of(parts, i) for i in range(len(parts.values["sources"]))]
        count = len(parts.values["heads"])
        rows = {
            "source": parts.integers("source", high=len(sources) - 1),
            "stage": parts.integers("stage"),
            "sizes": parts.integers("sizes"),
            "measure": parts.thresholds("measure"),
            "weight": parts.floats("weight"),
        }
        if any(len(row) != count for row in rows.values()):
            raise ValueError(f"expected one entry per member ({count}) in each array")
        bounds = np.append(0, np.cumsum(rows["sizes"])).tolist()
        numbers = parts.floats("numbers")
        if bounds[-1] != len(numbers):
            raise ValueError(f"expected {bounds[-1]} numbers of calibrations, got {len(numbers)}")
        members = [
            _member_of(parts, i, numbers[bounds[i] : bounds[i + 1]], rows, sources) for i in range(count)
        ]
        return cls(tuple(sources), tuple(members), str(parts.values["metric"]), parts.number("strength"))

    def check_features(self, features: int) -> None:
        for source in self.sources:
            source.model.check_features(features)


def _source_of(parts: Parts, i: int) -> Source:
    described = parts.values["sources"][i]
    under = f"source{i}/"
    model = MODELS[described["model"]].of_parts(
        Parts(described["values"], _under(parts.arrays, under), _under(parts.texts, under))
    )
    if not isinstance(model, Staged | ScoreModel):
        raise ValueError(f"a model of kind {described['model']!r} has no scores to mix")
    source = Source(
        str(described["title"]),
        str(described["normalisation"]),
        model if isinstance(model, Staged) else RankerScores(model),
        tuple(int(stage) for stage in described["stages"]),
        parts.floats(f"source{i}.gains"),
        tuple(str(label) for label in described["labels"]),
    )
    if source.normalisation != "none" and source.normalisation not in NORMALISATIONS:
        raise ValueError(f"unknown normalisation {source.normalisation!r}")
    valid_stages = all(0 <= stage <= source.model.rounds for stage in source.stages)
    rising = list(source.stages) == sorted(source.stages)
    if not valid_stages or not rising or len(source.labels) != len(source.stages):
        raise ValueError(f"the stages of {source.title!r} do not match its model")
    if source.model.columns != source.columns:
        raise ValueError(f"the gains of {source.title!r} do not match its model")
    return source


def _member_of(
    parts: Parts, i: int, numbers: Floats, rows: Mapping[str, Any], sources: list[Source]
) -> Member:
    name, family = parts.values["heads"][i]
    source, stage = int(rows["source"][i]), int(rows["stage"][i])
    if not 0 <= stage < len(sources[source].stages):
        raise ValueError(f"member {i} refers to stage {stage}, its source has {len(sources[source].stages)}")
    check_numbers(family, len(sources[source].gains), numbers)
    head = Head(str(name), str(family), numbers)
    return Member(source, stage, head, float(rows["measure"][i]), float(rows["weight"][i]))


def _under(mapping: Mapping[str, Any], start: str) -> dict[str, Any]:
    return {name.removeprefix(start): value for name, value in mapping.items() if name.startswith(start)}
