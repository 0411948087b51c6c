"""Writes the reference pages from the dictionaries that the package runs on, so that they cannot lag."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path

import topkit as tk


def write(folder: Path) -> None:
    """Write every reference page into the folder."""
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        text = page()
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; bars within cells are escaped."""
    heads = list(heads)
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def summary(thing: object) -> str:
    """The first paragraph of a docstring on one line."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def metrics() -> str:
    rows = [
        (f"`{name}`", measure.title, measure.needs, "`@depth`" if measure.depth == "optional" else "")
        for name, measure in tk.METRICS.items()
    ]
    parts = ["# Measures", table(("name", "what it is", "needs", "depth"), rows)]
    for name, measure in tk.METRICS.items():
        parts += [f"## {name}", f"```text\n{inspect.getdoc(measure.function) or measure.title}\n```"]
    return "\n\n".join(parts) + "\n"


def rankers() -> str:
    from topkit.rankers.registry import settings_of

    rows = [
        (f"`{name}`", ", ".join(f"`{key}={value!r}`" for key, value in settings_of(name).items()))
        for name in tk.RANKERS
    ]
    return "# Rankers\n\n" + table(("name", "settings and their defaults"), rows) + "\n"


def losses() -> str:
    rows = [(f"`{name}`", summary(loss)) for name, loss in tk.LOSSES.items()]
    return "# Losses\n\n" + table(("name", "what it is"), rows) + "\n"


def conventions() -> str:
    rows = [(f"`{name}`", str(rules).partition(": ")[2]) for name, rules in tk.CONVENTIONS.items()]
    return "# Conventions\n\n" + table(("name", "rules"), rows) + "\n"


def exports() -> str:
    rows = [(f"`{name}`", summary(write)) for name, write in tk.EXPORTERS.items()]
    return "# Export formats\n\n" + table(("name", "what is written"), rows) + "\n"


def studies() -> str:
    from topkit.studies.kinds import KINDS

    rows = [(f"`{name}`", kind.summary) for name, kind in KINDS.items()]
    parts = ["# Kinds of study", table(("kind", "what it shows"), rows)]
    for name, kind in KINDS.items():
        settings = [(f"`{key}`", one.comment, f"`{one.default!r}`") for key, one in kind.settings.items()]
        parts += [f"## {name}", table(("setting", "what it is", "default"), settings)]
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


def walk(command: object, path: str) -> Iterable[tuple[str, object]]:
    """Every command below one, with the words that call it."""
    children = getattr(command, "commands", {})
    if not children:
        yield path, command
    for name, child in children.items():
        yield from walk(child, f"{path} {name}")


def python() -> str:
    parts = ["# Python", "Everything in `import topkit as tk`."]
    rows = []
    for name in sorted(tk.__all__):
        thing = getattr(tk, name)
        if callable(thing) and not isinstance(thing, dict):
            rows.append((f"`tk.{name}`", summary(thing)))
    return "\n\n".join([*parts, table(("name", "what it is"), rows)]) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "rankers": rankers,
    "losses": losses,
    "measures": metrics,
    "conventions": conventions,
    "exports": exports,
    "studies": studies,
    "commands": commands,
    "python": python,
}
