"""Export: a fitted ranker in formats that other programs read."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

from topkit.data.files import written_whole
from topkit.data.settings import lookup
from topkit.export.elasticsearch import to_elasticsearch, to_elasticsearch_ranklib
from topkit.export.forms import FORMS, LinearForm, NetworkForm, Portable, Tree, TreesForm, portable
from topkit.export.onnx import to_onnx
from topkit.export.plain import to_json
from topkit.export.solr import to_solr
from topkit.rankers import Learner

EXPORTERS: dict[str, Callable[[Portable], bytes]] = {
    "onnx": to_onnx,
    "elasticsearch": to_elasticsearch,
    "elasticsearch-ranklib": to_elasticsearch_ranklib,
    "solr": to_solr,
    "json": to_json,
}
"""Format → function that writes a ranker in it, or raises InputError with the reason why it cannot."""


def export_ranker(ranker: Learner, to: str) -> bytes:
    """A fitted ranker in the format ``to``; InputError with the reason if the format cannot represent it.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [1, 0, 0], ["q", "q", "q"])
    >>> export_ranker(tk.ranker("bestfeature").fit(data), "json")[:25]
    b'{\\n "format": "topkit-json'
    """
    return lookup(EXPORTERS, to, "export format")(portable(ranker))


def write_export(ranker: Learner, to: str, path: str | PathLike[str]) -> None:
    """Write :func:`export_ranker` to a file; on an error, an existing file stays as it is."""
    content = export_ranker(ranker, to)
    with written_whole(path) as temporary:
        temporary.write_bytes(content)


__all__ = [
    "EXPORTERS",
    "FORMS",
    "LinearForm",
    "NetworkForm",
    "Portable",
    "Tree",
    "TreesForm",
    "export_ranker",
    "portable",
    "write_export",
]
