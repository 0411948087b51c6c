"""How a name and settings become a ranker.

An entry of ``RANKERS`` is usually the method's frozen dataclass, whose fields are its settings; or a
:class:`Gradient`, any loss with any scorer, whose settings depend on which ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike, fspath
from typing import Annotated, Any, ClassVar

from topkit.compute import MissingExtraError, Trace
from topkit.data import InputError
from topkit.data.normalise import FEATURE_FORMS
from topkit.data.settings import (
    Setting,
    Space,
    check_fields,
    check_settings,
    lookup,
    search_space,
    split_assignments,
)
from topkit.data.settings import parse_settings as parse_declared
from topkit.data.settings import settings_of as declared_settings
from topkit.losses import LOSSES, Loss, loss
from topkit.losses.base import COLUMNS
from topkit.metrics import CONVENTIONS, metric
from topkit.rankers.files import read_model
from topkit.rankers.learner import Learner
from topkit.rankers.names import MODELS, RANKERS
from topkit.rankers.orders import drawn_job
from topkit.rankers.preparation import Preparation
from topkit.scorers import SCORERS, Job, Model, Scorer


@dataclass(frozen=True)
class Common:
    """Settings that every ranker takes."""

    normalise: Annotated[
        str,
        Setting(
            "Query-wise normalisation of the features; raw+z-score gives raw features and their z-scores; "
            "auto uses the default of the method.",
            choices=("auto", *FEATURE_FORMS),
        ),
    ] = "auto"
    features: Annotated[
        tuple[str, ...] | None, Setting("Names or LETOR numbers of the features to use; none uses all.")
    ] = None
    metric: Annotated[str, Setting("Metric on validation data that selects settings and stops training.")] = (
        "ndcg@10"
    )
    convention: Annotated[str, Setting("Convention of the metric.", choices=tuple(CONVENTIONS))] = "yahoo"
    seed: Annotated[int, Setting("Seed of the random number generator.", low=0)] = 0

    def __post_init__(self) -> None:
        check_fields(self)
        metric(self.metric)


def _choices(
    loss: Annotated[str, Setting("Name of the loss.", choices=tuple(LOSSES))] = "listnet",
    scorer: Annotated[
        str | Scorer,
        Setting("How scores are computed from features: a name, or a scorer object.", choices=tuple(SCORERS)),
    ] = "linear",
) -> None:
    """Declares the settings that decide which others there are."""


def _ties(
    ties: Annotated[
        str,
        Setting(
            "Documents with equal grades share their places (shared), or a random order that agrees with the "
            "grades is drawn by the seed, as in the papers (random).",
            choices=("shared", "random"),
        ),
    ] = "shared",
) -> None:
    """Declares the setting of the losses in LOSSES_OF_ORDERS."""


LOSSES_OF_ORDERS = ("listmle", "topk-listmle", "topk-listnet", "topk-rankcosine")
"""Losses that are published for orders and also accept ties."""


@dataclass(frozen=True)
class Gradient:
    """Minimise a loss over the scores of a scorer: RankNet, ListNet, FocusedNet, LambdaMART and others.

    An entry of ``RANKERS`` names the loss and the default scorer; calling it with settings gives the method.
    The settings of the loss, those of the scorer, and ``scorer`` itself share one namespace.
    """

    learns_from: ClassVar[tuple[str, ...]] = ("labels", "preferences", "click logs", *COLUMNS)

    default_loss: str
    summary: str
    default_scorer: str = "linear"
    any_loss: bool = False
    """Whether ``loss`` is a setting."""
    use: str = ""
    """When to use it and when not."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the loss whose default differs from that of the loss alone."""
    chosen: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, **settings: Any) -> Gradient:
        """The method with these settings."""
        method = replace(self, chosen={**self.defaults, **settings})
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
        for name, setting in declared_settings(lookup(LOSSES, loss_name, "loss")).items():
            known[name] = replace(setting, default=self.defaults.get(name, setting.default))
        if loss_name in LOSSES_OF_ORDERS:
            known.update(declared_settings(_ties))
        if isinstance(scorer, str):
            known.update(declared_settings(lookup(SCORERS, scorer, "scorer")))
        return known

    @cached_property
    def loss(self) -> Loss:
        name, _ = self._named(self.chosen)
        taken = {"scorer", "ties", *self._scorer_settings}
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
        """The model that the scorer fits to the loss on the labels, the preferences or the click log."""
        if job.clicks is not None:
            from topkit.rankers.unbiased.training import train_on_clicks

            return train_on_clicks(self.loss, self.scorer, job)
        if job.preferences is not None and not self.loss.pairs_given:
            raise InputError(
                f"the loss {self.loss.name!r} with these settings learns from labels, not from preferences",
                "use a pairwise loss with pairs='given'",
            )
        if self.loss.pairs_given:
            if job.preferences is None:
                raise InputError(
                    "pairs='given' needs preferences", "pass preferences to fit, or use other pairs"
                )
            return self.scorer.fit(job, self.loss.on(job.preferences, job.train.ptr, job.weights))
        if not self.draws_order:
            return self.scorer.fit(job, self.loss.on(job.train.y, job.train.ptr, job.weights, **job.columns))
        drawn, k = drawn_job(job, self.loss.settings.get("k"))
        settings = self.loss.settings if k is None else {**self.loss.settings, "k": k}
        objective = replace(self.loss, settings=settings).on(
            drawn.train.y, drawn.train.ptr, drawn.weights, **job.columns
        )
        return self.scorer.fit(replace(job, weights=drawn.weights), objective)

    @property
    def draws_order(self) -> bool:
        """Whether it learns a random order that agrees with the grades, instead of the grades."""
        return self.loss.name == "focused" or self.chosen.get("ties") == "random"

    def _named(self, chosen: Mapping[str, Any]) -> tuple[str, str | Scorer]:
        """The name of the loss, and the scorer, that these settings choose."""
        name = chosen.get("loss", self.default_loss) if self.any_loss else self.default_loss
        return str(name), chosen.get("scorer", self.default_scorer)

    @cached_property
    def _scorer_settings(self) -> dict[str, Any]:
        _, scorer = self._named(self.chosen)
        known = declared_settings(lookup(SCORERS, scorer, "scorer")) if isinstance(scorer, str) else {}
        return {key: value for key, value in self.chosen.items() if key in known}


