"""How a name and settings become a ranker.

An entry of ``RANKERS`` is usually the method's frozen dataclass, whose fields are its settings; or a
:class:`~topkit.rankers.gradient.Gradient`, whose settings depend on its loss and its scorer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from typing import Any

from topkit.data import InputError
from topkit.data.settings import Setting, Space, check_settings, lookup, search_space, split_assignments
from topkit.data.settings import parse_settings as parse_declared
from topkit.rankers.files import read_model
from topkit.rankers.gradient import Gradient, without_scorer_object
from topkit.rankers.learner import Common, Learner
from topkit.rankers.names import MODELS, RANKERS
from topkit.rankers.preparation import Preparation
from topkit.rankers.transition import settings_of as declared_settings

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
    own = method.settings(**chosen) if isinstance(method, Gradient) else declared_settings(method)
    return {**own, **COMMON}


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
    if name not in RANKERS or kind not in MODELS:
        raise InputError(
            f"this version of topkit does not know the model (kind {kind!r} of the ranker {name!r})",
            "load it with the version of topkit that wrote it",
            file=file,
        )
    try:
        preparation = Preparation.from_dict(manifest["features"])
        model = MODELS[kind].of_parts(parts)
        return ranker(name, **manifest["settings"]).install(preparation, model, [], manifest["provenance"])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"the model file is inconsistent ({error})", file=file) from None
