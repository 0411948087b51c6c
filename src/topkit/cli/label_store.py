"""``topkit label serve`` and the commands for its database: import, export, backup, restore, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from topkit.cli.output import Form, check_form, print_records

if TYPE_CHECKING:
    from topkit.web.settings import Settings

Database = Annotated[str, Option(help="Path of an SQLite file, or postgresql://user:password@host/name.")]
DATABASE = "topkit-labels.db"
"""The database in the current folder, if no other is named."""


def _settings(database: str) -> Settings:
    from topkit.web import check_installed

    check_installed()
    from topkit.web.settings import Settings

    return Settings(database)


def serve(
    database: Database = DATABASE,
    host: Annotated[str, Option(help="Address to listen on; 0.0.0.0 for all interfaces.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="Port; 0 for any free port.")] = 8765,
    admin: Annotated[str, Option(help="Name of the first admin.")] = "admin",
    public: Annotated[
        str | None, Option(help="The URL that people use, if there is a proxy in front.")
    ] = None,
    https: Annotated[
        bool, Option("--https", help="People connect by HTTPS; cookies then require it.")
    ] = False,
    upload_mb: Annotated[int, Option(min=1, help="Largest file to import, in MB.")] = 64,
    exports: Annotated[Path | None, Option(help="Folder for exports on a schedule.")] = None,
    models: Annotated[bool, Option("--models", help="Let chat models judge as assessors.")] = False,
) -> None:
    """Serve the labelling app. The first run creates the database and prints a one-time admin link.

    Example: `topkit label serve --database labels.db --port 8765`
    """
    from dataclasses import replace

    settings = replace(
        _settings(database), https=https, upload_bytes=upload_mb << 20, exports=exports, models=models
    )
    from topkit.web.serve import serve as run

    run(settings, host, port, admin, public, lambda text: print(text, flush=True))


def import_(
    project: Annotated[Path | None, Argument(help="An exported project.")] = None,
    database: Database = DATABASE,
    name: Annotated[str | None, Option(help="Name of the project.")] = None,
    topics: Annotated[Path | None, Option(help="CSV, TSV, JSON Lines or TREC topics.")] = None,
    documents: Annotated[Path | None, Option(help="Documents: .jsonl, .csv, .tsv or TREC.")] = None,
    run: Annotated[Path | None, Option(help="A TREC run as prior ranking.")] = None,
    depth: Annotated[int, Option(min=1, help="Documents of each topic in the run.")] = 50,
    k: Annotated[int, Option(min=1, help="Documents to put in order, for a new project.")] = 10,
    strategy: Annotated[str, Option(help="Strategy, for a new project.")] = "adaptive",
    tools: Annotated[str, Option(help="pairs, grades or both, for a new project.")] = "both",
) -> None:
    """Import a project with its judgments, or topics, documents and a run into a new or existing project.

    Example: `topkit label import --name cranfield --topics topics.csv --documents docs.jsonl --run bm25.run`
    """
    from topkit.data import InputError
    from topkit.reporting.progress import busy
    from topkit.reporting.words import counted

    settings = _settings(database)
    from topkit.web import bundle, imports
    from topkit.web.audit_log import announce_command
    from topkit.web.project_file import read_project
    from topkit.web.store import open_store, projects

    store = open_store(settings)
    announce_command("topkit label import")
    if project is not None:
        with busy("importing"):
            project_file = read_project(project)  # before the write lock is taken: people may be labelling
            with store.write() as connection:
                number = bundle.add_project(connection, project_file, name)
        print(f"imported project {number}")
        return
    if name is None:
        raise InputError("no project to import", "give a project file, or --name")
    with busy("importing"), store.write() as connection:
        existing = {row["name"]: row["id"] for row in projects.all_projects(connection)}
        number = existing.get(name) or projects.add_project(
            connection, name, k=k, strategy=strategy, tools=tools, seed=0, instructions=""
        )
        if topics is not None:
            added = projects.add_topics(connection, number, imports.read_topics(topics))
            print(counted(added, "new topic"))
        if documents is not None:
            added = projects.add_documents(connection, number, imports.read_material(documents))
            print(counted(added, "new document"))
        if run is not None:
            ranked = imports.read_prior(run, depth)
            keys_of_topics = {row["key"] for row in projects.topics_of(connection, number)}
            of_project = {key: keys for key, keys in ranked.items() if key in keys_of_topics}
            projects.add_candidates(connection, number, of_project, prior=True)
            print(f"{counted(len(of_project), 'topic')} with a prior ranking")


def export(
    name: Annotated[str, Argument(help="Name of the project.")],
    out: Annotated[Path, Option(help="File to write; .gz compresses.")],
    format_name: Annotated[
        str,
        Option(
            "--format",
            help="project (everything), top-k, grades, qrels, triples, preferences-csv, grades-csv or jsonl.",
        ),
    ] = "project",
    database: Database = DATABASE,
) -> None:
    """Write the current judgments of a project.

    Example: `topkit label export cranfield --format top-k --out truth.txt`
    """
    from topkit.data.settings import lookup
    from topkit.reporting.progress import busy

    settings = _settings(database)
    from topkit.web import bundle
    from topkit.web.exports import EXPORTS
    from topkit.web.records import records_of
    from topkit.web.store import open_store

    lookup({"project": None, **EXPORTS}, format_name, "format")
    store = open_store(settings, create=False)
    with busy("exporting"), store.read() as connection:
        number = bundle.project_number(connection, name)
        if format_name == "project":
            bundle.write_project(connection, number, out)
        else:
            EXPORTS[format_name].write(records_of(connection, number), out)
    print(f"wrote {out}")


def backup(
    out: Annotated[Path, Argument(help="File to write; .gz compresses.")],
    database: Database = DATABASE,
) -> None:
    """Write the whole database to one file, while people work. It contains the secret key: keep it safe.

    Example: `topkit label backup labels-2026-11-15.jsonl.gz --database labels.db`
    """
    from topkit.reporting.progress import busy

    settings = _settings(database)
    from topkit.web.backup import write_backup
    from topkit.web.store import open_store

    with busy("writing"):
        counts = write_backup(open_store(settings, create=False), out)
    out.chmod(0o600)
    print(f"wrote {out}: " + ", ".join(f"{count} {name}" for name, count in counts.items()))


def restore(
    file: Annotated[Path, Argument(help="A file that topkit label backup wrote.")],
    database: Database = DATABASE,
) -> None:
    """Fill an empty database from a backup; SQLite and PostgreSQL may be mixed.

    Example: `topkit label restore labels-2026-11-15.jsonl.gz --database postgresql://me@host/labels`
    """
    from topkit.reporting.progress import busy

    settings = _settings(database)
    from topkit.web.backup import restore_backup

    with busy("restoring"):
        counts = restore_backup(settings, file)
    print("restored: " + ", ".join(f"{count} {name}" for name, count in counts.items()))


def doctor(database: Database = DATABASE, form: Form = "table") -> None:
    """Check the database: schema, integrity, and that every labelling can be replayed. Exits with 1 if not.

    Example: `topkit label doctor --database labels.db`
    """
    from topkit.reporting.progress import progress

    check_form(form)
    settings = _settings(database)
    from topkit.web.doctor import examine
    from topkit.web.store import open_store

    store = open_store(settings, create=False)
    with progress("Replaying") as report:
        replayed = 0

        def show(total: int) -> None:
            nonlocal replayed
            replayed += 1
            report("", replayed, total, float("nan"))

        findings = [
            {"good": finding.good, "text": finding.text} for finding in examine(store, settings, show)
        ]
    lines = [("good  " if finding["good"] else "BAD   ") + str(finding["text"]) for finding in findings]
    print_records(findings, form, lambda: "\n".join(lines))
    if not all(finding["good"] for finding in findings):
        raise typer.Exit(1)
