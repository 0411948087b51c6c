"""A cell: the smallest piece of a study, and the outcome of computing it.

A cell can be computed from its JSON description alone, on any machine that has the files it names, and always
gives the same result. Its key is a hash of what the result depends on: settings, seeds, the contents of
files and the version of topkit, but not the paths of the files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from topkit.version import __version__

Factors = Mapping[str, Any]
"""Column names → words or numbers."""

W = TypeVar("W")


@dataclass(frozen=True)
class Cell(Generic[W]):
    """One piece of work of type ``W``, the frozen dataclass in which its kind describes a cell."""

    kind: str
    factors: Factors
    """What distinguishes this cell from the others of its study: columns of the table, in this order."""
    work: W
    """Everything else that the result depends on."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Fingerprint of a file's content → its path."""

    @property
    def key(self) -> str:
        """The name of the cell's file: 24 hexadecimal digits of SHA-256."""
        content = [__version__, self.kind, list(self.factors.items()), self._work_record]
        text = json.dumps(content, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @property
    def title(self) -> str:
        """The values of the factors, for messages."""
        return " ".join(
            f"{value:g}" if isinstance(value, float) else str(value) for value in self.factors.values()
        )

    @property
    def _work_record(self) -> dict[str, Any]:
        return asdict(self.work)  # type: ignore[call-overload, no-any-return]

    def to_json(self) -> str:
        """The description that a worker receives."""
        record = {
            "kind": self.kind,
            "factors": dict(self.factors),
            "work": self._work_record,
            "files": dict(self.files),
        }
        return json.dumps(record, allow_nan=False)

    @classmethod
    def of_record(cls, record: Mapping[str, Any], work: type[W]) -> Cell[W]:
        """The cell of a JSON object that :meth:`to_json` wrote; ``work`` is the type of its description."""
        return cls(record["kind"], record["factors"], restore(work, record["work"]), record["files"])


@dataclass(frozen=True)
class Outcome:
    """The result of a cell: rows of the study's table, and facts that only the report uses."""

    columns: Mapping[str, list[Any]]
    """Columns of equal length, among them ``metric`` and ``value``, and ``query`` if there are queries."""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_rows(cls, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Outcome:
        """The outcome with these rows of the table."""
        return cls({name: [row[i] for row in rows] for i, name in enumerate(names)})


def restore(kind: Any, value: Any) -> Any:
    """A JSON value as the declared type: dataclasses, tuples and mappings of them, or the value itself.

    >>> restore(tuple[int, ...], [1, 2])
    (1, 2)
    """
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: restore(hints[name], item) for name, item in value.items()})  # type: ignore[operator]
    if get_origin(kind) is tuple:
        return tuple(restore(get_args(kind)[0], item) for item in value)
    if get_origin(kind) is Mapping:
        return {key: restore(get_args(kind)[1], item) for key, item in value.items()}
    return value
