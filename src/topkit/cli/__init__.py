"""The command line: parse, call, print.

Only the command that was called is imported and built, and it imports what it needs when it runs: start-up is
most of the time of a short evaluation.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module

import typer

from topkit.version import __version__

COMMANDS: dict[str, str] = {
    "demo": "demo",
    "data": "audit:app",  # which adds itself to the commands on data
    "label": "label:app",
    "features": "features:app",
    "eval": "evaluate",
    "fuse": "fuse",
    "study": "consistency:app",  # which adds itself to the studies
    "train": "train",
    "score": "train:score",
    "export": "export",
    "serve": "serve",
}
"""Command → where it is below this package: a module, and a name in it if it is not the module's own.

A name ``app`` is a group of commands, any other a function.
"""


def command_line(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """The command line with these commands."""
    app = typer.Typer(
        name="topkit",
        help="Top-k learning to rank: label, learn, measure, combine, ship.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_options)
    for name in names:
        module, _, attribute = COMMANDS[name].partition(":")
        found = getattr(import_module(f"topkit.cli.{module}"), attribute or module)
        if attribute == "app":
            app.add_typer(found, name=name)
        else:
            app.command(name, no_args_is_help=name != "demo")(found)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"topkit {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Top-k learning to rank: label, learn, measure, combine, ship."""


def main() -> None:
    """Run the command line; bad input ends with one clear message and exit code 2."""
    called = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        command_line([called] if called in COMMANDS else COMMANDS)()
    except ValueError as error:
        from topkit.data.errors import InputError  # here, because it costs the import of NumPy

        if not isinstance(error, InputError):
            raise
        print(f"topkit: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # `topkit … | head` is not an error
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        print("topkit: interrupted", file=sys.stderr)
        sys.exit(130)
