"""Targets for model files: each kind is trained once, then its zip, manifest, arrays or trees are damaged."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.fuzz.arrays import damaged_array
from bench.fuzz.mutate import mutate, number
from bench.fuzz.structure import damaged_json
from bench.fuzz.target import DifferenceError, Prepared

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "linear": ("listnet", {}),
    "network": ("listnet", {"scorer": "mlp", "epochs": 2, "hidden": (3,)}),
    "trees": ("lambdamart", {"trees": 3, "leaves": 4, "min_leaf": 2}),
    "steps": ("rankboost", {"rounds": 3, "thresholds": 4}),
    "radial-kernel": ("ranksvm-rbf", {"points": 5, "gamma": 0.3, "C": 0.1}),
    "comparator": ("sortnet", {"rounds": 1, "epochs": 2, "hidden": 2}),
    "click-label": ("click-label", {"slots": 16}),
    "mixture": (
        "tune-and-mix",
        {"trees": (3,), "products": (2,), "rounds": 2, "rankers": ("listnet",),
         "calibrations": ("log-sigmoid", "linear")},
    ),
    "boosted-trees": ("adaboost-mh", {"rounds": 3, "size": 3}),
    "boosted-products": ("adaboost-mh", {"rounds": 2, "size": 2, "form": "product"}),
    "linear-classes": ("mcsvm", {"C": 1.0}),
    "class-trees": ("mcrank", {"trees": 2, "leaves": 3, "min_leaf": 2}),
    "calibrated": ("listnet", {}),
}  # fmt: skip
"""Kind of model → a ranker that makes one, and settings that keep it small. It has all of MODELS."""

Entries = list[tuple[str, bytes]]


def target(kind: str) -> Callable[[Path], Prepared]:
    """The target for a kind of model."""

    def prepare(folder: Path) -> Prepared:
        return _prepare(kind, folder)

    return prepare


def _prepare(kind: str, folder: Path) -> Prepared:
    from topkit.rankers import calibrate_scores, load_ranker, ranker
    from topkit.rankers.checks import easy_data

    whole = folder / "whole.model"
    test = easy_data(2, seed=5)
    if not whole.exists():
        name, settings = KINDS[kind]
        fitted = ranker(name, **settings).fit(easy_data(6), easy_data(3, seed=1))
        if kind == "calibrated":
            fitted = calibrate_scores(fitted, easy_data(6))
        fitted.save(whole)
    original = whole.read_bytes()
    path = folder / "damaged.model"

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        loaded = load_ranker(path)
        scores = loaded.ordering_scores(test)
        if scores.shape != (len(test),) or scores.dtype.kind != "f":
            raise DifferenceError(f"scores of shape {scores.shape} and type {scores.dtype}")
        if np.isnan(scores).any():
            raise DifferenceError("the model loads, but a score is NaN")

    def damage(rng: Random, content: bytes) -> bytes:
        return _damaged(rng, content)

    return Prepared(check, lambda rng: original, (b"PK\x01\x02", b"PK\x05\x06"), damage, valid_share=0.01)


def entries_of(content: bytes) -> Entries:
    """The names and contents of a zip."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def zipped(entries: Entries, compress: bool = False) -> bytes:
    """A zip of entries; the names may repeat."""
    stream = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, method)
    return stream.getvalue()


def _damaged(rng: Random, content: bytes) -> bytes:
    """A model file that is a valid zip, with a damaged manifest, array or text, or with other entries."""
    entries = entries_of(content)
    for _ in range(rng.choice((1, 1, 1, 2))):
        if not entries:
            break
        if rng.random() < 0.06:
            _change_entries(rng, entries)
            continue
        texts = [i for i, (name, _) in enumerate(entries) if name.endswith(".txt")]
        i = rng.choice(texts) if texts and rng.random() < 0.5 else rng.randrange(len(entries))
        name, inner = entries[i]
        entries[i] = (name, _damaged_entry(rng, name, inner))
    return zipped(entries, compress=rng.random() < 0.1)


def _damaged_entry(rng: Random, name: str, content: bytes) -> bytes:
    if rng.random() < 0.15:
        return mutate(rng, content)
    try:
        if name.endswith(".json"):
            return damaged_json(rng, content)
        if name.endswith(".npy"):
            return damaged_array(rng, content)
    except (ValueError, RecursionError):
        return mutate(rng, content)
    return _damaged_trees(rng, content)


def _damaged_trees(rng: Random, content: bytes) -> bytes:
    """LightGBM's text with another value, or another number of values, in one of its lines."""
    lines = content.split(b"\n")
    keyed = [i for i, line in enumerate(lines) if b"=" in line]
    if not keyed:
        return mutate(rng, content)
    i = rng.choice(keyed)
    key, _, rest = lines[i].partition(b"=")
    values = rest.split(b" ")
    place = rng.randrange(len(values))
    change = rng.randrange(6)
    if change <= 2:
        small = str(rng.randrange(-6, 9)).encode()
        values[place] = small if rng.random() < 0.6 else number(rng)
    elif change == 3:
        del values[place]
    elif change == 4:
        values.insert(place, values[place])
    else:
        key = rng.choice((key + b"x", rng.choice([lines[j].partition(b"=")[0] for j in keyed])))
    lines[i] = key + b"=" + b" ".join(values)
    if rng.random() < 0.1:
        del lines[rng.randrange(len(lines))]
    return _right_sizes(b"\n".join(lines)) if rng.random() < 0.8 else b"\n".join(lines)


def _right_sizes(text: bytes) -> bytes:
    """The text with the right ``tree_sizes``, so that LightGBM reads the damaged tree at all."""
    starts = [match.start() for match in re.finditer(rb"^Tree=", text, re.MULTILINE)]
    end = text.find(b"end of trees")
    if not starts or end < 0:
        return text
    bounds = [*starts, end]
    sizes = b" ".join(str(last - first).encode() for first, last in pairwise(bounds))
    return re.sub(rb"^tree_sizes=.*$", b"tree_sizes=" + sizes, text, count=1, flags=re.MULTILINE)


def _change_entries(rng: Random, entries: Entries) -> None:
    i = rng.randrange(len(entries))
    change = rng.randrange(4)
    if change == 0:
        del entries[i]
    elif change == 1:
        entries.append(entries[i])
    elif change == 2:
        entries.append((rng.choice(("x", "arrays/x.npy", "../x", "arrays/../x.npy", "texts/é.txt")), b"x"))
    else:
        entries[i] = (entries[rng.randrange(len(entries))][0], entries[i][1])