COMMON = declared_settings(Common)
"""The settings that every ranker takes."""

NESTED = "_settings"
"""A setting ``X_settings`` holds the settings of the ranker that the setting ``X`` names."""


def ranker(name: str, **settings: Any) -> Learner:
    """The ranker of this name with these settings, not fitted yet.

    Every ranker takes ``normalise``, ``features``, ``metric``, ``convention`` and ``seed`` in addition to its
    own settings. Methods with a ``scorer`` accept a name or an object (:class:`topkit.scorers.Scorer`).

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [1, 0, 0], ["q", "q", "q"])
    >>> tk.ranker("listnet", l2=0.1).fit(data).rank(data)["q"][0][0]
    'q:1'
    """
    settings = without_scorer_object(settings)
    checked = check_settings(settings_of(name, **settings), settings, f"ranker {name!r}")
    common = Common(**{key: value for key, value in checked.items() if key in COMMON})
    method = RANKERS[name](**{key: value for key, value in checked.items() if key not in COMMON})
    return Learner(name, method, common, checked)


def settings_of(name: str, **chosen: Any) -> dict[str, Setting]:
    """The settings of a ranker; those of ``gradient`` and others depend on the chosen loss and scorer.

    >>> settings_of("listnet", scorer="trees")["leaves"].default
    15
    """
    method = lookup(RANKERS, name, "ranker")
    of_method = method.settings(**chosen) if isinstance(method, Gradient) else declared_settings(method)
    return {**of_method, **COMMON}


def space_of(name: str, **chosen: Any) -> Space:
    """What a search may try for a ranker, without the settings that are chosen already."""
    return search_space(
        {key: setting for key, setting in settings_of(name, **chosen).items() if key not in chosen}
    )


def parse_settings(name: str, texts: Iterable[str]) -> dict[str, Any]:
    """The settings of a ranker from texts such as ``k=10`` or ``base_settings.passes=2``.

    >>> parse_settings("sigmoid", ["base=perceptron", "base_settings.passes=2"])
    {'base': 'perceptron', 'base_settings': {'passes': 2}}
    """
    return _parsed(name, split_assignments(texts))


def _parsed(name: str, texts: Mapping[str, Any]) -> dict[str, Any]:
    known = settings_of(name, **texts)
    values = parse_declared(known, texts, f"ranker {name!r}")
    for key, value in values.items():
        owner = key.removesuffix(NESTED)
        if isinstance(value, Mapping) and owner in known:
            values[key] = _parsed(str(values.get(owner, known[owner].default)), value)
    return values


def load_ranker(path: str | PathLike[str]) -> Learner:
    """The fitted ranker in a file that :meth:`Learner.save` wrote; InputError for any other file."""
    manifest, parts = read_model(path)
    file = fspath(path)
    name, kind = manifest.get("ranker"), manifest.get("model")
    if not isinstance(name, str) or not isinstance(kind, str) or name not in RANKERS or kind not in MODELS:
        raise InputError(
            f"this version of topkit does not know the model (kind {kind!r} of the ranker {name!r})",
            "load it with the version of topkit that wrote it",
            file=file,
        )
    try:
        preparation = Preparation.from_dict(manifest["features"])
        model = MODELS[kind].of_parts(parts)
        if not isinstance(model, Model):
            raise ValueError(f"a model of kind {kind!r} is a part of other models")
        model.check_features(preparation.width)
        learner = ranker(name, **manifest["settings"])
        return learner.install(preparation, model, [], dict(manifest["provenance"]))
    except MissingExtraError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InputError(f"the model file is inconsistent ({error})", file=file) from None


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
