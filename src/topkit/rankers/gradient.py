"""Rankers that minimise a loss by its gradient: any loss of ``losses`` with any scorer of ``scorers``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

from topkit.compute import Trace
from topkit.data import InputError
from topkit.data.settings import Setting, lookup
from topkit.losses import LOSSES, Loss, loss
from topkit.rankers.transition import settings_of as declared_settings
from topkit.scorers import SCORERS, Job, Model, Scorer


def _choices(
    loss: Annotated[str, Setting("Name of the loss.", choices=tuple(LOSSES))] = "listnet",
    scorer: Annotated[
        str | Scorer,
        Setting("How scores are computed from features: a name, or a scorer object.", choices=tuple(SCORERS)),
    ] = "linear",
) -> None:
    """Declares the settings that decide which others there are."""


@dataclass(frozen=True)
class Gradient:
    """Minimise a loss over the scores of a scorer: RankNet, ListNet, FocusedNet, LambdaMART and others.

    An entry of ``RANKERS`` names the loss and the default scorer; calling it with settings gives the method.
    The settings of the loss, those of the scorer, and ``scorer`` itself share one namespace.
    """

    learns_from: ClassVar[tuple[str, ...]] = ("labels", "preferences")

    default_loss: str
    summary: str
    default_scorer: str = "linear"
    any_loss: bool = False
    """Whether ``loss`` is a setting."""
    chosen: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, **settings: Any) -> Gradient:
        """The method with these settings."""
        method = replace(self, chosen=settings)
        _ = method.loss, method.scorer  # an invalid setting is an error here, not in training
        return method

    def settings(self, **chosen: Any) -> dict[str, Setting]:
        """Every setting for the loss and the scorer that the chosen settings name."""
        loss_name, scorer = self._named(chosen)
        defaults = {"loss": self.default_loss, "scorer": self.default_scorer}
        known = {
            name: replace(setting, default=defaults[name])
            for name, setting in declared_settings(_choices).items()
            if name == "scorer" or self.any_loss
        }
        known.update(declared_settings(lookup(LOSSES, loss_name, "loss")))
        if isinstance(scorer, str):
            known.update(declared_settings(lookup(SCORERS, scorer, "scorer")))
        return known

    @cached_property
    def loss(self) -> Loss:
        name, _ = self._named(self.chosen)
        taken = {"scorer", *self._scorer_settings}
        if self.any_loss:
            taken.add("loss")
        return loss(name, **{key: value for key, value in self.chosen.items() if key not in taken})

    @cached_property
    def scorer(self) -> Scorer:
        _, scorer = self._named(self.chosen)
        return SCORERS[scorer](**self._scorer_settings) if isinstance(scorer, str) else scorer

    @property
    def normalisation(self) -> str:
        return self.scorer.normalisation

    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The model that the scorer fits to the loss on the labels, or on the preferences of the job."""
        if job.preferences is not None and not self.loss.pairs_given:
            raise InputError(
                f"the loss {self.loss.name!r} with these settings learns from labels, not from preferences",
                "use a pairwise loss with pairs='given'",
            )
        truth = job.preferences if self.loss.pairs_given else job.train.y
        if truth is None:
            raise InputError("pairs='given' needs preferences", "pass preferences to fit, or use other pairs")
        return self.scorer.fit(job, self.loss.on(truth, job.train.ptr, job.weights))

    def _named(self, chosen: Mapping[str, Any]) -> tuple[str, str | Scorer]:
        """The name of the loss, and the scorer, that these settings choose."""
        name = chosen.get("loss", self.default_loss) if self.any_loss else self.default_loss
        return str(name), chosen.get("scorer", self.default_scorer)

    @cached_property
    def _scorer_settings(self) -> dict[str, Any]:
        _, scorer = self._named(self.chosen)
        known = declared_settings(lookup(SCORERS, scorer, "scorer")) if isinstance(scorer, str) else {}
        return {key: value for key, value in self.chosen.items() if key in known}


def without_scorer_object(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with the name and the fields of a built-in scorer instead of the object.

    So a ranker made with ``scorer=LinearScorer(l2=0.1)`` is saved like one made with ``l2=0.1``.
    """
    scorer = settings.get("scorer")
    for name, kind in SCORERS.items():
        if isinstance(scorer, kind):
            values = {setting.name: getattr(scorer, setting.name) for setting in fields(scorer)}
            return {**settings, "scorer": name, **values}
    return dict(settings)


GRADIENT_METHODS: dict[str, Gradient] = {
    "ranknet": Gradient("logistic", "RankNet: logistic loss on pairs"),
    "listnet": Gradient("listnet", "ListNet: cross entropy of top-one probabilities"),
    "listmle": Gradient("listmle", "ListMLE: likelihood of the order"),
    "rankcosine": Gradient("rankcosine", "RankCosine: cosine of scores and labels"),
    "topk-listnet": Gradient("topk-listnet", "ListNet with the order of the top k only"),
    "topk-listmle": Gradient("topk-listmle", "likelihood of the first k places"),
    "topk-rankcosine": Gradient("topk-rankcosine", "RankCosine with the order of the top k only"),
    "focusednet": Gradient("focused", "FocusedNet: ListNet in the top k, RankNet from it to the rest"),
    "lambdamart": Gradient("lambdarank", "LambdaMART: boosted trees on LambdaRank", "trees"),
    "mart": Gradient("squared-error", "MART: boosted regression trees on labels", "trees"),
    "linear-regression": Gradient("squared-error", "least squares on labels"),
    "gradient": Gradient("listnet", "any loss with any scorer: loss=NAME and its settings", any_loss=True),
}
"""Name → loss and default scorer."""
