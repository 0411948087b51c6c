"""The command line as a whole: every command explains itself, and errors a user can fix are one line."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import topkit as tk
from topkit import cli
from topkit.compute import MissingExtraError
from topkit.compute.cluster import ClusterError
from topkit.data import InputError
from topkit.data.errors import WriteError
from topkit.data.settings import settings_of


def commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", {})
    if not children:
        yield path, command
    for name, child in children.items():
        yield from commands(child, f"{path} {name}")


COMMANDS = dict(commands(get_command(cli.command_line()), "topkit"))


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_an_example_and_every_option_a_help_text(path: str) -> None:
    command = COMMANDS[path]
    text = inspect.cleandoc(command.help or "")
    assert f"`{path}" in text, "an example that starts with the command itself"
    assert all(parameter.help for parameter in command.params if "--help" not in parameter.opts)


def test_help_imports_no_numpy() -> None:
    script = (
        "import atexit, sys; sys.argv = ['topkit', '--help']; from topkit.cli import main\n"
        "atexit.register(lambda: print('NUMPY', 'numpy' in sys.modules))\n"
        "main()"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-1] == "NUMPY False"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("wrong", "fix it"), 1, "topkit: wrong; fix it\n"),
        (ClusterError("no scheduler"), 1, "topkit: no scheduler\n"),
        (
            MissingExtraError("torch", "torch"),
            1,
            "topkit: torch is not installed; run: pip install 'topkit[torch]'\n",
        ),
        (KeyboardInterrupt(), 130, "topkit: interrupted\n"),
        (WriteError("full", file="x"), 1, "topkit: x: full\n"),
        (OSError(28, "No space left on device"), 1, "topkit: No space left on device\n"),
        (PermissionError(13, "Permission denied", "x"), 1, "topkit: x: Permission denied\n"),
    ],
)
def test_errors_that_a_user_can_fix_are_one_line(
    error: BaseException,
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(names: object) -> None:
        raise error

    monkeypatch.setattr(cli, "command_line", fail)
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    assert exit_.value.code == code
    assert capsys.readouterr().err == message


def test_other_errors_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(names: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "command_line", fail)
    with pytest.raises(ZeroDivisionError):
        cli.main()


def output(*words: str) -> str:
    result = CliRunner().invoke(cli.command_line([words[0]]), words, env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    ("command", "registry"),
    [
        ("rankers", tk.RANKERS),
        ("losses", tk.LOSSES),
        ("measures", tk.METRICS),
        ("strategies", tk.STRATEGIES),
        ("aggregators", tk.AGGREGATORS),
        ("clicks models", tk.CLICK_MODELS),
    ],
)
def test_every_registry_is_listed_and_every_entry_described(command: str, registry: dict[str, Any]) -> None:
    words = command.split()
    rows = output(*words).splitlines()[1:]
    assert [row.split()[0] for row in rows] == list(registry)
    assert all(len(row.split()) > 1 for row in rows), "a name and a sentence"
    for name in registry:
        assert output(*words, name).startswith(f"{name}: ")
    with pytest.raises(InputError, match=r"unknown .* 'nothing'"):
        output(*words, "nothing")


def test_a_ranker_is_shown_with_every_setting() -> None:
    rows = output("rankers", "focusednet").splitlines()
    (beta,) = [row.split() for row in rows if row.startswith("beta ")]
    assert beta[1] == "0.5"
    assert any(row.startswith("metric ") for row in rows), "settings that all rankers have"


def test_declared_settings_show_their_values_and_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    from topkit.studies.kinds.compare import Settings

    monkeypatch.setitem(tk.LOSSES, "declared", Settings)
    (row,) = [row for row in output("losses", "declared").splitlines() if row.startswith("test ")]
    declared = settings_of(Settings)["test"]
    assert "one of t, wilcoxon, randomisation, tukey" in row
    assert declared.meaning in row
