"""Metric: a measure at a depth and with its settings, as a value that prints and parses back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from topkit.data import InputError
from topkit.metrics.measure import Measure
from topkit.metrics.measures import ALIASES, METRICS

_SHAPE = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9_]*)(?:\((?P<settings>[^()]*)\))?"
    r"(?:@(?P<depth>\d+)(?:\.\.(?P<last>\d+))?)?\Z"
)
_TREC_DEPTH = re.compile(r"([A-Za-z][A-Za-z_]*)_(\d+)\Z")


@dataclass(frozen=True)
class Metric:
    """A measure with its depth (None: the whole list) and the settings that differ from the default.

    >>> metric("ndcg@10")
    Metric('ndcg@10')
    >>> str(metric("rr(rel=2)@20")), metric("AP").name, str(metric("P_5"))
    ('rr(rel=2)@20', 'map', 'p@5')
    """

    name: str
    depth: int | None = None
    settings: tuple[tuple[str, float], ...] = ()

    @property
    def measure(self) -> Measure:
        return METRICS[self.name]

    def __str__(self) -> str:
        settings = ",".join(f"{key}={value:g}" for key, value in self.settings)
        return (
            self.name
            + (f"({settings})" if settings else "")
            + ("" if self.depth is None else f"@{self.depth}")
        )

    def __repr__(self) -> str:
        return f"Metric({str(self)!r})"


def metric(text: str | Metric) -> Metric:
    """The metric that prints as ``text``: ``name``, ``name@depth``, ``name(setting=value)@depth``.

    Names are those of :data:`topkit.metrics.METRICS`; names of trec_eval (``ndcg_cut_10``, ``recip_rank``,
    ``P_5``) are understood too.
    """
    if isinstance(text, Metric):
        return text
    found = parse_metrics(text)
    if len(found) != 1:
        raise InputError(f"{text!r} names {len(found)} metrics", "name one")
    return found[0]


def parse_metrics(text: str | Metric | Iterable[str | Metric]) -> list[Metric]:
    """Metrics of a list or of a comma-separated text; ``ndcg@1..10`` stands for ten. None comes twice.

    >>> parse_metrics("ndcg@1..3,err")
    [Metric('ndcg@1'), Metric('ndcg@2'), Metric('ndcg@3'), Metric('err')]
    """
    if isinstance(text, Metric):
        return [text]
    parts: Sequence[str | Metric] = _split(text) if isinstance(text, str) else list(text)
    found: list[Metric] = []
    for part in parts:
        if isinstance(part, Metric):
            found.append(part)
        elif "," in part:
            found += [one for piece in _split(part) for one in _parse(piece)]
        else:
            found += _parse(part)
    if not found:
        raise InputError("no metric is named", "name at least one, such as ndcg@10")
    return list(dict.fromkeys(found))


def _split(text: str) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _parse(text: str) -> list[Metric]:
    text = text.strip()
    match = _SHAPE.match(text)
    if match is None:
        raise InputError(f"cannot read the metric {text!r}", "write it as ndcg@10, err or rbp(p=0.8)")
    name = _known(match["name"])
    if name is None and match["depth"] is None and (trec := _TREC_DEPTH.match(match["name"])):
        name = _known(trec[1])
        if name is not None:
            return [_checked(name, int(trec[2]), {}, text)]
    if name is None:
        from difflib import get_close_matches

        near = get_close_matches(match["name"].lower(), [*METRICS, *ALIASES], 3, 0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"choose from {', '.join(METRICS)}"
        raise InputError(f"unknown metric {match['name']!r}", hint)
    settings = _settings(match["settings"] or "", name, text)
    if match["depth"] is None:
        return [_checked(name, None, settings, text)]
    first = int(match["depth"])
    last = int(match["last"] or first)
    if last < first:
        raise InputError(f"the depths of {text!r} run backwards", f"write @{last}..{first}")
    return [_checked(name, depth, settings, text) for depth in range(first, last + 1)]


def _known(name: str) -> str | None:
    lower = name.lower()
    lower = ALIASES.get(lower, lower)
    return lower if lower in METRICS else None


def _settings(text: str, name: str, whole: str) -> dict[str, float]:
    allowed = METRICS[name].settings
    settings: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not equals or key not in allowed or number != number:
            known = ", ".join(f"{setting}=NUMBER" for setting in allowed) or "none"
            raise InputError(f"cannot use {part!r} in {whole!r}", f"settings of {name}: {known}")
        settings[key] = number
    return settings


def _checked(name: str, depth: int | None, settings: dict[str, float], text: str) -> Metric:
    measure = METRICS[name]
    if depth is not None and measure.depth == "never":
        raise InputError(f"{name} takes no depth, but {text!r} gives one", f"write {name}")
    if depth == 0:
        raise InputError(f"the depth of {text!r} must be at least 1")
    kept = {key: value for key, value in settings.items() if value != measure.settings[key]}
    return Metric(name, depth, tuple(sorted(kept.items())))
