"""The click-and-label model: predicts clicks and grades, and ranks by the expected utility of both."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Self
from zlib import crc32

import numpy as np

from topkit.compute import Floats, Floats32, Ints
from topkit.data import Dataset
from topkit.rankers.clicks.beliefs import Beliefs
from topkit.rankers.clicks.diversity import diverse_places
from topkit.rankers.clicks.events import Clicks, Layout, rows_by_name, streamed
from topkit.rankers.clicks.grades import Scale
from topkit.rankers.clicks.utility import LearnedUtility, useful_places
from topkit.scorers import Parts, Report, ScoreModel, silent

Features = Floats32


@dataclass(frozen=True)
class ClickLabel(ScoreModel):
    """Two generalised linear models with the same layout of weights, one for clicks and one for grades.

    A document's utility is (1 − λ)·E[gain of its grade] + λ·P(click at the first position), unless a utility
    of pages was learned.
    """

    kind: ClassVar[str] = "click-label"
    layout: Layout
    clicks: Beliefs
    labels: Beliefs
    scale: Scale
    mix: float
    """λ."""
    diversity: float = 0.0
    """How fast the utility of further clicks on a page falls; 0 counts all clicks equally."""
    utility: LearnedUtility | None = None
    """The utility learned from rated pages; it replaces λ and the diversity."""

    # ------------------------------------------------------------------ learning

    def after_pages(self, clicks: Clicks, report: Report = silent) -> tuple[ClickLabel, float, int]:
        """The model after a stream of pages, its predictive log-likelihood, and its number of events."""
        rows, X = rows_by_name(clicks.features), self._features(clicks.features)
        beliefs, likelihood, count = self.clicks, 0.0, 0
        for events in streamed(clicks.pages, self.layout, rows):
            beliefs, added = beliefs.after_clicks(events, X)
            likelihood += added
            count += len(events.clicked)
            report("log-likelihood", count, count, likelihood / max(count, 1))
        return replace(self, clicks=beliefs), likelihood, count

    def after_grades(self, data: Dataset, weights: Floats, seed: int) -> ClickLabel:
        """The model after the grades of a data set, in an order that depends on names and seed only."""
        names = data.names_of_documents().tolist()
        query = data.query_index
        key = [crc32(f"{seed}\t{data.qids[query[i]]}\t{name}".encode()) for i, name in enumerate(names)]
        order = np.lexsort((np.array(names), np.array(key)))
        scale, labels = self.scale.learn(
            self.labels,
            self._features(data)[order],
            self.memory_slots(data)[order],
            data.y[order].astype(np.float64),
            weights[query[order]],
        )
        return replace(self, labels=labels, scale=scale)

    # ------------------------------------------------------------------ predicting

    def click_probability(self, data: Dataset, place: int = 1) -> Floats:
        """The probability of a click on each document if it is examined at this position of the page."""
        sums = self.clicks.sums(self._features(data), np.arange(len(data)), self._click_slots(data, place))
        return self.clicks.above(sums[:, 0], sums[:, 1])

    def expected_gain(self, data: Dataset) -> Floats:
        """The expected gain 2^g − 1 of each document's grade."""
        sums = self.labels.sums(self._features(data), np.arange(len(data)), self.memory_slots(data))
        return self.scale.expected_gain(self.labels, sums[:, 0], sums[:, 1])

    def score(self, data: Dataset) -> Floats:
        """The expected utility; with diversity or a learned utility, scores that fall down a filled page."""
        gain, click = self.expected_gain(data), self.click_probability(data)
        if self.utility is not None:
            return useful_places(self, data, gain, click, self.utility)
        utility: Floats = (1.0 - self.mix) * gain + self.mix * click
        if self.diversity == 0:
            return utility
        return diverse_places(self, data, gain, utility)

    def log_likelihoods(self, clicks: Clicks) -> Floats:
        """The log-likelihood of the click or skip of each examined document, without learning from it."""
        rows, X = rows_by_name(clicks.features), self._features(clicks.features)
        parts = [np.zeros(0)]
        for events in streamed(clicks.pages, self.layout, rows):
            p = np.clip(self.clicks.click_probability(events, X), 1e-12, 1 - 1e-12)
            parts.append(np.log(np.where(events.clicked, p, 1 - p)))
        return np.concatenate(parts)

    def inspect(self, data: Dataset, query: str | None = None) -> list[dict[str, Any]]:
        """Mean and deviation of named weights of both models: features, bias, positions and memory weights.

        ``data`` provides the names of features and, for one query, of its documents.
        """
        named = [(f"feature {name}", i) for i, name in enumerate(data.names_of_features())]
        named.append(("bias", self.layout.bias))
        named += [(f"position {p}", self.layout.position(p)) for p in range(1, self.layout.positions + 1)]
        if query is not None:
            rows = dict(iter(data))[query]
            documents = data.names_of_documents()[rows].tolist()
            memories = self.layout.memories(query, documents)
            named.append((f"query {query}", memories[0][0]))
            for name, (_, document, pair) in zip(documents, memories, strict=True):
                named += [(f"document {name}", document), (f"query {query} document {name}", pair)]
        return [
            {
                "weight": name,
                "click mean": float(self.clicks.mean[i]),
                "click deviation": float(np.sqrt(self.clicks.variance[i])),
                "label mean": float(self.labels.mean[i]),
                "label deviation": float(np.sqrt(self.labels.variance[i])),
            }
            for name, i in named
        ]

    # ------------------------------------------------------------------ parts

    def _features(self, data: Dataset | None) -> Features:
        if data is None:
            return np.zeros((0, self.layout.features), np.float32)
        return np.where(np.isnan(data.X), np.float32(0), data.X)

    def memory_slots(self, data: Dataset) -> Ints:
        """The memory weights of each document: of its query, of itself, and of the pair."""
        names = data.names_of_documents()
        weights = [slots for qid, rows in data for slots in self.layout.memories(qid, names[rows].tolist())]
        return np.array(weights, np.int64).reshape(len(data), 3)

    def _click_slots(self, data: Dataset, place: int) -> Ints:
        ends = np.array([self.layout.bias, self.layout.position(place)], np.int64)
        return np.hstack([np.broadcast_to(ends, (len(data), 2)), self.memory_slots(data)])

    def parts(self) -> Parts:
        arrays = {
            f"{name}_{part}": getattr(beliefs, part)
            for name, beliefs in (("clicks", self.clicks), ("labels", self.labels))
            for part in ("mean", "variance", "noise", "share")
        }
        arrays |= {
            "levels": self.scale.levels,
            "bound": self.scale.bound[1:-1],
            "bound_variance": self.scale.variance,
        }
        values = {
            "features": self.layout.features, "positions": self.layout.positions, "slots": self.layout.slots,
            "mix": self.mix, "diversity": self.diversity,
        }  # fmt: skip
        if self.utility is not None:
            values |= {f"utility_{name}": value for name, value in asdict(self.utility).items()}
        return Parts(values, arrays)

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        counts = (parts.count("features"), parts.count("positions", 1), parts.count("slots", 1))
        layout = Layout(*counts)
        both = [
            Beliefs(*(parts.floats(f"{name}_{part}") for part in ("mean", "variance", "noise", "share")))
            for name in ("clicks", "labels")
        ]
        for beliefs in both:
            if beliefs.mean.shape != (len(layout),) or beliefs.variance.shape != (len(layout),):
                raise ValueError("each weight needs a mean and a variance")
            if not (beliefs.variance > 0).all() or beliefs.noise.shape != beliefs.share.shape:
                raise ValueError("variances must be greater than 0, and each noise needs a probability")
            if (beliefs.noise < 0).any() or (beliefs.share < 0).any():
                raise ValueError("noises and probabilities must not be negative")
        bound = np.concatenate([[-np.inf], parts.floats("bound"), [np.inf]])
        scale = Scale(parts.floats("levels"), bound, parts.floats("bound_variance"))
        if len(bound) != len(scale.levels) + 1 or scale.variance.shape != bound.shape:
            raise ValueError("the numbers of grades and boundaries do not match")
        if (scale.variance < 0).any() or (np.diff(scale.levels) <= 0).any():
            raise ValueError("grades must rise, and variances must not be negative")
        utility = None
        if "utility_bias" in parts.values:
            utility = LearnedUtility(*(parts.number(f"utility_{f.name}") for f in fields(LearnedUtility)))
        return cls(layout, both[0], both[1], scale, parts.number("mix"), parts.number("diversity"), utility)

    @property
    def remark(self) -> str:
        """One line for the user after training."""
        if self.utility is None:
            return ""
        weights = f"clicks {self.utility.clicks:.3g}, gains {self.utility.gains:.3g}"
        return f"learned utility: weights of {weights}"

    def check_features(self, features: int) -> None:
        if self.layout.features != features:
            raise ValueError(f"expected {features} features, got {self.layout.features}")
