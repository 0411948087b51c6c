"""``topkit.toml``: defaults for the options of commands, from the current folder or the nearest above it.

A table per command holds its options by their long names; a command of a group is a table in a table::

    [eval]
    metrics = "ndcg@10,err"
    convention = "trec"

    [label.serve]
    port = 9000

The command line wins over the file, and the file over what is built in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def read_defaults(path: str, commands: Iterable[str], called: str, command: Any) -> dict[str, Any]:
    """The defaults of the called command, by parameter name, as Click's ``default_map`` takes them.

    ``commands`` are the names of all commands. An unknown command or option is an InputError with the nearest
    name; the options of commands that are not called are not checked.
    """
    tables = _read(path)
    for name, value in tables.items():
        if name not in commands:
            raise _unknown("command", name, commands, path)
        if not isinstance(value, Mapping):
            raise _expected(f"{name!r} must be a table, such as [{name}]", path)
    return {called: _options(tables[called], command, called, path)} if called in tables else {}


def _read(path: str) -> dict[str, Any]:
    import tomllib

    from topkit.data.errors import InputError

    try:
        with open(path, "rb") as stream:
            return tomllib.load(stream)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"invalid TOML ({error})", "fix the line and re-run", file=path) from None


def _options(table: Mapping[str, Any], command: Any, title: str, path: str) -> dict[str, Any]:
    children = getattr(command, "commands", None)
    if children is not None:
        for name, value in table.items():
            if name not in children:
                raise _unknown(f"command of {title}", name, children, path)
            if not isinstance(value, Mapping):
                raise _expected(f"{name!r} must be a table, such as [{title}.{name}]", path)
        return {
            name: _options(value, children[name], f"{title}.{name}", path) for name, value in table.items()
        }
    parameters = {
        option.removeprefix("--"): parameter
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and option != "--help"
    }
    options = {}
    for name, value in table.items():
        parameter = parameters.get(name.replace("_", "-"))
        if parameter is None:
            raise _unknown(f"option in [{title}]", name, parameters, path)
        options[parameter.name] = _checked(value, parameter, f"{title}.{name}", path)
    return options


def _checked(value: Any, parameter: Any, name: str, path: str) -> Any:
    """A value that the option accepts; a list for an option that may be repeated."""
    if parameter.multiple and not isinstance(value, list):
        raise _expected(f"{name} must be a list, because the option may be repeated", path)
    if getattr(parameter, "is_flag", False) and not isinstance(value, bool):
        raise _expected(f"{name} must be true or false, got {value!r}", path)
    values = value if parameter.multiple else [value]
    for item in values:
        if isinstance(item, list | dict) or (isinstance(item, bool) and not parameter.is_flag):
            raise _expected(f"{name} must be {parameter.type.name}, got {item!r}", path)
        try:
            parameter.type.convert(str(item) if not isinstance(item, bool) else item, parameter, None)
        except Exception as error:  # Click's BadParameter, which Typer has a copy of
            raise _expected(f"{name}: {getattr(error, 'message', error)}", path) from None
    return [str(item) for item in values] if parameter.multiple else value


def _unknown(what: str, name: str, names: Iterable[str], path: str) -> Exception:
    from topkit.data.errors import InputError
    from topkit.data.words import suggestion

    known = list(names)
    return InputError(
        f"unknown {what}: {name!r}", suggestion(name, known, f"choose from {', '.join(known)}"), file=path
    )


def _expected(problem: str, path: str) -> Exception:
    from topkit.data.errors import InputError

    return InputError(problem, file=path)
