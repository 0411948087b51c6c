"""The model file: a zip of a JSON manifest, .npy arrays and texts, in formats that any language can read.

Nothing is pickled, so reading an untrusted file runs no code. The same model always gives the same bytes. The
manifest includes the provenance of the model: a fingerprint of its data, and versions.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import zipfile
import zlib
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, InputError
from topkit.scorers import Model, Parts
from topkit.version import __version__

FORMAT = "topkit-ranker"
VERSION = 1
MANIFEST = "manifest.json"
_STAMP = (1980, 1, 1, 0, 0, 0)
"""The earliest date of zip files: the bytes depend on the model only, not on the time."""


def write_model(path: str | PathLike[str], head: Mapping[str, Any], parts: Parts) -> None:
    """Write a manifest (``head`` and the values of the parts), arrays and texts."""
    manifest = {"format": FORMAT, "version": VERSION, **head, "values": dict(parts.values)}
    entries: dict[str, bytes] = {
        MANIFEST: json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False).encode()
    }
    for name, array in sorted(parts.arrays.items()):
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
        entries[f"arrays/{name}.npy"] = stream.getvalue()
    for name, text in sorted(parts.texts.items()):
        entries[f"texts/{name}.txt"] = text.encode()
    target = Path(path)
    if not target.absolute().parent.is_dir():
        raise InputError("the folder does not exist", "create it first", file=target.parent)
    unfinished = target.with_name(target.name + ".part")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name, _STAMP), content, zipfile.ZIP_DEFLATED)
    unfinished.replace(target)  # readers never see an incomplete model


def read_model(path: str | PathLike[str]) -> tuple[dict[str, Any], Parts]:
    """The manifest and the parts of a model file; InputError for any other file."""
    file = fspath(path)
    try:
        with zipfile.ZipFile(file) as archive:
            return _read(archive, file)
    except FileNotFoundError:
        raise InputError(
            "the file does not exist", "pass a file that 'topkit train' wrote", file=file
        ) from None
    except (IsADirectoryError, PermissionError) as error:
        raise InputError(f"cannot read the file ({error.strerror})", file=file) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, UnicodeDecodeError, RuntimeError) as error:
        raise InputError(f"the file is damaged or not a topkit model ({error})", file=file) from None


def _read(archive: zipfile.ZipFile, file: str) -> tuple[dict[str, Any], Parts]:
    names = archive.namelist()
    if MANIFEST not in names:
        raise InputError("not a topkit model: the file has no manifest", file=file)
    try:
        manifest = json.loads(archive.read(MANIFEST))
    except ValueError:
        raise InputError("the manifest of the model is not valid JSON", file=file) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError("not a topkit model: the manifest names another format", file=file)
    if manifest.get("version") != VERSION:
        raise InputError(
            f"expected version {VERSION} of the model format, got {manifest.get('version')!r}",
            "use the version of topkit that wrote the file",
            file=file,
        )
    arrays: dict[str, NDArray[Any]] = {}
    texts: dict[str, str] = {}
    for name in names:
        folder, _, rest = name.partition("/")
        if folder == "arrays" and rest.endswith(".npy"):
            arrays[rest.removesuffix(".npy")] = _array(archive.read(name), name, file)
        elif folder == "texts" and rest.endswith(".txt"):
            texts[rest.removesuffix(".txt")] = archive.read(name).decode()
        elif name != MANIFEST:
            raise InputError(f"the model file has an unknown entry {name!r}", file=file)
    values = manifest.get("values")
    if not isinstance(values, dict):
        raise InputError("the manifest of the model has no values", file=file)
    return manifest, Parts(values, arrays, texts)


def _array(content: bytes, name: str, file: str) -> NDArray[Any]:
    try:
        return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except ValueError as error:
        raise InputError(f"the entry {name!r} is not a valid array ({error})", file=file) from None


def fingerprint(data: Dataset) -> str:
    """SHA-256 of features, labels, queries and kind of truth; it does not depend on the file format.

    >>> a = Dataset.build([[1.0], [0.5]], [1, 0], ["q", "q"])
    >>> fingerprint(a) == fingerprint(Dataset.build([[1.0], [0.5]], [0, 1], ["q", "q"]))
    False
    """
    digest = hashlib.sha256()
    digest.update(repr((data.X.shape, str(data.truth), data.qids)).encode("utf-8", "surrogateescape"))
    for array in (data.X, data.y, data.ptr):
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()


def describe(data: Dataset) -> dict[str, Any]:
    """The size, kind of truth and fingerprint of a data set."""
    return {
        "sha256": fingerprint(data),
        "queries": data.n_queries,
        "documents": len(data),
        "features": data.n_features,
        "truth": str(data.truth),
    }


def provenance(
    model: Model,
    train: Mapping[str, Any],
    valid: Dataset | None,
    preferences: int | None = None,
    clicks: bool = False,
) -> dict[str, Any]:
    """The data and the versions that a model was made with; ``train`` comes from :func:`describe`."""
    from importlib.metadata import version

    return {
        "train": dict(train),
        "valid": None if valid is None else describe(valid),
        "preferences": preferences,
        "clicks": clicks,
        "versions": {
            "python": platform.python_version(),
            "topkit": __version__,
            **{package: version(package) for package in ("numpy", *model.requires)},
        },
    }
