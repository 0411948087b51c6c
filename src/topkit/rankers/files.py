"""The model file: a zip of a JSON manifest, .npy arrays and texts, in formats that any language can read.

Nothing is pickled, so reading an untrusted file runs no code. The same model always gives the same bytes. The
manifest includes the provenance of the model: a fingerprint of its data, and versions.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import math
import os
import platform
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, InputError
from topkit.data.blocks import STANDARD_INPUT, whole_file
from topkit.data.files import written_whole
from topkit.scorers import Model, Parts
from topkit.version import __version__

FORMAT = "topkit-ranker"
VERSION = 1
MANIFEST = "manifest.json"
MAX_BYTES = 2 << 30
"""Unpacked size of a model file."""
MAX_RATIO = 200
"""Unpacked size over file size, above :data:`UNCHECKED_BYTES`; models compress far less, bombs far more."""
UNCHECKED_BYTES = 64 << 20
"""Up to this unpacked size any ratio is allowed: a table of equal numbers compresses a thousandfold."""
MAX_ENTRIES = 20_000
"""Arrays and texts of a model file."""
MAX_DIRECTORY = MAX_ENTRIES * 200
"""Bytes of the zip file's list of contents."""
MAX_MANIFEST = 8 << 20
"""Size of the manifest."""
_TAIL = 22 + (1 << 16) + 20
"""The end of a zip file: its closing record, the longest comment, and the mark of the 64-bit format."""
_BLOCK = 1 << 20
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError, EOFError, OSError,
    ValueError, RuntimeError, KeyError, TypeError, OverflowError, MemoryError, SyntaxError,
)  # fmt: skip
"""What zipfile, its decompressors and NumPy raise for damaged files."""
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
    with written_whole(path) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name, _STAMP), content, zipfile.ZIP_DEFLATED)


def read_model(path: str | PathLike[str]) -> tuple[dict[str, Any], Parts]:
    """The manifest and the parts of a model file; InputError for any other file."""
    file = fspath(path)
    try:
        with _opened(file) as stream:
            _check_directory(stream, file)
            with zipfile.ZipFile(stream) as archive:
                _check_sizes(archive, stream.seek(0, os.SEEK_END), file)
                return _read(archive, file)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(
            "the file does not exist", "pass a file that 'topkit train' wrote", file=file
        ) from None
    except (IsADirectoryError, PermissionError) as error:
        raise InputError(f"cannot read the file ({error.strerror})", file=file) from None
    except _DAMAGE as error:
        raise InputError(f"the file is damaged or not a topkit model ({error})", file=file) from None


def _opened(file: str) -> BinaryIO:
    """The file as a stream that can seek; standard input (``-``) is read into memory first."""
    return io.BytesIO(whole_file(file)) if file == STANDARD_INPUT else open(file, "rb")


def _check_directory(stream: BinaryIO, file: str) -> None:
    """Refuse a list of contents that is too long to be read; zipfile would build an object per entry."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - _TAIL, 0))
    tail = stream.read()
    at = len(tail) - 22
    if tail[at : at + 4] != b"PK\5\6":
        at = tail.rfind(b"PK\5\6")
    if at < 0:
        raise InputError("the file is damaged or not a topkit model (not a zip file)", file=file)
    declared = int.from_bytes(tail[at + 12 : at + 16], "little")
    if declared > MAX_DIRECTORY or (at >= 20 and tail[at - 20 : at - 16] == b"PK\6\7"):
        raise InputError(f"the model file has more than {MAX_ENTRIES:,} entries", file=file)


def _check_sizes(archive: zipfile.ZipFile, packed: int, file: str) -> None:
    """Refuse a file that would fill the memory, before anything is unpacked."""
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise InputError(f"the model file has more than {MAX_ENTRIES:,} entries", file=file)
    if len({entry.filename for entry in entries}) != len(entries):
        raise InputError("the model file has two entries with one name", file=file)
    total = sum(entry.file_size for entry in entries)
    if total > MAX_BYTES or total > max(MAX_RATIO * packed, UNCHECKED_BYTES):
        raise InputError(
            f"the model file unpacks to {total / 1e6:,.0f} MB, {total / max(packed, 1):,.0f} times its size",
            f"expected at most {MAX_BYTES >> 30} GB and, above {UNCHECKED_BYTES >> 20} MB, "
            f"at most {MAX_RATIO} times its size",
            file=file,
        )
    for entry in entries:
        if entry.filename == MANIFEST and entry.file_size > MAX_MANIFEST:
            raise InputError(f"the manifest of the model is larger than {MAX_MANIFEST >> 20} MB", file=file)


def _read(archive: zipfile.ZipFile, file: str) -> tuple[dict[str, Any], Parts]:
    names = archive.namelist()
    manifest = _manifest(archive, names, file)
    arrays: dict[str, NDArray[Any]] = {}
    texts: dict[str, str] = {}
    for name in names:
        folder, _, rest = name.partition("/")
        if folder == "arrays" and rest.endswith(".npy"):
            arrays[rest.removesuffix(".npy")] = _array(archive, name, file)
        elif folder == "texts" and rest.endswith(".txt"):
            texts[rest.removesuffix(".txt")] = archive.read(name).decode()
        elif name != MANIFEST:
            raise InputError(f"the model file has an unknown entry {name!r}", file=file)
    return manifest, Parts(manifest["values"], arrays, texts)


def _manifest(archive: zipfile.ZipFile, names: list[str], file: str) -> dict[str, Any]:
    if MANIFEST not in names:
        raise InputError("not a topkit model: the file has no manifest", file=file)
    try:
        manifest = json.loads(archive.read(MANIFEST), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise InputError("the manifest of the model is not valid JSON", file=file) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError("not a topkit model: the manifest names another format", file=file)
    version = manifest.get("version")
    if type(version) is not int or version != VERSION:
        raise InputError(
            f"expected version {VERSION} of the model format, got {repr(version)[:40]}",
            "use the version of topkit that wrote the file",
            file=file,
        )
    if not isinstance(manifest.get("values"), dict):
        raise InputError("the manifest of the model has no values", file=file)
    return manifest


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _array(archive: zipfile.ZipFile, name: str, file: str) -> NDArray[Any]:
    """An array, read straight into its memory after its header was compared with the size of the entry."""
    try:
        with cast(zipfile.ZipExtFile, archive.open(name)) as stream:
            major, _ = np.lib.format.read_magic(stream)
            read_header = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
            shape, column_first, dtype = read_header[major](stream)
            size = math.prod(shape) * dtype.itemsize
            rest = archive.getinfo(name).file_size - stream.tell()
            if dtype.hasobject or dtype.kind not in "biuf" or dtype.itemsize > 8:
                raise ValueError(f"expected numbers, got {dtype}")
            if min(shape, default=1) < 0 or size != rest:
                raise ValueError(f"shape {shape} needs {size} bytes, the entry has {rest}")
            array = np.empty(shape, dtype, order="F" if column_first else "C")
            flat = array.ravel(order="K").view(np.uint8).data
            done = 0
            while done < size and (count := stream.readinto(flat[done : done + _BLOCK])):
                done += count
            if done != size or stream.read(1):
                raise ValueError(f"expected {size} bytes, got {done}")
            return array
    except _DAMAGE as error:
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
