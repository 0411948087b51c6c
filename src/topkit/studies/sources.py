"""The data of a cell: files named by the fingerprint of their content, folds, and the truth to learn from."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from topkit.data import Dataset, Fold, InputError, query_folds, read_letor, read_parquet
from topkit.data.truth import Truth
from topkit.studies.demo_data import demo_path
from topkit.studies.spec import Source
from topkit.studies.teacher import Labels, teacher_labels, with_order

PARTS = ("train", "vali", "test")
COUNT = 5
"""Folds that one file is split into."""

Described = tuple[dict[str, Any], dict[str, str]]
"""What the data is, by content; and where each content lies."""


class Round(NamedTuple):
    """One fold twice: with the truth that rankers learn from, and with the labels of the files."""

    learn: Fold
    labelled: Fold


def describe(source: Source, fold: int, folder: Path) -> Described:
    """What a cell on this fold depends on. Raises InputError if a file is missing."""
    _check_truth(source)
    what: dict[str, Any] = {"labels": source.labels, "truth": source.truth, "fold": fold}
    if "{fold}" in source.files or "{part}" in source.files:
        if "{fold}" not in source.files and fold != 1:
            raise InputError(
                f"there is one fold of {source.name!r}", "write folds = [1], or {fold} in its files"
            )
        # The teacher of a query is fitted on the folds that do not test on it, so it needs all of them.
        numbers = _all_folds(source.files, folder) if source.truth.startswith("teacher") else [fold]
        if fold not in numbers:
            raise InputError(f"there is no fold {fold} of {source.name!r}", f"there are {numbers}")
        files = {
            str(number): {part: _found(source.files, folder, number, part) for part in PARTS}
            for number in numbers
        }
        prints = {
            number: {part: fingerprint(str(path)) for part, path in own.items()}
            for number, own in files.items()
        }
        what["files"] = prints
        where = {prints[number][part]: str(files[number][part]) for number in files for part in PARTS}
        return what, where
    if not 1 <= fold <= COUNT:
        raise InputError(f"there is no fold {fold} of {source.name!r}", f"one file has folds 1 to {COUNT}")
    path = demo_path() if source.files == "demo" else _found(source.files, folder)
    what["file"] = fingerprint(str(path))
    return what, {what["file"]: str(path)}


def _all_folds(pattern: str, folder: Path) -> list[int]:
    """Folds 1, 2, … as far as there are files."""
    found = [1]
    while "{fold}" in pattern and Path(folder, _filled(pattern, found[-1] + 1, "test")).is_file():
        found.append(found[-1] + 1)
    return found


def _check_truth(source: Source) -> None:
    labels = Truth.parse(source.labels)
    if source.truth.startswith("teacher-"):
        Truth.parse(source.truth.replace("teacher", "top"))
    elif source.truth not in ("labels", "teacher") and Truth.parse(source.truth).kind == "graded":
        raise InputError("truth 'graded' is called 'labels' here", "or say labels = 'graded'")
    if source.truth.startswith("teacher") and labels.kind != "graded":
        raise InputError(f"a teacher orders graded documents, not {labels} ones", "use labels = 'graded'")


def _filled(pattern: str, fold: int | None = None, part: str | None = None) -> str:
    data = data_folder() if "{data}" in pattern else ""
    try:
        return pattern.format(data=data, fold=fold, part=part)
    except (KeyError, IndexError, ValueError):
        raise InputError(f"{pattern!r} cannot be filled in", "use {data}, {fold} and {part} only") from None


def _found(pattern: str, folder: Path, fold: int | None = None, part: str | None = None) -> Path:
    path = folder / _filled(pattern, fold, part)
    if not path.is_file():
        raise InputError("there is no such file", "check the files of the study", file=path)
    return path


def data_folder() -> str:
    """The folder TOPKIT_DATA, else ../shared/data."""
    named = os.environ.get("TOPKIT_DATA")
    folder = Path(named) if named else Path("..", "shared", "data")
    if not folder.is_dir():
        raise InputError(
            f"there is no data folder {str(folder)!r}", "set TOPKIT_DATA to the folder of the data sets"
        )
    return str(folder.absolute())


@lru_cache(maxsize=256)
def fingerprint(path: str) -> str:
    """SHA-256 of a file's content, in short."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:24]


# -- in a cell ---------------------------------------------------------------------------------------------
def load(what: Mapping[str, Any], where: Mapping[str, str]) -> Round:
    """The fold that :func:`describe` described."""
    return _load(json.dumps(what, sort_keys=True), json.dumps(dict(where), sort_keys=True))


@lru_cache(maxsize=2)
def _load(what_text: str, where_text: str) -> Round:
    what = json.loads(what_text)
    fold = int(what["fold"])
    files = json.dumps({key: what[key] for key in ("labels", "file", "files") if key in what})
    labelled = _rounds(files, where_text)[fold]
    truth = what["truth"]
    if truth == "labels":
        return Round(labelled, labelled)
    if truth.startswith("teacher"):
        labels = _taught(files, where_text)
        taught = Fold(*(with_order(part, labels) for part in labelled))
        if truth == "teacher":
            return Round(taught, labelled)
        k = int(truth.partition("-")[2])
        return Round(Fold(*(part.top_k(k) for part in taught)), labelled)
    wanted = Truth.parse(truth)
    if wanted.kind == "order":
        return Round(Fold(*(part.as_order(seed=0) for part in labelled)), labelled)
    return Round(Fold(*(part.top_k(wanted.k or 1, seed=0) for part in labelled)), labelled)


@lru_cache(maxsize=2)
def _rounds(what_text: str, where_text: str) -> dict[int, Fold]:
    what, where = json.loads(what_text), json.loads(where_text)
    if "files" in what:
        return {
            int(number): Fold(*(_read(where[prints[part]], prints[part], what["labels"]) for part in PARTS))
            for number, prints in what["files"].items()
        }
    data = _read(where[what["file"]], what["file"], what["labels"])
    return dict(enumerate(query_folds(data, COUNT, seed=0), 1))


@lru_cache(maxsize=2)
def _taught(what_text: str, where_text: str) -> Labels:
    return teacher_labels(_rounds(what_text, where_text))


def _read(path: str, expected: str, labels: str) -> Dataset:
    if not Path(path).is_file():
        raise InputError(
            "there is no such file on this machine", "let all workers see the same folders", file=path
        )
    if fingerprint(path) != expected:
        raise InputError("the file has changed since the study began", "run the study again", file=path)
    return read_parquet(path) if path.endswith(".parquet") else read_letor(path, truth=labels)
