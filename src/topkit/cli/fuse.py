"""``topkit fuse``: combine runs of several systems without labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from topkit.data import Run
    from topkit.fusion import Fusion


def fuse(
    files: Annotated[
        list[Path],
        typer.Argument(help="TREC runs, CSV `query,system,document,value` or LETOR text; .gz too."),
    ],
    out: Annotated[
        Path, typer.Option(help="The fused run: TREC, or CSV by the ending .csv (.gz compresses).")
    ],
    method: Annotated[
        str, typer.Option(help="agreement, borda, combmnz, mallows, rrf, ulara, …: `--methods` lists them.")
    ] = "agreement",
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the method, such as depth=50. Repeat it.")
    ] = None,
    keep: Annotated[int, typer.Option(help="Documents kept for each query; 0 keeps all.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print each ranker's weight or θ, and how the fit went.")
    ] = False,
    methods: Annotated[
        bool,
        typer.Option(
            "--methods",
            is_eager=True,
            callback=lambda wanted: _list_methods(wanted),
            help="List the methods.",
        ),
    ] = False,
) -> None:
    """Combine the rankings of several systems into one, without labels.

    Examples: `topkit fuse a.run b.run.gz c.run --out fused.run --explain`

    `topkit fuse rankings.csv --method mallows --set depth=50 --set chains=4 --out fused.run`
    """
    import warnings

    from topkit.compute import NotConverged
    from topkit.data import InputError, write_run
    from topkit.fusion import fuse as combine
    from topkit.fusion.formats import write_ranking_table

    settings = _settings(method, setting or [])
    if keep < 0:
        raise InputError(f"--keep must not be negative: {keep}")
    with progress_bar("Reading") as update:
        runs = read_files(files, update)
    with progress_bar(f"Fusing by {method}") as update, warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # said below, with the result
        fusion = combine(runs, method, keep=keep or None, seed=seed, progress=update, **settings)
    if ".csv" in out.suffixes:
        write_ranking_table([fusion.run], out)
    else:
        write_run(fusion.run, out)
    typer.echo(f"{out}: {len(runs)} rankings, {len(fusion.run)} queries, {method}")
    if not fusion.converged:
        typer.echo(f"{method} did not settle in {len(fusion.trace) - 1} steps", err=True)
    if explain:
        typer.echo(explanation(fusion))


def explanation(fusion: Fusion) -> str:
    """What was learnt, as text: a line a ranker, then the diagnostics."""
    rows = fusion.table()
    lines = []
    if rows:
        width = max(len("ranker"), *(len(ranker) for ranker, _ in rows))
        columns = list(rows[0][1])
        lines.append("  ".join(["ranker".ljust(width), *(f"{name:>9}" for name in columns)]))
        for ranker, values in rows:
            cells = [f"{values[name] + 0.0:9.4f}" for name in columns]  # + 0.0: no "-0.0000"
            lines.append("  ".join([ranker.ljust(width), *cells]))
    else:
        lines.append(f"{fusion.method} counts every ranker alike")
    if fusion.trace:
        ended = "settled" if fusion.converged else "did not settle"
        first, last, steps = fusion.trace[0], fusion.trace[-1], len(fusion.trace) - 1
        lines.append(f"objective {first:.6g} → {last:.6g}, {ended}, {steps} steps")
    lines += [f"{name} {value:.4g}" for name, value in fusion.diagnostics.items()]
    return "\n".join(lines)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error that goes away; yields the function to call with (done, of)."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, of: progress.update(task, completed=done, total=of)


def read_files(files: list[Path], update: Callable[[int, int], None]) -> list[Run]:
    """The rankings of all files, in whichever form each has."""
    from topkit.fusion.formats import read_rankings

    runs: list[Run] = []
    for done, path in enumerate(files, 1):
        runs += read_rankings(path)
        update(done, len(files))
    return runs


def _settings(method: str, given: list[str]) -> dict[str, object]:
    """``name=value`` words as settings of the method, each of the type of its default."""
    from topkit.data import InputError
    from topkit.fusion import settings_of

    known = settings_of(method)
    found: dict[str, object] = {}
    for word in given:
        name, equals, text = word.partition("=")
        if not equals:
            raise InputError(f"{word!r} is not a setting", "write it as name=value")
        if name not in known:
            raise InputError(f"{method} has no setting {name!r}", f"it has {', '.join(known) or 'none'}")
        found[name] = _value(name, text, known[name])
    return found


def _value(name: str, text: str, default: object) -> object:
    from topkit.data import InputError

    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}[text.lower()]
        if isinstance(default, int):
            return int(text)
        if isinstance(default, float):
            return float(text)
        if isinstance(default, str):
            return text
        if name == "weights":
            return [float(part) for part in text.split(",")]
        return float(text) if name == "rate" else int(text)
    except (KeyError, ValueError):
        raise InputError(f"{text!r} is no value for {name}", f"the default is {default}") from None


def _list_methods(wanted: bool) -> None:
    if not wanted:
        return
    from topkit.fusion import AGGREGATORS, settings_of

    for name, function in AGGREGATORS.items():
        summary = (function.__doc__ or "").split("\n")[0]
        settings = ", ".join(f"{key}={value}" for key, value in settings_of(name).items())
        typer.echo(f"{name:15} {summary}" + (f"\n{'':15} {settings}" if settings else ""))
    raise typer.Exit
