"""A study as a TOML file: read, checked and frozen. An unknown key is refused with the nearest name."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from topkit.data import InputError
from topkit.data.files import FilePath
from topkit.metrics import convention as convention_named
from topkit.metrics import metric
from topkit.studies.kind import Kind, Setting

Json = Any


@dataclass(frozen=True)
class Source:
    """A data set: where it is, how it is folded, and which truth is learnt from."""

    name: str
    files: str = "demo"
    """``demo`` for the embedded data, one file, or a pattern with {fold} and {part} (train, vali, test).
    {data} is the folder TOPKIT_DATA, else ../shared/data; other paths start where the study file is."""
    folds: tuple[int, ...] = (1, 2, 3, 4, 5)
    """The folds to run. One file is split into five, at random (seed 0)."""
    labels: str = "graded"
    """What the labels in the files mean: graded, order or top-K."""
    truth: str = "labels"
    """What rankers learn from: the labels as they are; top-K (a random order that agrees with the grades, cut
    at K); teacher (a full order: grades, then a ranker fitted on the other folds, with noise); or teacher-K,
    the top K of that."""
    convention: str = "yahoo"
    """The convention of its measures; that of the study unless given."""


@dataclass(frozen=True)
class Contestant:
    """A ranker with its settings and what to try on validation data."""

    ranker: str
    name: str = ""
    """As shown; the ranker's own name unless given."""
    settings: Mapping[str, Json] = field(default_factory=dict)
    choices: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    """Setting → values; every combination is fitted, and the best on validation data is kept."""
    trials: int = 1
    """More than 1: so many settings are drawn from the ranker's own search space."""


@dataclass(frozen=True)
class Study:
    """A frozen specification; ``settings`` holds every setting of its kind."""

    kind: str
    title: str
    data: tuple[Source, ...]
    rankers: tuple[Contestant, ...]
    metrics: tuple[str, ...]
    choose: str
    """The measure that settings are chosen by on validation data."""
    seeds: tuple[int, ...]
    settings: Mapping[str, Json]
    folder: Path = Path()
    """Where relative paths start."""


KEYS = ("kind", "title", "data", "rankers", "metrics", "convention", "choose", "seeds", "settings")
SOURCE_KEYS = ("name", "files", "folds", "labels", "truth", "convention")
RANKER_KEYS = ("ranker", "name", "set", "try", "trials")


