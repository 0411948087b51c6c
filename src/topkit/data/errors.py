"""The exception for invalid input: where it is, what is wrong, and what to do about it."""

from __future__ import annotations

from os import PathLike, fspath


class InputError(ValueError):
    """Invalid input from a user: a file, a line, a setting.

    The command line prints it as one message without a traceback, so it must make sense on its own.

    >>> print(InputError("label 'x' is not a number", "start each line with a number", file="a.txt", line=3))
    a.txt:3: label 'x' is not a number; start each line with a number
    """

    def __init__(
        self,
        problem: str,
        remedy: str = "",
        *,
        file: str | PathLike[str] | None = None,
        line: int | None = None,
    ) -> None:
        self.problem = problem
        self.remedy = remedy
        self.file = None if file is None else fspath(file)
        self.line = line
        super().__init__(problem, remedy)

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}: "
        if self.file is not None and self.line is not None:
            place = f"{self.file}:{self.line}: "
        return place + self.problem + (f"; {self.remedy}" if self.remedy else "")


class WriteError(InputError):
    """A file cannot be written: the disk is full, a folder is in its place, permission is missing.

    The command line prints it like other errors but exits with code 1: the input is not at fault.
    """
