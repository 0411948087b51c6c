"""The command line: parse, call, print.

Only the command that was called is imported and built, and it imports what it needs when it runs, because
start-up is most of the time of a short evaluation.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import NoReturn

import typer

from topkit.version import __version__

COMMANDS: dict[str, str] = {
    "demo": "demo:demo",
    "data": "data:app",
    "label": "label:app",
    "features": "features:app",
    "train": "train:train",
    "calibrate": "calibrate:calibrate",
    "score": "score:score",
    "eval": "evaluate:evaluate",
    "clicks": "clicks:app",
    "fuse": "fuse:fuse",
    "study": "study:app",
    "diagnose": "diagnose:diagnose",
    "export": "export:export",
    "serve": "serve:serve",
    "rankers": "catalogue:rankers",
    "losses": "catalogue:losses",
    "measures": "catalogue:measures",
    "strategies": "catalogue:strategies",
    "aggregators": "catalogue:aggregators",
    "warm-up": "warm_up:warm_up",
}
"""Command → module of this package and name in it; ``app`` is a group of commands, other names functions."""

NO_ARGUMENTS = ("demo", "rankers", "losses", "measures", "strategies", "aggregators", "warm-up")
"""Commands that do something useful without arguments; the others print their help."""

DEFAULTS_FILE = "topkit.toml"

FAILED = 1
"""The exit code for wrong input and for everything else that went wrong; 2, for wrong usage, is Typer's."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def command_line(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """The command line with these commands."""
    app = typer.Typer(
        name="topkit",
        help="Top-k learning to rank: label, learn, measure, combine, ship.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_options)
    for name in names:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(f"topkit.cli.{module}"), attribute)
        if attribute == "app":
            app.add_typer(command, name=name)
        else:
            app.command(name, no_args_is_help=name not in NO_ARGUMENTS)(command)
    return app


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"topkit {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Top-k learning to rank: label, learn, measure, combine, ship."""


def main() -> None:
    """Run the command line; what a user can fix is one line on standard error.

    The exit code is 0 for success, 1 for wrong input, a failed check, or a file or memory problem, 2 for a
    command or option that does not exist or lacks a value, and 130 after Ctrl-C.
    """
    called = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        if sys.stderr.isatty():
            _announce_compiling()
        _run(called)
    except BrokenPipeError:  # `topkit … | head` is not an error
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        _end(INTERRUPTED, "interrupted")
    except SystemExit as exit_:
        # Typer turns Ctrl-C into an exit without a message; a command that prints its own has no such cause.
        if isinstance(getattr(exit_.__context__, "__cause__", None), KeyboardInterrupt):
            _end(INTERRUPTED, "interrupted")
        raise
    except MemoryError:
        _end(FAILED, "out of memory; use less data, or --memory to train out of core")
    except OSError as error:
        reason = error.strerror or str(error)
        _end(FAILED, reason if error.filename is None else f"{error.filename}: {reason}")
    except Exception as error:
        if not _can_be_fixed_by_the_user(error):
            raise
        _end(FAILED, str(error))


def _run(called: str) -> None:
    """Run the called command, with the defaults of ``topkit.toml`` if there is one."""
    app = command_line([called] if called in COMMANDS else COMMANDS)
    path = defaults_file() if called in COMMANDS else None
    if path is None:
        app(prog_name="topkit")
        return
    from typer.main import get_command

    from topkit.cli.defaults import read_defaults

    command = get_command(app).commands[called]  # type: ignore[attr-defined]
    app(prog_name="topkit", default_map=read_defaults(path, COMMANDS, called, command))


def defaults_file() -> str | None:
    """The path of ``topkit.toml`` in this folder or the nearest above it; None if there is none."""
    folder = os.getcwd()
    while True:
        path = os.path.join(folder, DEFAULTS_FILE)
        if os.path.isfile(path):
            return path
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _announce_compiling() -> None:
    from topkit.compute.first_use import announce_compiling

    announce_compiling(lambda text: print(f"topkit: {text}", file=sys.stderr, flush=True))


def _end(code: int, message: str) -> NoReturn:
    """Print one line and exit."""
    print(f"topkit: {message}", file=sys.stderr)
    sys.exit(code)


def _can_be_fixed_by_the_user(error: Exception) -> bool:
    """Whether the message says all: wrong input, a missing optional package, an unreachable cluster."""
    from topkit.compute.cluster import ClusterError  # imported here because it costs the import of NumPy
    from topkit.compute.extras import MissingExtraError
    from topkit.data.errors import InputError

    return isinstance(error, InputError | ClusterError | MissingExtraError)
