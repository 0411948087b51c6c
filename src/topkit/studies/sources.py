"""The data of a cell: files named by the fingerprint of their content, folds, and the truth to learn from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from topkit.data import Dataset, Fold, InputError, query_folds, read_letor, read_parquet
from topkit.data.truth import Truth
from topkit.studies.demo_data import demo_path
from topkit.studies.spec import Source
from topkit.studies.teacher import Scores, teacher_scores, with_order

PARTS = ("train", "vali", "test")
FOLDS = 5
"""The number of folds that a single file is split into, as in the LETOR collections."""


class FoldData(NamedTuple):
    """One fold twice: with the truth that rankers learn from, and with the labels of the files."""

    learn: Fold
    labelled: Fold


@dataclass(frozen=True)
class FoldSpec:
    """One fold of a data set, described by the content of its files: one file to split, or three."""

    labels: str
    """What the labels of the file are: grades, a full order or a top-k order."""
    truth: str
    """What rankers learn from."""
    fold: int
    file: str = ""
    """Fingerprint of the file to split; empty if the fold has its own files."""
    train: str = ""
    vali: str = ""
    test: str = ""
    seed: int = 0
    """Seed of the order within grades: of a random order, or of the noise of a teacher."""


Files = tuple[tuple[str, str], ...]
"""(fingerprint, path) pairs: hashable, for the caches."""


# -- on the machine that runs the study ---------------------------------------------------------------------
def describe(source: Source, fold: int, folder: Path, seed: int = 0) -> tuple[FoldSpec, dict[str, str]]:
    """The fold, and fingerprint → path of its files. Raises InputError if a file is missing.

    ``seed`` is that of the order within grades, if the truth to learn from has one.
    """
    _check_truth(source)
    spec = FoldSpec(source.labels, source.truth, fold, seed=0 if source.truth == "labels" else seed)
    if "{fold}" in source.files or "{part}" in source.files:
        return _describe_folds(source, spec, folder)
    if not 1 <= fold <= FOLDS:
        raise InputError(
            f"{source.name!r} has no fold {fold}", f"a single file has folds 1 to {FOLDS}; change folds"
        )
    path = demo_path() if source.files == "demo" else find_file(source.files, folder)
    content = fingerprint(str(path))
    return replace(spec, file=content), {content: str(path)}


def _describe_folds(source: Source, spec: FoldSpec, folder: Path) -> tuple[FoldSpec, dict[str, str]]:
    if "{fold}" not in source.files and spec.fold != 1:
        raise InputError(f"{source.name!r} has only one fold", "write folds = [1], or {fold} in its files")
    paths = [str(find_file(source.files, folder, spec.fold, part)) for part in PARTS]
    train, vali, test = contents = [fingerprint(path) for path in paths]
    return replace(spec, train=train, vali=vali, test=test), dict(zip(contents, paths, strict=True))


def _check_truth(source: Source) -> None:
    labels = Truth.parse(source.labels)
    if source.truth.startswith("teacher-"):
        Truth.parse(source.truth.replace("teacher", "top"))
    elif source.truth not in ("labels", "teacher") and Truth.parse(source.truth).kind == "graded":
        raise InputError("truth = 'graded' is not a choice", "write truth = 'labels' and labels = 'graded'")
    if source.truth.startswith("teacher") and labels.kind != "graded":
        raise InputError(f"a teacher needs graded documents, got {labels}", "use labels = 'graded'")


def _fill(pattern: str, fold: int | None = None, part: str | None = None) -> str:
    data = data_folder() if "{data}" in pattern else ""
    try:
        return pattern.format(data=data, fold=fold, part=part)
    except (KeyError, IndexError, ValueError):
        raise InputError(
            f"invalid file pattern {pattern!r}", "the only placeholders are {data}, {fold} and {part}"
        ) from None


def find_file(pattern: str, folder: Path, fold: int | None = None, part: str | None = None) -> Path:
    """The path of a pattern with {data}, {fold} and {part}, relative to the folder; InputError if missing."""
    path = folder / _fill(pattern, fold, part)
    if not path.is_file():
        raise InputError("the file does not exist", "check the file names in the study", file=path)
    return path


def find_files(pattern: str, folder: Path) -> list[Path]:
    """All files that match a pattern with {data} and wildcards, relative to the folder, sorted."""
    path = folder / _fill(pattern)
    paths = sorted(path.parent.glob(path.name))
    if not paths:
        raise InputError("the file does not exist", "check the file names in the study", file=path)
    return paths


def data_folder() -> str:
    """The folder TOPKIT_DATA, else ../shared/data."""
    named = os.environ.get("TOPKIT_DATA")
    folder = Path(named) if named else Path("..", "shared", "data")
    if not folder.is_dir():
        raise InputError(
            f"the data folder {str(folder)!r} does not exist",
            "set TOPKIT_DATA to the folder of the data sets",
        )
    return str(folder.absolute())


@lru_cache(maxsize=256)
def fingerprint(path: str) -> str:
    """24 hexadecimal digits of the SHA-256 of a file's content."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:24]


# -- on the machine that computes a cell --------------------------------------------------------------------
def load(spec: FoldSpec, files: Mapping[str, str]) -> FoldData:
    """The fold that :func:`describe` described."""
    return _load(spec, tuple(sorted(files.items())))


@lru_cache(maxsize=2)
def _load(spec: FoldSpec, files: Files) -> FoldData:
    plain = replace(spec, truth="labels", seed=0)  # the same key for all truths and seeds of a fold
    labelled = _labelled(plain, files)
    if spec.truth == "labels":
        return FoldData(labelled, labelled)
    if spec.truth.startswith("teacher"):
        scores = _teacher_scores(plain, files)
        taught = Fold(*(with_order(part, scores, spec.seed) for part in labelled))
        if spec.truth == "teacher":
            return FoldData(taught, labelled)
        k = int(spec.truth.partition("-")[2])
        return FoldData(Fold(*(part.top_k(k) for part in taught)), labelled)
    truth = Truth.parse(spec.truth)
    if truth.kind == "order":
        return FoldData(Fold(*(part.as_order(spec.seed) for part in labelled)), labelled)
    return FoldData(Fold(*(part.top_k(truth.k or 1, spec.seed) for part in labelled)), labelled)


@lru_cache(maxsize=4)
def _labelled(spec: FoldSpec, files: Files) -> Fold:
    """The fold with the labels of the files."""
    paths = dict(files)
    if spec.file:
        data = _read(paths[spec.file], spec.file, spec.labels)
        return query_folds(data, FOLDS, seed=0)[spec.fold - 1]
    contents = (spec.train, spec.vali, spec.test)
    return Fold(*(_read(paths[content], content, spec.labels) for content in contents))


@lru_cache(maxsize=4)
def _teacher_scores(spec: FoldSpec, files: Files) -> Scores:
    return teacher_scores(_labelled(spec, files))


def _read(path: str, expected: str, labels: str) -> Dataset:
    if not Path(path).is_file():
        raise InputError(
            "the file does not exist on this machine",
            "make the same folders visible to all workers",
            file=path,
        )
    if fingerprint(path) != expected:
        raise InputError("the file has changed since the study began", "re-run the study", file=path)
    return read_parquet(path) if path.endswith(".parquet") else read_letor(path, truth=labels)