def read_study(path: FilePath) -> Study:
    """The study in a TOML file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError("there is no such file", "write one with 'topkit study new'", file=path) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the file cannot be read ({error})", file=path) from None
    return parse_study(text, path)


def parse_study(text: str, path: FilePath = "study.toml") -> Study:
    """The study that a TOML text describes; ``path`` is for messages and relative paths.

    >>> parse_study('kind = "compare"\\nrankers = ["listnet", "ranksvm"]').rankers[1].ranker
    'ranksvm'
    >>> parse_study('kind = "compare"\\nranker = ["listnet"]')
    Traceback (most recent call last):
    topkit.data.errors.InputError: study.toml: unknown key 'ranker'; did you mean 'rankers'?
    """
    from topkit.studies.kinds import KINDS

    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"this is not TOML ({error})", "see 'topkit study new'", file=path) from None
    try:
        _known(given, KEYS, "key")
        name = given.get("kind")
        if name not in KINDS:
            raise InputError(
                f"unknown kind of study {name!r}",
                _nearest(str(name), KINDS, f"choose from {', '.join(KINDS)}"),
            )
        return _study(given, str(name), KINDS[str(name)], Path(path))
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(error.problem, error.remedy, file=path) from None


def _study(given: Mapping[str, Json], name: str, kind: Kind, path: Path) -> Study:
    usual = {"convention": str(given.get("convention", "yahoo")), "truth": kind.truth}
    sources = tuple(_source(one, usual) for one in _list(given.get("data", [{"name": "demo"}]), "data"))
    again = _repeated([source.name for source in sources])
    if again:
        raise InputError(f"two data sets are named {again!r}", "give each a name of its own")
    rankers = tuple(_contestant(one) for one in _list(given.get("rankers", list(kind.rankers)), "rankers"))
    again = _repeated([one.name for one in rankers])
    if again:
        raise InputError(f"two rankers are named {again!r}", "give one of them another name")
    metrics = tuple(str(metric(text)) for text in _list(given.get("metrics", list(kind.metrics)), "metrics"))
    for source in sources:
        convention_named(source.convention)
    seeds = tuple(_list(given.get("seeds", [0]), "seeds"))
    if not seeds or not all(isinstance(seed, int) and seed >= 0 for seed in seeds):
        raise InputError(f"seeds must be whole numbers from 0, not {list(seeds)}")
    own = given.get("settings", {})
    if not isinstance(own, dict):
        raise InputError("settings must be a table", "write [settings] and its lines below")
    _known(own, kind.settings, f"setting of the kind {name!r}")
    settings = {
        key: _setting(key, own.get(key, setting.default), setting) for key, setting in kind.settings.items()
    }
    return Study(
        name,
        str(given.get("title", path.stem)),
        sources if kind.learns else (),
        rankers,
        metrics,
        str(metric(str(given.get("choose", metrics[0] if metrics else "ndcg@10")))),
        seeds,
        settings,
        path.absolute().parent,
    )


def _source(given: Json, usual: Mapping[str, str]) -> Source:
    if not isinstance(given, dict) or not given.get("name"):
        raise InputError("a data set needs a name", 'write [[data]] and name = "…"')
    _known(given, SOURCE_KEYS, "key of a data set")
    folds = given.get("folds", [1, 2, 3, 4, 5])
    if not isinstance(folds, list) or not folds or not all(isinstance(fold, int) for fold in folds):
        raise InputError(f"folds must be a list of numbers, not {folds!r}")
    words = {key: str(given[key]) for key in SOURCE_KEYS if key != "folds" and key in given}
    return Source(**{**usual, **words}, folds=tuple(folds))


def _contestant(given: Json) -> Contestant:
    from topkit.rankers import ranker

    if isinstance(given, str):
        given = {"ranker": given}
    if not isinstance(given, dict) or "ranker" not in given:
        raise InputError(f"{given!r} is no ranker", 'write "listnet" or { ranker = "listnet", set = { … } }')
    _known(given, RANKER_KEYS, "key of a ranker")
    settings, choices = given.get("set", {}), given.get("try", {})
    for first in [dict.fromkeys(()), *({key: value[0]} for key, value in choices.items() if value)]:
        ranker(str(given["ranker"]), **settings, **first)  # unknown names and wrong values are told now
    if not all(isinstance(values, list) and values for values in choices.values()):
        raise InputError("what to try must be lists of values", "write try = { beta = [0.1, 0.5] }")
    return Contestant(
        str(given["ranker"]),
        str(given.get("name", given["ranker"])),
        settings,
        {key: tuple(values) for key, values in choices.items()},
        int(given.get("trials", 1)),
    )


def _setting(name: str, value: Json, setting: Setting) -> Json:
    """The value, checked against the type of the default and the words allowed."""
    default = setting.default
    kinds: dict[type, tuple[type, ...]] = {float: (int, float), int: (int,), str: (str,), bool: (bool,)}
    example = default[0] if isinstance(default, list) else default
    values = value if isinstance(default, list) else [value]
    if not isinstance(values, list) or not values:
        raise InputError(f"{name} must be a list that is not empty, not {value!r}", f"for example {default}")
    for one in values:
        if not isinstance(one, kinds[type(example)]) or (
            isinstance(one, bool) and not isinstance(example, bool)
        ):
            raise InputError(f"{one!r} is no value for {name}", f"for example {default!r}")
        if setting.choices and one not in setting.choices:
            raise InputError(
                f"{one!r} is no value for {name}",
                _nearest(str(one), setting.choices, f"choose from {', '.join(setting.choices)}"),
            )
    return (
        [float(one) for one in values] if isinstance(default, list) and isinstance(example, float) else value
    )


def _list(value: Json, name: str) -> list[Json]:
    if not isinstance(value, list):
        raise InputError(f"{name} must be a list, not {value!r}", f"write {name} = [ … ]")
    return value


def _known(given: Iterable[str], names: Iterable[str], what: str) -> None:
    for key in given:
        if key not in names:
            raise InputError(f"unknown {what} {key!r}", _nearest(key, names, f"known are {', '.join(names)}"))


def _nearest(word: str, names: Iterable[str], otherwise: str) -> str:
    near = get_close_matches(word, list(names), 1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def _repeated(names: list[str]) -> str | None:
    return next((name for name in names if names.count(name) > 1), None)
