"""``topkit label serve`` and the commands for its database: import, export, backup, restore, doctor."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from topkit.cli.completion import name_option
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
        str | None,
        Option(
            help="The URL that people use, if there is a proxy in front: https://host or https://host/path."
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        Option(help="Address or network of a proxy whose X-Forwarded-For is believed; may be repeated."),
    ] = None,
    https: Annotated[
        bool, Option("--https", help="People connect by HTTPS; a --public URL with https implies it.")
    ] = False,
    upload_mb: Annotated[int, Option(min=1, help="Largest file to import, in MB.")] = 64,
    exports: Annotated[Path | None, Option(help="Folder for exports on a schedule.")] = None,
    metrics: Annotated[
        str | None, Option(help="Also serve metrics for Prometheus here, for example on 127.0.0.1:9101.")
    ] = None,
    log: Annotated[str, Option(help="text: warnings only; json: also one JSON line per request.")] = "text",
    models: Annotated[bool, Option("--models", help="Let chat models judge as assessors.")] = False,
) -> None:
    """Serve the labelling app. The first run creates the database and prints a one-time admin link.

    Examples: `topkit label serve --database labels.db --port 8765`

    `topkit label serve --public https://example.org/label --proxy 127.0.0.1 --log json`
    """
    from dataclasses import replace

    from topkit.data import InputError

    if log not in ("text", "json"):
        raise InputError(f"unknown form {log!r} of the log", "choose text or json")
    settings = replace(
        _settings(database),
        https=https,
        public=public,
        proxies=tuple(proxy or ()),
        upload_bytes=upload_mb << 20,
        exports=exports,
        models=models,
    )
    from topkit.web.serve import serve as run

    run(
        settings,
        host,
        port,
        admin,
        lambda text: print(text, flush=True),
        metrics=metrics,
        json_log=log == "json",
    )


def password(
    name: Annotated[str, Argument(help="Name of the person, as at sign-in.")],
    database: Database = DATABASE,
) -> None:
    """Set somebody's password on the server, such as that of an admin who forgot it.

    Type it twice, or pipe it in. Their sessions and open links end.

    Example: `topkit label password admin --database labels.db`
    """
    from topkit.data import InputError

    settings = _settings(database)
    from topkit.web import auth
    from topkit.web.audit_log import announce_command
    from topkit.web.store import open_store, people

    store = open_store(settings, create=False)
    with store.read() as connection:
        account = people.find_person(connection, name)
        names = ", ".join(person.name for person in people.everyone(connection)) or "none"
    if account is None:
        raise InputError(f"there is no person {name!r}", f"existing names: {names}")
    typed = (
        typer.prompt("New password", hide_input=True, confirmation_prompt=True)
        if sys.stdin.isatty()
        else sys.stdin.readline().rstrip("\r\n")
    )
    hashed = auth.hash_password(typed, name)
    announce_command(f"topkit label password {name}")
    with store.write() as connection:
        people.set_password(connection, account[0].id, hashed)
    print(f"the password of {name!r} is set; earlier sessions and links no longer work")
    if not account[0].active:
        print(f"{name!r} is blocked and cannot sign in until an admin unblocks the account")


def import_(
    project: Annotated[Path | None, Argument(help="An exported project.")] = None,
    database: Database = DATABASE,
    name: Annotated[str | None, Option(help="Name of the project.")] = None,
    topics: Annotated[Path | None, Option(help="CSV, TSV, JSON Lines or TREC topics.")] = None,
    documents: Annotated[Path | None, Option(help="Documents: .jsonl, .csv, .tsv or TREC.")] = None,
    run: Annotated[Path | None, Option(help="A TREC run as prior ranking.")] = None,
    depth: Annotated[int, Option(min=1, help="Documents of each topic in the run.")] = 50,
    k: Annotated[int, Option(min=1, help="Documents to put in order, for a new project.")] = 10,
    strategy: Annotated[str, name_option("strategy", "Strategy, for a new project.")] = "adaptive",
    tools: Annotated[str, Option(help="pairs, grades or both, for a new project.")] = "both",
) -> None:
    """Import a project with its judgments, or topics, documents and a run into a new or existing project.

    Example: `topkit label import --name cranfield --topics topics.csv --documents docs.jsonl --run bm25.run`
    """
    from topkit.data import InputError
    from topkit.data.words import counted
    from topkit.reporting.progress import busy

    settings = _settings(database)
    from topkit.web import bundle, imports
    from topkit.web.audit_log import announce_command
    from topkit.web.project_file import read_project
    from topkit.web.store import open_store, projects

    store = open_store(settings)
    announce_command("topkit label import")
    if project is not None:
        with busy("importing"):
            number = bundle.import_project(store, read_project(project), name)
        print(f"imported project {number}")
        return
    if name is None:
        raise InputError("no project to import", "give a project file, or --name")
    from topkit.web.shapes import checked_project

    values = checked_project({"name": name, "k": k, "strategy": strategy, "tools": tools})
    with busy("importing"):
        # Files are read before the write lock is taken: people may be labelling.
        new_topics = None if topics is None else imports.read_topics(topics)
        new_documents = None if documents is None else imports.read_material(documents)
        ranked = None if run is None else imports.read_prior(run, depth)
        with store.write() as connection:
            existing = {row["name"]: row["id"] for row in projects.all_projects(connection)}
            number = existing.get(values["name"]) or projects.add_project(connection, **values)
            if new_topics is not None:
                print(counted(projects.add_topics(connection, number, new_topics), "new topic"))
            if new_documents is not None:
                added = projects.add_documents(connection, number, new_documents)
                print(f"{counted(added.new, 'new document')}, {added.changed} changed")
            if ranked is not None:
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
            chosen = EXPORTS[format_name]
            chosen.write(records_of(connection, number, dropped=chosen.dropped), out)
    print(f"wrote {out}")


def backup(
    out: Annotated[Path, Argument(help="File to write; .gz compresses.")],
    database: Database = DATABASE,
) -> None:
    """Write the whole database to one file, while people work. It contains the secret key: keep it safe.

    Only you can read the file. Nothing in the database changes, so it is safe before an upgrade.

    Example: `topkit label backup labels-2026-11-15.jsonl.gz --database labels.db`
    """
    from topkit.reporting.progress import busy

    settings = _settings(database)
    from topkit.web.backup import write_backup
    from topkit.web.store.engine import open_to_read

    store = open_to_read(settings)
    os.umask(0o077)
    with busy("writing"):
        counts = write_backup(store, out)
    if out.is_file():  # one that was there before keeps its permissions
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

    Nothing is changed: not even the schema is upgraded.

    Example: `topkit label doctor --database labels.db`
    """
    from topkit.reporting.progress import progress

    check_form(form)
    settings = _settings(database)
    from topkit.web.doctor import examine
    from topkit.web.store.engine import open_to_read

    store = open_to_read(settings)
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
