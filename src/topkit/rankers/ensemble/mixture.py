"""The mixture: classifiers and rankers, calibrated in many ways, added up with a weight each.

A model of one member is a calibrated classifier; ``adaboost-mh`` and ``mcsvm`` are such models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from topkit.compute import over_queries
from topkit.data import Dataset, InputError, normalise
from topkit.rankers.ensemble.heads import Head, mixed_gain, numbers_of
from topkit.rankers.ensemble.table import member_table
from topkit.scorers import Floats, Parts, ScoreModel


@dataclass(frozen=True)
class Source:
    """A classifier at several stages (rounds, penalties), or a ranker, and how its features are prepared."""

    title: str
    normalisation: str
    model: Any
    """What has ``outputs(X, stages)``, or a ranker's model with ``score(data)``."""
    stages: tuple[int, ...]
    """The rounds or the numbers of penalties that members use; one stage for a ranker."""
    gains: Floats
    """The gain of each class; empty for a ranker, which has one score."""
    labels: tuple[str, ...]
    """What to call each stage in tables."""

    @property
    def columns(self) -> int:
        return max(len(self.gains), 1)

    def outputs(self, data: Dataset, stages: tuple[int, ...] | None = None) -> Floats:
        """Stages × documents × columns, from features that are prepared already."""
        if hasattr(self.model, "outputs"):
            found: Floats = self.model.outputs(data.X, self.stages if stages is None else stages)
            return found
        scores: Floats = self.model.score(data)
        return scores[None, :, None]

    def only(self, stages: list[int]) -> Source:
        """The source at these of its stages, without what comes after the last."""
        kept = tuple(self.stages[stage] for stage in stages)
        model = self.model.first(kept[-1]) if hasattr(self.model, "first") else self.model
        return replace(self, model=model, stages=kept, labels=tuple(self.labels[stage] for stage in stages))

    def reach(self, stage: int) -> float:
        """The largest |score| there can be: Σ α of a boosted classifier; 0 where there is no such bound."""
        total = getattr(self.model, "total", None)
        return 0.0 if total is None or not len(total) else float(total[self.stages[stage] - 1])


@dataclass(frozen=True)
class Member:
    """One calibrated model: which source, which of its stages, which calibration; its measure and weight."""

    source: int
    stage: int
    head: Head
    measure: float
    weight: float = 0.0


