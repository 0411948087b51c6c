"""Replies in a file, so that no request is paid twice, also after the process was killed."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import NamedTuple

from topkit.data.errors import InputError
from topkit.data.files import FilePath
from topkit.data.writers import write_errors


class Reply(NamedTuple):
    """What a model replied, the tokens it took, and its confidence in the answer if it gave one."""

    text: str
    prompt_tokens: int = 0
    reply_tokens: int = 0
    confidence: float | None = None
    """The probability of the answer by the model's log-probabilities, or None."""


class ReplyCache:
    """Key → reply, in memory and, with a path, in a file of JSON Lines that only grows.

    A reply is one write call at the end of the file, before it is used. If the process is killed, at most
    the line being written is torn; it is ignored, and ended by a newline when the file is opened again. Lines
    that are damaged for other reasons are counted in ``damaged``, and their requests are sent again.
    """

    def __init__(self, path: FilePath | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.damaged = 0
        self._replies: dict[str, Reply] = {}
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        if self.path is not None and self.path.exists():
            self._load(self.path)

    def _load(self, path: Path) -> None:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot read the cache ({error.strerror})", file=path) from None
        lines = content.split(b"\n")
        for line in lines:
            if not line.strip():
                continue
            try:
                key, *values = json.loads(line)
                self._replies[str(key)] = Reply(str(values[0]), int(values[1]), int(values[2]), values[3])
            except (ValueError, TypeError, IndexError, RecursionError):
                self.damaged += 1
        if self.damaged and not self._replies:
            problem = f"none of its {self.damaged} lines is a stored reply"
            raise InputError(problem, "name another file, or remove this one", file=path)
        if lines[-1]:  # torn: the next line must not continue it
            with write_errors(path), path.open("ab") as stream:
                stream.write(b"\n")

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, key: str) -> Reply | None:
        """The stored reply, or None."""
        return self._replies.get(key)

    def put(self, key: str, reply: Reply) -> None:
        """Store a reply; it is in the file when this returns."""
        with self._lock:
            self._replies[key] = reply
            if self.path is None:
                return
            with write_errors(self.path):
                if self._descriptor is None:
                    self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                line = json.dumps([key, *reply], ensure_ascii=True).encode() + b"\n"
                while line:
                    line = line[os.write(self._descriptor, line) :]

    def close(self) -> None:
        """Close the file; the next reply opens it again."""
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
