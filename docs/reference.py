"""Write the reference pages from the registries and the declared settings, so that they cannot lag."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from method_pages import KINDS, as_prose, docstring_markdown, method_pages

import topkit as tk
from topkit.cli.catalogue import Entry, first_sentence
from topkit.data.settings import settings_of
from topkit.reporting.tables import Table


def write(folder: Path) -> None:
    """Write every reference page into the folder; pages of methods that no longer exist are removed."""
    pages = all_pages()
    for name, text in pages.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.md"):
        if str(path.relative_to(folder).with_suffix("")) not in pages:
            path.unlink()


def all_pages() -> dict[str, str]:
    """Path without ending → text of each page."""
    pages = {name: page() for name, page in PAGES.items()}
    for kind in KINDS:
        pages.update(method_pages(kind))
    return pages


def table(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    return Table(heads, [[str(cell) for cell in row] for row in rows], align="l" * len(heads)).markdown()


def index() -> str:
    methods = "\n".join(f"{kind.folder}/index" for kind in KINDS)
    others = "\n".join(name for name in PAGES if name != "index")
    return (
        "# Reference\n\nEvery method, setting, command and name. These pages are written from the code when "
        "the documentation is built.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n:caption: Methods\n\n{methods}\n```\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n:caption: Everything else\n\n{others}\n```\n"
    )


def conventions() -> str:
    rows = [(f"`{name}`", str(rules).partition(": ")[2]) for name, rules in tk.CONVENTIONS.items()]
    return "# Conventions\n\n" + table(("convention", "rules"), rows) + "\n"


def exports() -> str:
    rows = [(f"`{name}`", first_sentence(write)) for name, write in tk.EXPORTERS.items()]
    return "# Export formats\n\n" + table(("format", "what is written"), rows) + "\n"


def studies() -> str:
    from method_pages import settings_table

    from topkit.studies.kinds import KINDS as STUDIES

    rows = [(f"`{name}`", kind.summary) for name, kind in STUDIES.items()]
    parts = ["# Kinds of study", table(("kind", "what it shows"), rows)]
    for name, kind in STUDIES.items():
        parts += [f"## {name}", settings_table(Entry(kind.summary, settings_of(kind.code.settings)))]
    return "\n\n".join(parts) + "\n"


def commands() -> str:
    from typer.main import get_command

    from topkit.cli import command_line

    parts = ["# Commands"]
    for path, command in walk(get_command(command_line()), "topkit"):
        parts += [f"## {path}", (inspect.cleandoc(command.help or "")).strip()]
        rows = [
            (
                f"`{'`, `'.join(parameter.opts)}`",
                getattr(parameter, "help", "") or "",
                shown_default(parameter),
            )
            for parameter in command.params
            if "--help" not in parameter.opts
        ]
        parts += [table(("argument or option", "what it does", "default"), rows)] if rows else []
    return "\n\n".join(parts) + "\n"


def shown_default(parameter: Any) -> str:
    """The default of an option; empty for arguments and for options that are off or unset."""
    value = parameter.default
    return f"`{value}`" if isinstance(value, str | int | float | Path) and value is not False else ""


def walk(command: Any, path: str) -> Iterable[tuple[str, Any]]:
    """Every command below a group, with the words that call it."""
    children = getattr(command, "commands", {})
    if not children:
        yield path, command
    for name, child in children.items():
        yield from walk(child, f"{path} {name}")


def python() -> str:
    values = {name: getattr(tk, name) for name in sorted(vars(tk)["__all__"])}
    callables = {name: value for name, value in values.items() if callable(value)}
    parts = [
        "# Python",
        "All functions and classes of `import topkit as tk`.",
        table(
            ("name", "description"),
            [(f"[`tk.{n}`](#{n.lower()})", as_prose(first_sentence(v))) for n, v in callables.items()],
        ),
    ]
    for name, value in callables.items():
        parts += [f"({name.lower()})=\n## {name}", f"```text\ntk.{name}{signature_of(value)}\n```"]
        parts.append(docstring_markdown(inspect.getdoc(value) or ""))
    return "\n\n".join(parts) + "\n"


class AsWritten(str):
    """An annotation that is shown as it stands in the source, without quotes."""

    def __repr__(self) -> str:
        return str(self)


def signature_of(value: Any) -> str:
    """The parameters with types and defaults, one per line if they are many."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(…)"
    parameters = [
        p.replace(annotation=as_written(p.annotation), default=as_named(p.default))
        for p in signature.parameters.values()
    ]
    returns = as_written(signature.return_annotation)
    text = str(signature.replace(parameters=parameters, return_annotation=returns))
    if len(text) <= 90:
        return text
    lines = [str(parameter) for parameter in parameters]
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        lines.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    inner = ",\n    ".join(lines)
    arrow = "" if returns is inspect.Signature.empty else f" -> {returns}"
    return f"(\n    {inner},\n){arrow}"


def as_written(annotation: Any) -> Any:
    """Annotations are strings where a module postpones their evaluation."""
    return AsWritten(annotation) if isinstance(annotation, str) else annotation


def as_named(default: Any) -> Any:
    """A default that is a function is shown by its name: its address differs in every run."""
    return AsWritten(default.__name__) if inspect.isfunction(default) else default


PAGES: dict[str, Callable[[], str]] = {
    "index": index,
    "conventions": conventions,
    "exports": exports,
    "studies": studies,
    "commands": commands,
    "python": python,
}
