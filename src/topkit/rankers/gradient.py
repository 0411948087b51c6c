"""Rankers that descend a loss: any loss of the room ``losses`` with any scorer of the room ``scorers``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from topkit.compute import Trace
from topkit.data import InputError
from topkit.losses import LOSSES, Loss, loss
from topkit.rankers.contract import Job
from topkit.scorers import SCORERS, LinearScorer, Model, NeuralScorer, Problem, Space, TreeScorer


@dataclass(frozen=True)
class Gradient:
    """Minimise a loss on the scores of a scorer: RankNet, ListNet, FocusedNet, LambdaMART and others."""

    loss: Loss
    scorer: LinearScorer | NeuralScorer | TreeScorer

    @property
    def normalisation(self) -> str:
        return self.scorer.normalisation

    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        if job.preferences is not None and not self.loss.pairs_given:
            raise InputError(
                f"the loss {self.loss.name!r} with these settings learns from labels, not from preferences",
                "use a pairwise loss with pairs='given'",
            )
        truth = job.preferences if self.loss.pairs_given else job.train.y
        if truth is None:
            raise InputError("pairs='given' needs preferences", "give them to fit, or use other pairs")
        problem = Problem(
            job.train,
            self.loss.on(truth, job.train.ptr, job.weights),
            float(job.query_weights.sum()),
            job.valid,
            None if job.valid is None else job.judge,
            job.seed,
            job.report,
        )
        return self.scorer.fit(problem)


@dataclass(frozen=True)
class GradientMethod:
    """A named loss with a default scorer; calling it with settings gives the method.

    Settings of the loss, of the scorer, and ``scorer`` itself share one namespace.
    """

    loss: str
    summary: str
    scorer: str = "linear"
    preset: Mapping[str, Any] = field(default_factory=dict)
    """Loss settings that differ from the loss's own defaults."""

    def __call__(self, **settings: Any) -> Gradient:
        scorer = SCORERS[self._scorer(settings)]
        own = {f.name for f in fields(scorer)}
        loss_settings = {k: v for k, v in settings.items() if k not in own and k != "scorer"}
        scorer_settings = {k: v for k, v in settings.items() if k in own}
        return Gradient(loss(self.loss, **{**self.preset, **loss_settings}), scorer(**scorer_settings))

    def defaults(self, **settings: Any) -> dict[str, Any]:
        """Every setting with its default, for the scorer that these settings choose."""
        name = self._scorer(settings)
        of_loss = {
            key: self.preset.get(key, parameter.default)
            for key, parameter in inspect.signature(LOSSES[self.loss]).parameters.items()
        }
        return {"scorer": name, **of_loss, **{f.name: f.default for f in fields(SCORERS[name])}}

    def space(self, **settings: Any) -> Space:
        """What a search may try for the scorer that these settings choose."""
        ours: dict[str, Any] = {}
        if self.loss == "focused":
            ours["beta"] = tuple(round(0.1 * i, 1) for i in range(1, 10))
        return {**ours, **SCORERS[self._scorer(settings)].space}

    def _scorer(self, settings: Mapping[str, Any]) -> str:
        name = settings.get("scorer", self.scorer)
        if name not in SCORERS:
            raise InputError(f"there is no scorer {name!r}", f"choose from {', '.join(SCORERS)}")
        return str(name)


@dataclass(frozen=True)
class AnyLoss:
    """``gradient``: the loss is itself a setting."""

    summary: str = "any loss with any scorer: loss=NAME and its settings"

    def __call__(self, **settings: Any) -> Gradient:
        return self._named(settings)(**{k: v for k, v in settings.items() if k != "loss"})

    def defaults(self, **settings: Any) -> dict[str, Any]:
        """Every setting with its default, for the loss and the scorer that these settings choose."""
        named = self._named(settings)
        return {
            "loss": named.loss,
            **named.defaults(**{k: v for k, v in settings.items() if k != "loss"}),
        }

    def space(self, **settings: Any) -> Space:
        """What a search may try for the scorer that these settings choose."""
        return self._named(settings).space(**settings)

    def _named(self, settings: Mapping[str, Any]) -> GradientMethod:
        name = settings.get("loss", "listnet")
        if name not in LOSSES:
            raise InputError(f"there is no loss {name!r}", f"choose from {', '.join(LOSSES)}")
        return GradientMethod(name, "")


GRADIENT_METHODS: dict[str, GradientMethod | AnyLoss] = {
    "ranknet": GradientMethod("logistic", "RankNet: logistic loss on pairs"),
    "listnet": GradientMethod("listnet", "ListNet: cross entropy of top-one probabilities"),
    "listmle": GradientMethod("listmle", "ListMLE: likelihood of the order"),
    "rankcosine": GradientMethod("rankcosine", "RankCosine: cosine of scores and labels"),
    "topk-listnet": GradientMethod("topk-listnet", "ListNet with the order of the top k only"),
    "topk-listmle": GradientMethod("topk-listmle", "likelihood of the first k places"),
    "topk-rankcosine": GradientMethod("topk-rankcosine", "RankCosine with the order of the top k only"),
    "focusednet": GradientMethod("focused", "FocusedNet: ListNet in the top k, RankNet from it to the rest"),
    "lambdamart": GradientMethod("lambdarank", "LambdaMART: boosted trees on LambdaRank", "trees"),
    "mart": GradientMethod("squared-error", "MART: boosted regression trees on labels", "trees"),
    "linear-regression": GradientMethod("squared-error", "least squares on labels"),
    "gradient": AnyLoss(),
}