@dataclass(frozen=True)
class Mixture(ScoreModel):
    """score = Σ weight·(gain that the member estimates); members of one classifier share its evaluation."""

    kind: ClassVar[str] = "mixture"
    sources: tuple[Source, ...]
    members: tuple[Member, ...]
    metric: str
    """The measure that members were weighed by."""
    strength: float = 0.0
    """c of the weights exp(c·measure)."""

    def score(self, data: Dataset) -> Floats:
        found = np.empty(len(data))

        def work(first: int, last: int) -> None:
            part = data if last - first == data.n_queries else data.select(np.arange(first, last))
            found[data.ptr[first] : data.ptr[last]] = self._score_part(part)

        over_queries(work, data.ptr)
        return found

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
                    given = member.weight * member.head.probabilities(outputs[stage])
                    total = total + given if total.shape[1] else given
                    weight += member.weight
        if not weight:
            raise InputError(
                "no member of this model estimates class probabilities",
                "use a calibration such as log-sigmoid",
            )
        found: Floats = total / weight
        return found

    def member_scores(self, data: Dataset) -> Floats:
        """The score of every member by itself: members × documents."""
        found = np.empty((len(self.members), len(data)))
        place = {id(member): i for i, member in enumerate(self.members)}
        for source, used, outputs in self._evaluated(data, all_members=True):
            for stage, members in used.items():
                for member in members:
                    found[place[id(member)]] = member.head.gain(outputs[stage], source.gains)
        return found

    @property
    def details(self) -> str:
        """The heaviest members as a table, where there are several."""
        return member_table(self, 10) if len(self.members) > 1 else ""

    def only_used(self) -> Mixture:
        """The members that have a weight, and the parts of classifiers that they need."""
        used = [member for member in self.members if member.weight != 0]
        sources: list[Source] = []
        members: list[Member] = []
        for number in sorted({member.source for member in used}):
            source = self.sources[number]
            mine = [member for member in used if member.source == number]
            stages = sorted({member.stage for member in mine})
            members += [replace(m, source=len(sources), stage=stages.index(m.stage)) for m in mine]
            sources.append(source.only(stages))
        return replace(self, sources=tuple(sources), members=tuple(members))

    def _evaluated(
        self, data: Dataset, all_members: bool = False
    ) -> Iterator[tuple[Source, dict[int, list[Member]], Floats]]:
        """Each source that is needed, its members by stage, and its outputs at those stages."""
        views: dict[str, Dataset] = {"none": data}
        for number, source in enumerate(self.sources):
            mine: dict[int, list[Member]] = {}
            for member in self.members:
                if member.source == number and (all_members or member.weight != 0):
                    mine.setdefault(member.stage, []).append(member)
            if not mine:
                continue
            name = source.normalisation
            if name not in views:
                views[name] = normalise(data, name)
            stages = sorted(mine)
            outputs = source.outputs(views[name], tuple(source.stages[stage] for stage in stages))
            yield source, {i: mine[stage] for i, stage in enumerate(stages)}, outputs

    # -- files ---------------------------------------------------------------------------------------------
    def parts(self) -> Parts:
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
            own = source.model.parts()
            arrays |= {f"source{i}/{name}": array for name, array in own.arrays.items()}
            texts |= {f"source{i}/{name}": text for name, text in own.texts.items()}
            arrays[f"source{i}.gains"] = source.gains
            described.append(
                {
                    "title": source.title,
                    "normalisation": source.normalisation,
                    "model": source.model.kind,
                    "stages": list(source.stages),
                    "labels": list(source.labels),
                    "values": dict(own.values),
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
        from topkit.rankers.registry import MODELS  # the registry knows this class, so not before

        arrays = parts.arrays
        sources = []
        for i, told in enumerate(parts.values["sources"]):
            own = Parts(told["values"], _under(arrays, f"source{i}/"), _under(parts.texts, f"source{i}/"))
            source = Source(
                str(told["title"]),
                str(told["normalisation"]),
                MODELS[told["model"]].of_parts(own),
                tuple(int(stage) for stage in told["stages"]),
                np.asarray(arrays[f"source{i}.gains"], np.float64),
                tuple(str(label) for label in told["labels"]),
            )
            rounds, columns = getattr(source.model, "rounds", 1), getattr(source.model, "columns", 1)
            if not all(0 <= stage <= rounds for stage in source.stages) or columns != source.columns:
                raise ValueError(f"the stages or the gains of {source.title!r} do not fit its model")
            sources.append(source)
        bounds = np.append(0, np.cumsum(arrays["sizes"]))
        members = []
        for i, (name, family) in enumerate(parts.values["heads"]):
            numbers = np.asarray(arrays["numbers"][bounds[i] : bounds[i + 1]], np.float64)
            source_number, stage = int(arrays["source"][i]), int(arrays["stage"][i])
            if not 0 <= stage < len(sources[source_number].stages):
                raise ValueError("a member names a stage that its source does not have")
            if len(numbers) != numbers_of(family, sources[source_number].columns):
                raise ValueError(f"a {family} calibration has another number of numbers")
            head = Head(str(name), str(family), numbers)
            members.append(
                Member(source_number, stage, head, float(arrays["measure"][i]), float(arrays["weight"][i]))
            )
        metric, strength = str(parts.values["metric"]), float(parts.values["strength"])
        return cls(tuple(sources), tuple(members), metric, strength)


def _under(mapping: Mapping[str, Any], start: str) -> dict[str, Any]:
    return {name.removeprefix(start): value for name, value in mapping.items() if name.startswith(start)}
