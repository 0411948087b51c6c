"""What a kind of study is: how to make its cells, how to compute one, and how to show the table.

A **cell** is the smallest piece of a study: computable from its JSON description alone, on any machine that
has the files it names, always with the same result. Its key is a hash of what the result depends on
(settings, seeds, the contents of files, the version of topkit), never of where files lie. A **kind** is three
functions; a new one is a file in ``kinds/`` and a line in ``KINDS``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from topkit.studies.tables import ResultTable
from topkit.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from topkit.studies.results import Results
    from topkit.studies.spec import Study


Factors = Mapping[str, Any]
"""Names of columns → words or numbers."""


@dataclass(frozen=True)
class Setting:
    """A setting of a kind: its default, which tells its type, and what it means."""

    default: Any
    comment: str
    choices: tuple[str, ...] = ()
    """The words that are allowed, where they are few."""


@dataclass(frozen=True)
class Cell:
    """One piece of work.

    >>> Cell("compare", {"fold": 1}, {"x": 2}).key == Cell("compare", {"fold": 1}, {"x": 2}, {"a": "/b"}).key
    True
    """

    kind: str
    factors: Factors
    """What tells this cell from the others of its study: columns of the table, in this order."""
    what: Mapping[str, Any]
    """All else that the result depends on; JSON."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Fingerprint of a file's content → its path."""

    @property
    def key(self) -> str:
        """The name of the cell's file: 24 hexadecimal digits of SHA-256."""
        text = json.dumps(
            [__version__, self.kind, list(self.factors.items()), self.what], sort_keys=True, allow_nan=False
        )
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @property
    def title(self) -> str:
        """The cell in a few words."""
        return " ".join(
            f"{value:g}" if isinstance(value, float) else str(value) for value in self.factors.values()
        )

    def to_json(self) -> str:
        """The description that a worker gets."""
        return json.dumps(
            {"kind": self.kind, "factors": dict(self.factors), "what": self.what, "where": dict(self.where)},
            allow_nan=False,
        )

    @classmethod
    def from_json(cls, text: str) -> Cell:
        """The cell of a description."""
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Outcome:
    """What a cell gives: rows of the study's table, and facts for the report that are no part of it."""

    columns: Mapping[str, list[Any]]
    """Columns of equal length; ``metric`` and ``value`` are among them, ``query`` where there are queries."""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Words:
    """A paragraph of the report; `code` between backticks."""

    text: str


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Table:
    """A table, printed and written as Markdown, LaTeX and CSV under this name."""

    name: str
    table: ResultTable


@dataclass(frozen=True)
class Plot:
    """A figure, written as SVG under this name."""

    name: str
    figure: Figure
    caption: str


Part = Words | Heading | Table | Plot


@dataclass(frozen=True)
class Kind:
    """A kind of study."""

    summary: str
    settings: Mapping[str, Setting]
    """Settings of this kind, in the table ``[settings]`` of the file."""
    cells: Callable[[Study], Iterable[Cell]]
    compute: Callable[[Cell], Outcome]
    show: Callable[[Study, Results], Iterable[Part]]
    metrics: tuple[str, ...] = ("ndcg@10", "map")
    """The measures unless the file names others; the first is the headline."""
    rankers: tuple[str, ...] = ()
    """The rankers unless the file names others; none where the kind has no use for rankers."""
    learns: bool = True
    """Whether it needs data sets."""
    truth: str = "labels"
    """The truth of a data set unless the file names another."""
