"""The dictionaries of methods and models, and how a name and settings become a ranker."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from topkit.data import InputError
from topkit.data.settings import search_space
from topkit.data.settings import settings_of as declared_settings
from topkit.rankers.boosting import AdaRank, FocusedBoost, RankBoost, Steps
from topkit.rankers.clicks.method import ClickLabelRanker
from topkit.rankers.clicks.model import ClickLabel
from topkit.rankers.features import NORMALISATION_NAMES, Preparation
from topkit.rankers.files import read_model
from topkit.rankers.gradient import GRADIENT_METHODS
from topkit.rankers.isotonic import IsoRank, QBRank
from topkit.rankers.learner import Common, Learner
from topkit.rankers.linear import BestFeature, CoordinateAscent, Perceptron, Sigmoid
from topkit.rankers.mixture import Mixture
from topkit.rankers.multiclass import (
    AdaBoostMH,
    BoostedProducts,
    BoostedTrees,
    ClassTrees,
    LinearClasses,
    McRank,
    McSVM,
)
from topkit.rankers.names import MODELS, RANKERS
from topkit.rankers.sortnet import Comparator, SortNet
from topkit.rankers.svm import FocusedSVM, RankSVM, SvmMap
from topkit.rankers.tune_and_mix import TuneAndMix
from topkit.scorers import Linear, Network, Space, Trees

__all__ = ["MODELS", "RANKERS", "load_ranker", "ranker", "settings_of", "space_of"]

RANKERS |= {
    **GRADIENT_METHODS,
    "ranksvm": RankSVM,
    "svmmap": SvmMap,
    "focusedsvm": FocusedSVM,
    "rankboost": RankBoost,
    "adarank": AdaRank,
    "focusedboost": FocusedBoost,
    "bestfeature": BestFeature,
    "coordinate-ascent": CoordinateAscent,
    "perceptron": Perceptron,
    "sigmoid": Sigmoid,
    "qbrank": QBRank,
    "isorank": IsoRank,
    "sortnet": SortNet,
    "click-label": ClickLabelRanker,
    "adaboost-mh": AdaBoostMH,
    "mcsvm": McSVM,
    "mcrank": McRank,
    "tune-and-mix": TuneAndMix,
}
"""Name → what makes the method from its settings.

Usually the method's frozen dataclass itself, whose fields are the settings (each with a plain default) and
whose class attribute ``space`` says what a search may try; or an object with ``defaults(**settings)`` and
``space(**settings)``, where the settings depend on each other.
"""

MODELS |= {
    model.kind: model
    for model in (
        Linear,
        Network,
        Trees,
        Steps,
        Comparator,
        ClickLabel,
        Mixture,
        BoostedTrees,
        BoostedProducts,
        LinearClasses,
        ClassTrees,
    )
}
"""Kind → class of a trained model, for loading."""

COMMON = {f.name: f.default for f in dataclasses.fields(Common)}


def ranker(name: str, **settings: Any) -> Learner:
    """The ranker of this name with these settings, not fitted yet.

    Every ranker takes ``normalise``, ``features``, ``metric``, ``convention`` and ``seed`` besides its own.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [1, 0, 0], ["q", "q", "q"])
    >>> tk.ranker("listnet", l2=0.1).fit(data).rank(data)["q"][0][0]
    'q:1'
    """
    known = settings_of(name, **settings)
    unknown = [key for key in settings if key not in known]
    if unknown:
        raise InputError(f"the ranker {name!r} has no setting {unknown[0]!r}", f"it takes {', '.join(known)}")
    for key, value in settings.items():
        _check_type(key, value, known[key])
    common = Common(**{key: value for key, value in settings.items() if key in COMMON})
    own = {key: value for key, value in settings.items() if key not in COMMON}
    return Learner(name, RANKERS[name](**own), common, dict(settings))


def _check_type(name: str, value: Any, default: Any) -> None:
    """Raise unless a setting has the type of its default: settings come from commands and files too."""
    kinds: dict[type, tuple[tuple[type, ...], str]] = {
        bool: ((bool,), "true or false"),
        int: ((int,), "a whole number"),
        float: ((int, float), "a number"),
        str: ((str,), "a word"),
        tuple: ((tuple, list, int, str), "a list"),
        type(None): ((int, float, type(None)), "a number or none"),
    }
    by_name: dict[str, tuple[tuple[type, ...], str]] = {
        "start": ((tuple, list, type(None)), "a list of weights"),
        "features": ((tuple, list, str, int, type(None)), "a list of feature names"),
        "base_settings": ((dict, type(None)), "a table of settings"),
    }
    wanted, words = by_name.get(name) or kinds[type(default)]
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        raise InputError(f"{name} must be {words}, not {value!r}")


def settings_of(name: str, **settings: Any) -> dict[str, Any]:
    """Every setting of a ranker with its default; what is given may decide which others there are."""
    if name not in RANKERS:
        raise InputError(f"there is no ranker {name!r}", f"choose from {', '.join(RANKERS)}")
    make: Any = RANKERS[name]
    if dataclasses.is_dataclass(make) and isinstance(make, type):
        own = {f.name: f.default for f in dataclasses.fields(make)}
    else:
        own = make.defaults(**{key: value for key, value in settings.items() if key not in COMMON})
    return {**own, **COMMON}


def space_of(name: str, **settings: Any) -> Space:
    """What a search may try for a ranker, without the settings that are given."""
    settings_of(name, **settings)
    make: Any = RANKERS[name]
    space: Any = getattr(make, "space", None) or search_space(declared_settings(make))
    own = {key: value for key, value in settings.items() if key not in COMMON}
    found: Mapping[str, Any] = space(**own) if callable(space) else space
    return {key: choices for key, choices in found.items() if key not in settings}


def load_ranker(path: str | PathLike[str]) -> Learner:
    """The fitted ranker in a file that :meth:`Learner.save` wrote; InputError for any other file."""
    manifest, parts = read_model(path)
    file = fspath(path)
    name, kind = manifest.get("ranker"), manifest.get("model")
    if name not in RANKERS or kind not in MODELS:
        raise InputError(
            f"the model is a {kind!r} of the ranker {name!r}, which this topkit does not know", file=file
        )
    try:
        features = manifest["features"]
        preparation = Preparation(
            str(features["normalisation"]),
            tuple(str(feature) for feature in features["names"]),
            bool(features["named"]),
            None if features["columns"] is None else tuple(int(i) for i in features["columns"]),
        )
        if preparation.normalisation not in NORMALISATION_NAMES:
            raise ValueError(f"unknown normalisation {preparation.normalisation!r}")
        made = ranker(name, **manifest["settings"])
        made.model = MODELS[kind].of_parts(parts)
        made.provenance = dict(manifest["provenance"])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"the model does not fit together ({error})", file=file) from None
    made.preparation = preparation
    return made
