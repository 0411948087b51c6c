"""Writing files: completely or not at all, to the target of a link, with the permissions of the old file.

A regular file is written under a temporary name in its folder and renamed over the old one, so that readers
and other writers always see a complete file. What is not a regular file (a pipe, a device, standard output)
cannot be renamed over and is written directly.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, BinaryIO, cast

from topkit.data.compression import compressor
from topkit.data.errors import InputError, WriteError

STANDARD_OUTPUT = "-"
"""The path that means standard output."""
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""Errors of a write call, which do not say which file they concern."""
_PLAIN = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EISDIR: "this is a folder, not a file",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "no permission to write",
    errno.EPERM: "no permission to write",
}


def is_standard_output(path: str | PathLike[str]) -> bool:
    """Whether writing to the path goes to standard output, so that messages must go elsewhere."""
    return _descriptor(path) == 1


@contextmanager
def written_whole(path: str | PathLike[str]) -> Iterator[Path]:
    """A temporary path that becomes the content of ``path`` when the block succeeds, and vanishes if not.

    Links are followed and permissions kept. If ``path`` is a pipe, a device or standard output (``-``), the
    content is copied to it at the end. A full disk, a folder in place of the file and missing permissions are
    a :class:`WriteError`.
    """
    target = _regular_target(path)
    if target is None:
        import tempfile

        with write_errors(path), tempfile.TemporaryDirectory(prefix="topkit-") as folder:
            temporary = Path(folder, "content")
            yield temporary
            with _direct(path) as stream, temporary.open("rb") as content:
                shutil.copyfileobj(content, stream)
        return
    with write_errors(path), _replacing(target) as temporary:
        yield temporary


@contextmanager
def text_writer(path: str | PathLike[str]) -> Iterator[IO[str]]:
    """A text stream that replaces ``path`` when the block succeeds.

    A name that ends in .gz, .bz2, .xz or .zst compresses. A pipe, a device or standard output gets the text
    as it is written.
    """
    target = _regular_target(path)
    with contextlib.ExitStack() as stack:
        stack.enter_context(write_errors(path))
        if target is None:
            raw = stack.enter_context(_direct(path))
        else:
            raw = stack.enter_context(stack.enter_context(_replacing(target)).open("wb"))
        packed = compressor(path, raw)
        stream = io.TextIOWrapper(
            cast(BinaryIO, packed or raw), encoding="utf-8", errors="surrogateescape", newline="\n"
        )
        try:
            yield stream
            stream.flush()
        except BaseException:
            with contextlib.suppress(Exception):
                stream.detach()  # or its destructor would write the rest to a file that is closed
            raise
        stream.detach()
        if packed is not None:
            packed.close()


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """A new file beside the target that replaces it when the block succeeds."""
    temporary = target.with_name(f"{_temporary_start(target)}{secrets.token_hex(8)}")
    try:
        old = target.stat()
    except FileNotFoundError:
        old = None
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "Permission denied", str(target))
    try:
        _create(temporary, target, old)
        yield temporary
        descriptor = os.open(temporary, os.O_RDWR)
        try:
            os.fsync(descriptor)  # or a crash could leave the new name with no content
        finally:
            os.close(descriptor)
        if old is not None:
            temporary.chmod(stat.S_IMODE(old.st_mode))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _temporary_start(target: Path) -> str:
    """How the names of temporary files for a target start; short, because names have at most 255 bytes."""
    return f".{target.name[:40]}."


def _create(temporary: Path, target: Path, old: os.stat_result | None) -> None:
    """An empty file with the default permissions, or only for its owner until it replaces an old file."""
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR
    try:
        descriptor = os.open(temporary, flags, 0o666 if old is None else 0o600)
    except FileNotFoundError:
        raise InputError(
            f"the folder {target.parent} does not exist", "create it first", file=target
        ) from None
    try:
        if old is not None and hasattr(os, "chown"):
            with contextlib.suppress(OSError):
                os.chown(descriptor, old.st_uid, old.st_gid)
    finally:
        os.close(descriptor)


def _regular_target(path: str | PathLike[str]) -> Path | None:
    """The file to replace, links resolved; None if the path is a pipe, a device or standard output."""
    if _descriptor(path) is not None:
        return None
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(path))
    except OSError as error:
        raise _write_error(error, path) from None
    except ValueError as error:  # a zero byte in the name
        raise InputError(f"invalid file name ({error})", file=path) from None
    if stat.S_ISDIR(mode):
        raise WriteError(_PLAIN[errno.EISDIR], "name a file in it", file=path)
    return Path(os.path.realpath(path)) if stat.S_ISREG(mode) else None


def _descriptor(path: str | PathLike[str]) -> int | None:
    """The file descriptor that the path names: 1 for ``-`` and ``/dev/stdout``, N for ``/dev/fd/N``."""
    name = os.fspath(path)
    known = {STANDARD_OUTPUT: 1, "/dev/stdout": 1, "/dev/stderr": 2}
    if name in known:
        return known[name]
    match = _DESCRIPTOR.fullmatch(name)
    return None if match is None else int(match.group(1))


@contextmanager
def _direct(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream to a pipe, a device or an open file."""
    number = _descriptor(path)
    if number == 1 and hasattr(sys.stdout, "buffer"):
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with open(os.dup(number) if number is not None else path, "wb") as stream:
        yield stream


@contextmanager
def write_errors(path: str | PathLike[str]) -> Iterator[None]:
    """Turn an OSError that concerns the file or folder being written into a WriteError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        # NumPy's short write has no error number.
        short = error.errno is None and "requested and" in str(error)
        if short or error.errno in _FULL or _concerns(error, path):
            raise _write_error(error, path) from None
        raise


def _concerns(error: OSError, path: str | PathLike[str]) -> bool:
    """Whether an error names the file, its temporary file, or a file in the folder."""
    if not isinstance(error.filename, str | PathLike):
        return False
    target, named = Path(os.path.realpath(path)), Path(os.path.abspath(error.filename))
    return (
        os.fspath(error.filename) == os.fspath(path)
        or named.is_relative_to(target)
        or named.is_relative_to(os.path.abspath(path))
        or (named.parent == target.parent and named.name.startswith(_temporary_start(target)))
    )


def _write_error(error: OSError, path: str | PathLike[str]) -> WriteError:
    reason = _PLAIN.get(error.errno or 0, error.strerror or str(error))
    remedies = {errno.ENOSPC: "free some space, or write elsewhere"}
    return WriteError(
        f"cannot write the file: {reason}", remedies.get(error.errno or 0, "write elsewhere"), file=path
    )
