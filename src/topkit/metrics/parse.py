"""Metric: a measure at a depth and with settings, as a value that prints and parses back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from topkit.data import InputError
from topkit.data.settings import check_settings
from topkit.metrics.measure import Measure
from topkit.metrics.measures import ALIASES, METRICS

_SHAPE = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9_]*)(?:\((?P<settings>[^()]*)\))?"
    r"(?:@(?P<depth>\d+)(?:\.\.(?P<last>\d+))?)?\Z"
)
_TREC_DEPTH = re.compile(r"([A-Za-z][A-Za-z_]*)_(\d+)\Z")

MAX_DEPTHS = 1000
"""Maximum number of depths in one range; more is a typing mistake, and would take minutes."""
MAX_DEPTH_DIGITS = 9
"""Most digits of a depth: no list is longer than a billion documents."""


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
        """The entry of METRICS."""
        return METRICS[self.name]

    def __str__(self) -> str:
        settings = ",".join(f"{key}={_shown(value)}" for key, value in self.settings)
        return (
            self.name
            + (f"({settings})" if settings else "")
            + ("" if self.depth is None else f"@{self.depth}")
        )

    def __repr__(self) -> str:
        return f"Metric({str(self)!r})"


def metric(text: str | Metric | object) -> Metric:
    """The metric that prints as ``text``: ``name``, ``name@depth``, ``name(setting=value)@depth``.

    Names are those of :data:`topkit.metrics.METRICS`; names of trec_eval (``ndcg_cut_10``, ``recip_rank``,
    ``P_5``) are accepted too.
    """
    if isinstance(text, Metric):
        return text
    metrics = parse_metrics(text)
    if len(metrics) != 1:
        raise InputError(f"expected one metric, {text!r} names {len(metrics)}", "name one")
    return metrics[0]


def parse_metrics(text: str | Metric | Iterable[object] | object) -> list[Metric]:
    """Metrics from a list or a comma-separated text, without repeats; ``ndcg@1..10`` is ten metrics.

    >>> parse_metrics("ndcg@1..3,err")
    [Metric('ndcg@1'), Metric('ndcg@2'), Metric('ndcg@3'), Metric('err')]
    """
    if isinstance(text, Metric):
        return [text]
    if not isinstance(text, Iterable):
        text = str(text)  # a measure object of ir_measures prints as it is written here: nDCG@10
    parts: Sequence[object] = _split(text) if isinstance(text, str) else list(text)
    metrics: list[Metric] = []
    for part in parts:
        if isinstance(part, Metric):
            metrics.append(part)
        else:
            metrics += [chosen for piece in _split(str(part)) for chosen in _parse(piece)]
    if not metrics:
        raise InputError("no metric was named", "name at least one, such as ndcg@10")
    return list(dict.fromkeys(metrics))


def _split(text: str) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _parse(text: str) -> list[Metric]:
    text = text.strip()
    match = _SHAPE.match(text)
    if match is None:
        raise InputError(f"invalid metric {text!r}", "write it as ndcg@10, err or rbp(p=0.8)")
    name = _known(match["name"])
    if name is None and match["depth"] is None and (trec := _TREC_DEPTH.match(match["name"])):
        name = _known(trec[1])
        if name is not None:
            return [_checked(name, _depth(trec[2], text), {}, text)]
    if name is None:
        from difflib import get_close_matches

        near = get_close_matches(match["name"].lower(), [*METRICS, *ALIASES], 3, 0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"choose from {', '.join(METRICS)}"
        raise InputError(f"unknown metric {match['name']!r}", hint)
    settings = _settings(match["settings"] or "", name, text)
    if match["depth"] is None:
        return [_checked(name, None, settings, text)]
    first = _depth(match["depth"], text)
    last = first if match["last"] is None else _depth(match["last"], text)
    if last < first:
        raise InputError(f"the depths of {text!r} are in descending order", f"write @{last}..{first}")
    if last - first >= MAX_DEPTHS:
        raise InputError(f"{text!r} is {last - first + 1:,} metrics", f"name at most {MAX_DEPTHS:,} depths")
    return [_checked(name, depth, settings, text) for depth in range(first, last + 1)]


def _depth(digits: str, text: str) -> int:
    if len(digits) > MAX_DEPTH_DIGITS:
        raise InputError(f"the depth of {text[:40]!r} has {len(digits):,} digits", "write a smaller depth")
    return int(digits)


def _shown(value: float) -> str:
    """The shortest text that parses back to the value."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


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
            raise InputError(f"invalid setting {part!r} in {whole!r}", f"settings of {name}: {known}")
        settings[key] = int(number) if allowed[key].type is int and number.is_integer() else number
    return check_settings(allowed, settings, f"metric {name!r}")


def _checked(name: str, depth: int | None, settings: dict[str, float], text: str) -> Metric:
    measure = METRICS[name]
    if depth is not None and measure.depth == "never":
        raise InputError(f"{name} does not take a depth, got {text!r}", f"write {name}")
    if depth == 0:
        raise InputError(f"the depth must be at least 1, got {text!r}")
    kept = {key: value for key, value in settings.items() if value != measure.settings[key].default}
    return Metric(name, depth, tuple(sorted(kept.items())))
