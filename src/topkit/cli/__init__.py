"""The command line: parse, call, print. Every command imports what it needs when it runs, not before."""

from __future__ import annotations

import sys

import typer

from topkit.cli.audit import audit
from topkit.cli.data import app as data_app
from topkit.cli.demo import demo
from topkit.cli.evaluate import evaluate
from topkit.cli.export import export
from topkit.cli.features import app as features_app
from topkit.cli.fuse import fuse
from topkit.cli.label import app as label_app
from topkit.cli.serve import serve
from topkit.cli.study import app as study_app
from topkit.cli.train import score, train
from topkit.version import __version__

app = typer.Typer(
    name="topkit",
    help="Top-k learning to rank: label, learn, measure, combine, ship.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command("demo")(demo)
data_app.command("audit", no_args_is_help=True)(audit)
app.add_typer(data_app, name="data")
app.add_typer(label_app, name="label")
app.add_typer(features_app, name="features")
app.command("eval", no_args_is_help=True)(evaluate)
app.command("fuse", no_args_is_help=True)(fuse)
app.add_typer(study_app, name="study")
app.command("train", no_args_is_help=True)(train)
app.command("score", no_args_is_help=True)(score)
app.command("export", no_args_is_help=True)(export)
app.command("serve", no_args_is_help=True)(serve)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"topkit {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Top-k learning to rank: label, learn, measure, combine, ship."""


def main() -> None:
    """Run the command line; bad input ends with one clear message and exit code 2."""
    try:
        app()
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
