"""``topkit label serve`` and what goes with its store: import, export, backup, restore, doctor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from topkit.web.settings import Settings

Database = Annotated[
    str, typer.Option(help="Path of an SQLite file, or postgresql://user:password@host/name.")
]
DATABASE = "topkit-labels.db"


def _settings(database: str) -> Settings:
    from topkit.web import check_installed

    check_installed()
    from topkit.web.settings import Settings

    return Settings(database)


@contextmanager
def _busy(what: str) -> Iterator[None]:
    """A sign of life on the screen for what may take long."""
    from rich.console import Console

    with Console(stderr=True).status(f"{what} …"):
        yield


def serve(
    database: Database = DATABASE,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for everybody.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any that is free.")] = 8765,
    admin: Annotated[str, typer.Option(help="Name of the first admin.")] = "admin",
    public: Annotated[
        str | None, typer.Option(help="The address that people use, where a proxy stands in front.")
    ] = None,
    https: Annotated[bool, typer.Option("--https", help="People come by HTTPS: cookies need it.")] = False,
    upload_mb: Annotated[int, typer.Option(min=1, help="The largest file to import, in MB.")] = 64,
) -> None:
    """Serve the labelling app. The first run makes the store and prints a one-time admin link.

    Example: `topkit label serve --database labels.db --port 8765`
    """
    from dataclasses import replace

    settings = replace(_settings(database), https=https, upload_bytes=upload_mb << 20)
    from topkit.web.serve import serve as run

    run(settings, host, port, admin, public, lambda text: print(text, flush=True))


def import_(
    project: Annotated[Path | None, typer.Argument(help="A project that was exported.")] = None,
    database: Database = DATABASE,
    name: Annotated[str | None, typer.Option(help="Name of the project.")] = None,
    topics: Annotated[Path | None, typer.Option(help="CSV, TSV, JSON Lines or TREC topics.")] = None,
    documents: Annotated[Path | None, typer.Option(help="Documents: .jsonl, .csv, .tsv or TREC.")] = None,
    run: Annotated[Path | None, typer.Option(help="A TREC run as prior ranking.")] = None,
    depth: Annotated[int, typer.Option(min=1, help="Documents of each topic in the run.")] = 50,
    k: Annotated[int, typer.Option(min=1, help="Places at the top, for a new project.")] = 10,
    strategy: Annotated[str, typer.Option(help="Strategy, for a new project.")] = "adaptive",
    tools: Annotated[str, typer.Option(help="pairs, grades or both, for a new project.")] = "both",
) -> None:
    """Import a project with its judgments, or topics, documents and a run into a new or old one.

    Example: `topkit label import --name cranfield --topics topics.csv --documents docs.jsonl --run bm25.run`
    """
    from topkit.data import InputError

    settings = _settings(database)
    from topkit.web import bundle, imports
    from topkit.web.store import open_store, projects

    store = open_store(settings)
    with _busy("importing"), store.write() as connection:
        if project is not None:
            number = bundle.read_project(connection, project, name)
            print(f"imported project {number}")
            return
        if name is None:
            raise InputError("nothing says which project", "give a project file, or --name")
        known = {row["name"]: row["id"] for row in projects.all_projects(connection)}
        number = known.get(name) or projects.add_project(
            connection, name, k=k, strategy=strategy, tools=tools, seed=0, instructions=""
        )
        if topics is not None:
            print(f"{projects.add_topics(connection, number, imports.read_topics(topics))} new topics")
        if documents is not None:
            new = projects.add_documents(connection, number, imports.read_material(documents))
            print(f"{new} new documents")
        if run is not None:
            ranked = imports.read_prior(run, depth)
            there = {row["key"] for row in projects.topics_of(connection, number)}
            chosen = {key: keys for key, keys in ranked.items() if key in there}
            projects.add_candidates(connection, number, chosen, prior=True)
            print(f"{len(chosen)} topics have a prior ranking")


def export(
    name: Annotated[str, typer.Argument(help="Name of the project.")],
    out: Annotated[Path, typer.Option(help="File to write; .gz compresses.")],
    format_name: Annotated[
        str,
        typer.Option(
            "--format",
            help="project (everything), top-k, grades, qrels, triples, preferences-csv, grades-csv or jsonl.",
        ),
    ] = "project",
    database: Database = DATABASE,
) -> None:
    """Write a project's judgments as they are now.

    Example: `topkit label export cranfield --format top-k --out truth.txt`
    """
    from topkit.data import InputError

    settings = _settings(database)
    from topkit.web import bundle
    from topkit.web.exports import EXPORTS
    from topkit.web.records import records_of
    from topkit.web.store import open_store

    if format_name != "project" and format_name not in EXPORTS:
        raise InputError(f"unknown format {format_name!r}", f"choose of project, {', '.join(EXPORTS)}")
    store = open_store(settings, create=False)
    with _busy("exporting"), store.read() as connection:
        number = bundle.project_number(connection, name)
        if format_name == "project":
            bundle.write_project(connection, number, out)
        else:
            EXPORTS[format_name].write(records_of(connection, number), out)
    print(f"wrote {out}")


def backup(
    out: Annotated[Path, typer.Argument(help="File to write; .gz compresses.")],
    database: Database = DATABASE,
) -> None:
    """Write the whole store to one file, while people work. It holds the store's secret: keep it safe.

    Example: `topkit label backup labels-2026-11-15.jsonl.gz --database labels.db`
    """
    settings = _settings(database)
    from topkit.web.backup import write_backup
    from topkit.web.store import open_store

    with _busy("writing"):
        counts = write_backup(open_store(settings, create=False), out)
    out.chmod(0o600)
    print(f"wrote {out}: " + ", ".join(f"{count} {name}" for name, count in counts.items()))


def restore(
    file: Annotated[Path, typer.Argument(help="A file that backup has written.")],
    database: Database = DATABASE,
) -> None:
    """Fill an empty database from a backup; of either kind of database into either kind.

    Example: `topkit label restore labels-2026-11-15.jsonl.gz --database postgresql://me@host/labels`
    """
    settings = _settings(database)
    from topkit.web.backup import restore_backup

    with _busy("restoring"):
        counts = restore_backup(settings, file)
    print("restored: " + ", ".join(f"{count} {name}" for name, count in counts.items()))


def doctor(database: Database = DATABASE) -> None:
    """Look the store over: schema, integrity, and that every labelling can be replayed. Ends with 1 if not.

    Example: `topkit label doctor --database labels.db`
    """
    from rich.console import Console
    from rich.progress import Progress

    settings = _settings(database)
    from topkit.web.doctor import examine
    from topkit.web.store import open_store

    store = open_store(settings, create=False)
    good = True
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("replaying", total=None)
        for finding in examine(store, settings, lambda total: bar.update(task, total=total, advance=1)):
            print(("good  " if finding.good else "BAD   ") + finding.text)
            good = good and finding.good
    if not good:
        raise typer.Exit(1)


COMMANDS: dict[str, Callable[..., None]] = {
    "serve": serve,
    "import": import_,
    "export": export,
    "backup": backup,
    "restore": restore,
    "doctor": doctor,
}


def register(app: typer.Typer) -> None:
    """Add the commands to ``topkit label``."""
    for name, command in COMMANDS.items():
        app.command(name)(command)
