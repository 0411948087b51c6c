"""The files of an index: a description, and the folder of arrays that it names.

A build writes a new folder of arrays and then replaces the description, so that an index is complete at any
time. A process that holds the old index keeps its memory-mapped files until it closes them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import tempfile
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError, Strings
from topkit.data.files import FilePath, text_writer
from topkit.data.writers import write_errors
from topkit.features.analyser import Analyser
from topkit.features.index import Index, Stream

FORMAT = 2
"""Version of the files; an index of another version must be built again."""
DESCRIPTION = "index.json"
"""Names the folder of the arrays; a folder without it is not an index."""
STREAM_ARRAYS: dict[str, type[np.generic]] = {
    "ptr": np.int64, "docs": np.int32, "counts": np.int32, "lengths": np.int32, "distinct": np.int32,
    "occurrences": np.int64,
}  # fmt: skip
"""The arrays of a stream and their types, one file each, named by the number of the stream."""
MAX_DESCRIPTION = 16 << 20
"""Bytes of the description."""
_ARRAYS = re.compile(r"arrays-[0-9a-f]{16}")
_BUILDING = ".building-"
_ATTEMPTS = 1000
"""How often a reader starts again because the index was rebuilt while it was being opened."""
_DAMAGE = (
    KeyError, TypeError, ValueError, OSError, EOFError, OverflowError, RecursionError, SyntaxError,
    tokenize.TokenError,
)  # fmt: skip
"""What JSON and NumPy raise for damaged files."""


# ---------------------------------------------------------------------------------------------------- writing


@contextmanager
def replacing_index(place: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """A new folder for arrays and a dictionary for the description; they replace the index on success.

    If the block fails, the old index stays and the new one is removed.
    """
    with write_errors(place):
        is_new = not place.exists()
        place.mkdir(parents=True, exist_ok=True)
        facts: dict[str, Any] = {}
        held = contextlib.ExitStack()
        with _locked(place):  # another build must not take the folder for that of a killed process
            building = Path(tempfile.mkdtemp(prefix=_BUILDING, dir=place))
            held.enter_context(_locked(building))
        try:
            with held:
                yield building, facts
                _publish(place, building, facts)
        finally:
            shutil.rmtree(building, ignore_errors=True)
            if is_new:
                with contextlib.suppress(OSError):  # it is not empty if the build succeeded
                    place.rmdir()


def _publish(place: Path, building: Path, facts: dict[str, Any]) -> None:
    """Make the arrays those of the index, and remove the arrays of the old one."""
    for path in building.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    with _locked(place):
        arrays = place / f"arrays-{secrets.token_hex(8)}"
        building.chmod(place.stat().st_mode & 0o777)
        building.rename(arrays)
        try:
            with text_writer(place / DESCRIPTION) as stream:
                json.dump({"format": FORMAT, "arrays": arrays.name, **facts}, stream, indent=1)
        except BaseException:
            shutil.rmtree(arrays, ignore_errors=True)
            raise
        for folder in place.iterdir():
            outdated = _ARRAYS.fullmatch(folder.name) is not None and folder != arrays
            if outdated or (folder.name.startswith(_BUILDING) and not _is_locked(folder)):
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which the system releases even if the process is killed."""
    try:
        import fcntl
    except ImportError:  # no such locks on Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _is_locked(folder: Path) -> bool:
    """Whether a running build holds the folder; if not, its process was killed."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def save_strings(folder: Path, name: str, strings: Strings) -> None:
    """Write strings as two arrays."""
    np.save(folder / f"{name}.bytes.npy", strings.blob)
    np.save(folder / f"{name}.offsets.npy", strings.offsets)


def described(streams: list[str], analyser: Analyser, urls: bool) -> dict[str, Any]:
    """The description of an index."""
    return {
        "streams": streams,
        "urls": urls,
        "analyser": {
            "language": analyser.language,
            "stop_words": sorted(analyser.stop_words),
            "pattern": analyser.pattern,
        },
    }


# ---------------------------------------------------------------------------------------------------- reading


def open_index(folder: FilePath) -> Index:
    """Open the index in a folder; its arrays are memory-mapped, so this needs little memory.

    Every number is checked against the sizes of the index, so that a damaged file is an InputError here.
    """
    place = Path(folder)
    description = _read_description(place)
    for _ in range(_ATTEMPTS):
        try:
            return _opened(place, description)
        except FileNotFoundError as error:
            newest = _read_description(place)
            if newest == description:
                raise InputError(
                    f"the index is damaged (no file {error.filename})", "build it again", file=place
                ) from None
            description = newest
        except InputError:
            raise
        except _DAMAGE as error:
            raise InputError(f"the index is damaged ({error})", "build it again", file=place) from None
    raise InputError("the index is rebuilt all the time", "open it later", file=place)


def _read_description(place: Path) -> bytes:
    try:
        with (place / DESCRIPTION).open("rb") as file:
            description = file.read(MAX_DESCRIPTION + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("the folder contains no index", "build one with build_index", file=place) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the index ({error})", file=place) from None
    if len(description) > MAX_DESCRIPTION:
        raise InputError(f"the file {DESCRIPTION} is too large", "build the index again", file=place)
    return description


def _opened(place: Path, description: bytes) -> Index:
    facts = json.loads(description)
    if type(facts["format"]) is not int or facts["format"] != FORMAT:
        raise InputError(
            f"expected index format {FORMAT}, got {str(facts['format'])[:40]}", "build it again", file=place
        )
    if not _ARRAYS.fullmatch(facts["arrays"]):
        raise ValueError("invalid folder of arrays")
    folder = place / facts["arrays"]
    doc_ids, vocabulary = _strings(folder, "documents"), _strings(folder, "vocabulary")
    names = facts["streams"]
    if not names or len(set(names)) != len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError("the names of the streams must be different texts")
    streams = {
        name: _stream(folder, number, len(doc_ids), len(vocabulary)) for number, name in enumerate(names)
    }
    urls = _strings(folder, "urls") if facts["urls"] else None
    if urls is not None and len(urls) != len(doc_ids):
        raise ValueError("each document needs one URL")
    settings = facts["analyser"]
    analyser = Analyser(settings["language"], frozenset(settings["stop_words"]), settings["pattern"])
    return Index(doc_ids, vocabulary, streams, analyser, urls)


def _array(folder: Path, name: str, dtype: type[np.generic]) -> NDArray[Any]:
    array = np.lib.format.open_memmap(folder / f"{name}.npy", mode="r")
    if array.dtype != dtype or array.ndim != 1:
        raise ValueError(f"{name}: expected a row of {np.dtype(dtype)}, got {array.dtype} {array.shape}")
    return array


def _strings(folder: Path, name: str) -> Strings:
    blob, offsets = _array(folder, f"{name}.bytes", np.uint8), _array(folder, f"{name}.offsets", np.int64)
    _check_bounds(offsets, len(blob), name)
    return Strings(blob, offsets)


def _stream(folder: Path, number: int, documents: int, terms: int) -> Stream:
    arrays = {part: _array(folder, f"{number}.{part}", dtype) for part, dtype in STREAM_ARRAYS.items()}
    postings = len(arrays["docs"])
    sizes = {"ptr": terms + 1, "lengths": documents, "distinct": documents, "occurrences": terms}
    for part, size in (*sizes.items(), ("counts", postings)):
        if len(arrays[part]) != size:
            raise ValueError(f"{number}.{part}: expected {size} numbers, got {len(arrays[part])}")
    used = int(arrays["ptr"][-1])
    _check_bounds(arrays["ptr"], used, f"{number}.ptr")
    if postings != max(used, 1):
        raise ValueError(f"{number}.docs: expected {used} numbers, got {postings}")
    for part, high in (("docs", documents - 1), ("counts", None), ("lengths", None), ("distinct", None)):
        values = arrays[part]
        if len(values) and (values.min() < 0 or (high is not None and values.max() > high)):
            raise ValueError(f"{number}.{part}: a number is out of range")
    return Stream(**arrays)


def _check_bounds(bounds: NDArray[np.int64], end: int, name: str) -> None:
    """Positions must rise from 0 to the end."""
    if not len(bounds) or bounds[0] != 0 or bounds[-1] != end or (np.diff(bounds) < 0).any():
        raise ValueError(f"{name}: the positions do not rise from 0 to {end}")
