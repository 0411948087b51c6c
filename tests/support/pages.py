"""Runs the code blocks of a documentation page in the order of the page, in one folder and one namespace.

What happens to a block depends on its language:

- ``python``: executed. If a ``text`` block follows directly, it must be what the block printed.
- ``pycon``: executed as a doctest.
- ``console``: each line ``$ topkit …`` is run; the lines below it must occur in its output, in any case.
- ``sh``: for servers, clusters and the network. Each ``topkit`` command must parse; nothing is started.
- ``toml``, and ``text`` that starts with ``# name.ending``: written to the file that the first line names.
- ``json``: must parse.
- ``{code-block} python``: for code that needs a cluster or a network; compiled only.
"""

from __future__ import annotations

import contextlib
import doctest
import glob
import importlib.util
import io
import json
import re
import shlex
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from topkit.cli import command_line

FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\S+\.\S+)\n")
"""The first line of a block that is the content of a file."""
IMPORT = re.compile(r"^\s*(?:>>> )?(?:import|from) (\w+)", re.MULTILINE)
SHOWN = ("text", "diff", "", "{toctree}", "{code-cell}", "{grid}", "{card}", "{image}", "{note}", "{figure}")
"""Languages that are only shown: output, and directives of the documentation."""
OTHER_PROGRAMS = ("pip", "make", "git", "curl", "jq", "dask", "python", "cd", "uv")
"""Programs that ``sh`` blocks may call besides topkit."""


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str
    line: int
    follows_directly: bool
    """Whether only empty lines are between the previous block and this one."""


def blocks_of(page: str) -> list[Block]:
    """All fenced blocks of a Markdown text, in order."""
    found: list[Block] = []
    end = 0
    for match in FENCE.finditer(page):
        language = match[2].strip().split(" ")[0]
        direct = bool(found) and not page[end : match.start()].strip()
        found.append(Block(language, match[3], page.count("\n", 0, match.start()) + 1, direct))
        end = match.end()
    return found


def sections_of(page: str) -> dict[str, str]:
    """The title of each section of a page that has blocks, and its text."""
    parts = re.split(r"^## ", page, flags=re.MULTILINE)
    return {part.splitlines()[0]: part for part in parts[1:] if FENCE.search(part)}


def skip_without_libraries(page: str) -> None:
    """Skip the test, with the reason, if a library that a Python block imports is not installed."""
    for block in blocks_of(page):
        for library in IMPORT.findall(block.text) if block.language in ("python", "pycon") else ():
            if importlib.util.find_spec(library) is None:
                pytest.skip(f"{library} is not installed")


def run_page(page: str, name: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run all blocks of a page in the current folder, and return what its Python blocks defined.

    ``name`` is shown in messages; ``names`` are defined before the first block.
    """
    module = types.ModuleType("page")  # dataclasses and pickle look up the module of a class
    module.__dict__.update(names or {})
    sys.modules["page"] = module
    printed = ""
    for block in blocks_of(page):
        where = f"{name}:{block.line}"
        named = FILE_NAME.match(block.text)
        if block.language == "python" and not block.text.startswith(">>>"):
            printed = _run_python(block.text, module, where)
        elif block.language == "text" and block.follows_directly and printed:
            assert block.text.split() == printed.split(), f"{where}: expected\n{printed}\ngot\n{block.text}"
        elif block.language in ("pycon", "python"):
            _run_session(block.text, module, where)
        elif block.language == "console":
            run_commands(block.text, where)
        elif block.language == "sh":
            check_commands(block.text, where)
        elif block.language == "toml" and named:
            Path(named[1]).write_text(block.text, encoding="utf-8")
        elif block.language == "text" and named:
            Path(named[1]).write_text(block.text[named.end() :], encoding="utf-8")
        elif block.language == "{code-block}":
            compile(block.text, where, "exec")
        elif block.language == "json":
            json.loads(block.text)
        else:
            assert block.language in SHOWN or block.language.startswith("{"), f"{where}: {block.language!r}"
        if block.language != "python":
            printed = ""
    return module.__dict__


def _run_python(code: str, module: types.ModuleType, where: str) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, where, "exec"), module.__dict__)  # noqa: S102
    return output.getvalue()


def _run_session(text: str, module: types.ModuleType, where: str) -> None:
    test = doctest.DocTestParser().get_doctest(text, module.__dict__, where, where, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert runner.run(test, clear_globs=False).failed == 0, where
    module.__dict__.update(test.globs)


def run_commands(text: str, where: str) -> None:
    """Run each line that starts with ``$``; lines below it must be in what it prints."""
    parts = [part.splitlines() for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]
    for command, *expected in parts:
        words = [word for part in shlex.split(command, comments=True) for word in _expanded(part)]
        assert words[0] == "topkit", (where, command)
        done = CliRunner().invoke(command_line(), words[1:])
        assert done.exit_code == 0, (where, command, done.output, done.exception)
        for line in expected:
            assert line.strip().lower() in done.output.lower(), (where, command, line, done.output)


def _expanded(word: str) -> list[str]:
    """The files that a pattern matches, as a shell would give them."""
    return sorted(glob.glob(word)) or [word] if "*" in word else [word]


def check_commands(text: str, where: str) -> None:
    """Parse each ``topkit`` command without running it; other commands must be known programs."""
    for line in _commands(text):
        program, *words = shlex.split(line, comments=True)
        if program == "topkit":
            _parse(words, f"{where}: {line}")
        else:
            assert Path(program).name in OTHER_PROGRAMS, f"{where}: unknown program {program!r}"


def _commands(text: str) -> Iterator[str]:
    """Each command of a shell script: one line, or several joined by a backslash; parts of a pipe apart."""
    for line in text.replace("\\\n", " ").splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).removeprefix("$ ").removesuffix("&").strip()
        quoted = re.split(r"""\s(?:\||&&)\s(?=(?:[^'"]|'[^']*'|"[^"]*")*$)""", line)
        yield from (part.strip() for part in quoted if part.strip())


def _parse(words: list[str], where: str) -> None:
    """Parse the words of a topkit command; a wrong option or a missing argument fails."""
    command: Any = get_command(command_line())
    while words and (child := getattr(command, "commands", {}).get(words[0])) is not None:
        command, words = child, words[1:]
    try:
        command.make_context("topkit", [word for word in words if word != "…"])
    except Exception as error:
        if type(error).__name__ == "Exit":  # --help and --version
            return
        message = error.format_message() if hasattr(error, "format_message") else error
        pytest.fail(f"{where}: {message}")
