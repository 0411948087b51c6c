"""Study files: TOML, checked when read. Unknown keys are rejected with the nearest known name."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from topkit.data import InputError
from topkit.data.files import FilePath
from topkit.data.setting_types import brief
from topkit.data.settings import check_settings, lookup, settings_of, suggestion
from topkit.metrics import convention as convention_named
from topkit.metrics import metric, parse_metrics
from topkit.rankers import ranker
from topkit.studies.kind import Kind
from topkit.studies.kinds import KINDS
from topkit.studies.spec import Contestant, Source, Study

Json = Any

KEYS = ("kind", "title", "data", "rankers", "metrics", "convention", "choose", "seeds", "settings")
SOURCE_KEYS = ("name", "files", "folds", "labels", "truth", "convention")
RANKER_KEYS = ("ranker", "name", "set", "try", "trials")


def read_study(path: FilePath) -> Study[Any]:
    """Read and check the study in a TOML file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError("the file does not exist", "write one with 'topkit study new'", file=path) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the file cannot be read ({error})", file=path) from None
    return parse_study(text, path)


def parse_study(text: str, path: FilePath = "study.toml") -> Study[Any]:
    """The study that a TOML text describes; ``path`` is used for messages and for relative paths.

    >>> parse_study('kind = "compare"\\nrankers = ["listnet", "ranksvm"]').rankers[1].ranker
    'ranksvm'
    >>> parse_study('kind = "compare"\\nranker = ["listnet"]')
    Traceback (most recent call last):
    topkit.data.errors.InputError: study.toml: unknown key 'ranker'; did you mean 'rankers'?
    """
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise InputError("the TOML is nested too deeply", "see 'topkit study new'", file=path) from None
    except ValueError as error:  # TOMLDecodeError, or a number with thousands of digits
        raise InputError(f"invalid TOML ({error})", "see 'topkit study new'", file=path) from None
    try:
        _check_keys(content, KEYS, "key")
        name = str(content.get("kind"))
        return _study(content, name, lookup(KINDS, name, "kind of study"), Path(path))
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(error.problem, error.remedy, file=path) from None


def _study(content: Mapping[str, Json], name: str, kind: Kind[Any, Any], path: Path) -> Study[Any]:
    names = [str(text) for text in _list(content.get("metrics", list(kind.metrics)), "metrics")]
    metrics = tuple(map(str, parse_metrics(names))) if names else ()
    return Study(
        kind=name,
        title=str(content.get("title", kind.summary[0].upper() + kind.summary[1:])),
        data=_sources(content, kind) if kind.learns else (),
        rankers=_contestants(content, kind),
        metrics=metrics,
        choose=str(metric(str(content.get("choose", metrics[0] if metrics else "ndcg@10")))),
        seeds=_seeds(content),
        settings=_settings(content, name, kind),
        folder=path.absolute().parent,
    )


def _seeds(content: Mapping[str, Json]) -> tuple[int, ...]:
    seeds = tuple(_list(content.get("seeds", [0]), "seeds"))
    if not seeds or not all(_is_integer(seed) and 0 <= seed < 2**32 for seed in seeds):
        raise InputError(f"seeds must be integers of at least 0 and below {2**32}, got {brief(list(seeds))}")
    return seeds


def _settings(content: Mapping[str, Json], name: str, kind: Kind[Any, Any]) -> Any:
    values = content.get("settings", {})
    if not isinstance(values, dict):
        raise InputError("settings must be a table", "write [settings] and its lines below")
    settings = kind.code.settings
    return settings(**check_settings(settings_of(settings), values, f"kind of study {name!r}"))


def _sources(content: Mapping[str, Json], kind: Kind[Any, Any]) -> tuple[Source, ...]:
    defaults = {"convention": str(content.get("convention", "yahoo")), "truth": kind.truth}
    records = _list(content.get("data", [{"name": "demo"}]), "data")
    sources = tuple(_source(record, defaults) for record in records)
    _check_unique([source.name for source in sources], "data sets")
    for source in sources:
        convention_named(source.convention)
    return sources


def _source(record: Json, defaults: Mapping[str, str]) -> Source:
    if not isinstance(record, dict) or not record.get("name"):
        raise InputError("a data set needs a name", 'write [[data]] and name = "…"')
    _check_keys(record, SOURCE_KEYS, "key of a data set")
    folds = record.get("folds", [1, 2, 3, 4, 5])
    if not isinstance(folds, list) or not folds or not all(_is_integer(fold) for fold in folds):
        raise InputError(f"folds must be a list of integers, got {brief(folds)}")
    words = {key: str(record[key]) for key in SOURCE_KEYS if key != "folds" and key in record}
    return Source(**{**defaults, **words}, folds=tuple(folds))


def _contestants(content: Mapping[str, Json], kind: Kind[Any, Any]) -> tuple[Contestant, ...]:
    records = _list(content.get("rankers", list(kind.rankers)), "rankers")
    contestants = tuple(_contestant(record) for record in records)
    _check_unique([contestant.name for contestant in contestants], "rankers")
    return contestants


def _contestant(record: Json) -> Contestant:
    if isinstance(record, str):
        record = {"ranker": record}
    if not isinstance(record, dict) or "ranker" not in record:
        raise InputError(
            f"invalid ranker {brief(record)}", 'write "listnet" or { ranker = "listnet", set = { … } }'
        )
    _check_keys(record, RANKER_KEYS, "key of a ranker")
    name, settings, choices = str(record["ranker"]), record.get("set", {}), record.get("try", {})
    if not isinstance(settings, dict):
        raise InputError(f"set must be a table, got {brief(settings)}", "write set = { beta = 0.5 }")
    tables = isinstance(choices, dict)
    if not tables or not all(isinstance(values, list) and values for values in choices.values()):
        raise InputError("try needs a list of values for each setting", "write try = { beta = [0.1, 0.5] }")
    # Unknown names and wrong values are reported now instead of in a cell.
    if "name" in settings or "name" in choices:
        raise InputError(f"the ranker {name!r} has no setting 'name'", "write name beside ranker")
    first = {**settings, **{key: values[0] for key, values in choices.items()}}
    ranker(name, **first)
    for key, values in choices.items():
        for value in values[1:]:
            ranker(name, **{**first, key: value})
    return Contestant(
        name,
        str(record.get("name", name)),
        settings,
        {key: tuple(values) for key, values in choices.items()},
        _trials(record),
    )


def _trials(record: Mapping[str, Json]) -> int:
    trials = record.get("trials", 1)
    if not _is_integer(trials) or trials < 1:
        raise InputError(f"trials must be an integer of at least 1, got {brief(trials)}")
    return int(trials)


def _is_integer(value: Json) -> bool:
    """Whether a value is an integer of 64 bits, as TOML says."""
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _list(value: Json, name: str) -> list[Json]:
    if not isinstance(value, list):
        raise InputError(f"{name} must be a list, got {brief(value)}", f"write {name} = [ … ]")
    return value


def _check_keys(keys: Iterable[str], known: Iterable[str], what: str) -> None:
    for key in keys:
        if key not in known:
            raise InputError(
                f"unknown {what} {key!r}", suggestion(key, known, f"choose from {', '.join(known)}")
            )


def _check_unique(names: list[str], what: str) -> None:
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"two {what} have the name {repeated!r}", "give each a different name")
