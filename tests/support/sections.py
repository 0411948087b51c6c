"""Blocks of documentation pages, run as a reader would: in order, in one folder."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from topkit.cli import command_line

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
IMPORT = re.compile(r"^\s*(?:import|from) (\w+)", re.MULTILINE)


def sections(name: str) -> dict[str, str]:
    """The title of each section of a page that has blocks, and its text."""
    parts = re.split(r"^## ", (DOCS / name).read_text(), flags=re.MULTILINE)
    return {part.splitlines()[0]: part for part in parts[1:] if BLOCK.search(part)}


def run_blocks(text: str, name: str) -> None:
    """Run Python and console blocks and write files: a toml or text block starts with ``# its name``.

    A Python block whose libraries are not installed skips the test, with the reason.
    """
    namespace: dict[str, Any] = {}
    for number, (language, block) in enumerate(BLOCK.findall(text), 1):
        if language == "console":
            run_commands(block)
        elif language in ("toml", "text"):
            first, _, rest = block.partition("\n")
            Path(first.removeprefix("# ")).write_text(block if language == "toml" else rest)
        elif language == "python":
            for library in IMPORT.findall(block):
                if importlib.util.find_spec(library) is None:
                    pytest.skip(f"{library} is not installed")
            exec(compile(block, f"{name} block {number}", "exec"), namespace)  # noqa: S102
        else:
            raise AssertionError(language)


def run_commands(text: str) -> int:
    """Run each line that starts with $; lines below it must be in what it prints."""
    parts = [part.splitlines() for part in text.split("$ ")[1:]]
    for command, *expected in parts:
        words = shlex.split(command)
        assert words[0] == "topkit"
        done = CliRunner().invoke(command_line(), words[1:])
        assert done.exit_code == 0, (command, done.output, done.exception)
        for line in expected:
            assert line.strip().lower() in done.output.lower(), (command, line, done.output)
    return len(parts)
