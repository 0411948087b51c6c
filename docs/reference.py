"""Write the reference pages from the registries and the declared settings, so that they cannot lag."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import topkit as tk
from topkit.cli.catalogue import ENTRIES, SETTING_COLUMNS, Entry, first_sentence, setting_rows
from topkit.data.settings import settings_of
from topkit.reporting.tables import Table


def write(folder: Path) -> None:
    """Write every reference page into the folder."""
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        text = page()
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def table(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    return Table(heads, [[str(cell) for cell in row] for row in rows], align="l" * len(heads)).markdown()


def settings_table(entry: Entry) -> str:
    """The settings of a method."""
    if not entry.settings:
        return "No settings."
    rows = [(f"`{name}`", f"`{default}`", *rest) for name, default, *rest in setting_rows(entry)]
    return table(SETTING_COLUMNS, rows)


def registry_page(title: str, what: str) -> str:
    """All methods of a registry in one table, then each with its settings."""
    entries = ENTRIES[what]()
    rows = [(f"`{name}`", entry.sentence) for name, entry in entries.items()]
    parts = [f"# {title}", table((what, "description"), rows)]
    for name, entry in entries.items():
        parts += [f"## {name}", entry.sentence, *(f"- {remark}" for remark in entry.remarks)]
        parts.append(settings_table(entry))
    return "\n\n".join(parts) + "\n"


def rankers() -> str:
    return registry_page("Rankers", "ranker")


def losses() -> str:
    return registry_page("Losses", "loss")


def strategies() -> str:
    return registry_page("Labelling strategies", "strategy")


def aggregators() -> str:
    return registry_page("Fusion methods", "fusion method")


def measures() -> str:
    entries = ENTRIES["measure"]()
    rows = [
        (f"`{name}`", measure.title, measure.needs, "`@depth`" if measure.depth == "optional" else "")
        for name, measure in tk.METRICS.items()
    ]
    parts = ["# Measures", table(("measure", "description", "truth needed", "depth"), rows)]
    for name, measure in tk.METRICS.items():
        parts += [f"## {name}", f"```text\n{inspect.getdoc(measure.function) or measure.title}\n```"]
        parts.append(settings_table(entries[name]))
    return "\n\n".join(parts) + "\n"


def conventions() -> str:
    rows = [(f"`{name}`", str(rules).partition(": ")[2]) for name, rules in tk.CONVENTIONS.items()]
    return "# Conventions\n\n" + table(("convention", "rules"), rows) + "\n"


def exports() -> str:
    rows = [(f"`{name}`", first_sentence(write)) for name, write in tk.EXPORTERS.items()]
    return "# Export formats\n\n" + table(("format", "what is written"), rows) + "\n"


def studies() -> str:
    from topkit.studies.kinds import KINDS

    rows = [(f"`{name}`", kind.summary) for name, kind in KINDS.items()]
    parts = ["# Kinds of study", table(("kind", "what it shows"), rows)]
    for name, kind in KINDS.items():
        parts += [f"## {name}", settings_table(Entry(kind.summary, settings_of(kind.code.settings)))]
    return "\n\n".join(parts) + "\n"


def commands() -> str:
    from typer.main import get_command

    from topkit.cli import command_line

    parts = ["# Commands"]
    for path, command in walk(get_command(command_line()), "topkit"):
        parts += [f"## {path}", (inspect.cleandoc(command.help or "")).strip()]
        rows = [
            (f"`{'`, `'.join(parameter.opts)}`", getattr(parameter, "help", "") or "")
            for parameter in command.params
            if "--help" not in parameter.opts
        ]
        parts += [table(("argument or option", "what it does"), rows)] if rows else []
    return "\n\n".join(parts) + "\n"


def walk(command: Any, path: str) -> Iterable[tuple[str, Any]]:
    """Every command below a group, with the words that call it."""
    children = getattr(command, "commands", {})
    if not children:
        yield path, command
    for name, child in children.items():
        yield from walk(child, f"{path} {name}")


def python() -> str:
    rows = []
    for name in sorted(vars(tk)["__all__"]):
        value = getattr(tk, name)
        if callable(value) and not isinstance(value, dict):
            rows.append((f"`tk.{name}`", first_sentence(value)))
    parts = [
        "# Python",
        "All functions and classes of `import topkit as tk`.",
        table(("name", "description"), rows),
    ]
    return "\n\n".join(parts) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "rankers": rankers,
    "losses": losses,
    "measures": measures,
    "strategies": strategies,
    "aggregators": aggregators,
    "conventions": conventions,
    "exports": exports,
    "studies": studies,
    "commands": commands,
    "python": python,
}
