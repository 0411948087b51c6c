"""Completion of names in the shell: what Tab offers for rankers, measures, losses and other names.

The registries are imported when Tab is pressed, so they cost the other commands nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from typer import Option

REGISTRIES = {
    "ranker": "topkit.rankers:RANKERS",
    "loss": "topkit.losses:LOSSES",
    "measure": "topkit.metrics:METRICS",
    "convention": "topkit.metrics:CONVENTIONS",
    "strategy": "topkit.labelling:STRATEGIES",
    "fusion method": "topkit.fusion:AGGREGATORS",
    "click model": "topkit.clicks:CLICK_MODELS",
}
"""What it is → the module and the name of its registry."""

Complete = Callable[[str], list[str]]


def names_of(what: str) -> Complete:
    """The completion of one name; typed text is completed to the names that start with it.

    >>> names_of("ranker")("lambdam")
    ['lambdamart']
    """

    def complete(incomplete: str) -> list[str]:
        module, _, registry = REGISTRIES[what].partition(":")
        return [name for name in getattr(import_module(module), registry) if name.startswith(incomplete)]

    return complete


def lists_of(what: str) -> Complete:
    """The completion of the last name of a comma-separated list.

    >>> lists_of("measure")("ndcg@10,bpr")
    ['ndcg@10,bpref']
    """
    last_name = names_of(what)

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in last_name(last)]

    return complete


def name_option(what: str, text: str, *, several: bool = False) -> Any:
    """An option whose value is a name of this registry, or several names; ``text`` is its help."""
    return Option(help=text, autocompletion=lists_of(what) if several else names_of(what))
