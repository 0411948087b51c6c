"""Names of metrics: printing, parsing, ranges, aliases, mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from topkit.data import InputError
from topkit.metrics import ALIASES, Metric, parse_metrics


@given(st.sampled_from(sorted(tk.METRICS)), st.none() | st.integers(1, 2000), st.data())
def test_prints_and_parses_back(name: str, depth: int | None, data: st.DataObject) -> None:
    measure = tk.METRICS[name]
    settings = {
        key: value
        for key in measure.settings
        if (value := data.draw(st.none() | st.integers(1, 9))) is not None
        and value != measure.settings[key].default
    }
    made = Metric(name, depth if measure.depth == "optional" else None, tuple(sorted(settings.items())))
    assert tk.metric(str(made)) == made


def test_ranges_lists_and_repeats() -> None:
    assert [str(m) for m in parse_metrics("ndcg@1..3, err,p@2 ,err")] == [
        "ndcg@1",
        "ndcg@2",
        "ndcg@3",
        "err",
        "p@2",
    ]
    assert parse_metrics(["ndcg@1..2", tk.metric("err")]) == parse_metrics("ndcg@1,ndcg@2,err")
    assert str(tk.metric("err(top=4)@5")) == "err(top=4)@5"
    assert str(tk.metric("rpr(page=10)")) == "rpr"  # the default is not printed


@pytest.mark.parametrize(
    ("text", "name"),
    [("AP", "map"), ("P_10", "p@10"), ("ndcg_cut_5", "ndcg@5"), ("recip_rank", "rr"), ("NDCG@3", "ndcg@3")],
)
def test_other_names(text: str, name: str) -> None:
    assert str(tk.metric(text)) == name


def test_aliases_name_measures() -> None:
    for alias, name in ALIASES.items():
        assert name in tk.METRICS
        assert alias not in tk.METRICS
        assert alias == alias.lower()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@10", "did you mean .*ndcg"),
        ("ndcg@0", "at least 1"),
        ("ndcg@5..2", "descending order"),
        ("rprec@5", "does not take a depth"),
        ("p(colour=3)@5", "settings of p: rel=NUMBER"),
        ("p(rel=red)", "settings of p"),
        ("ndcg@@3", "invalid metric"),
        ("", "no metric"),
        ("ndcg@1..3", "names 3"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tk.metric(text)


def test_every_metric_is_in_the_guide() -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs" / "metrics.md").read_text()
    for name in [*tk.METRICS, *tk.CONVENTIONS]:
        assert f"`{name}`" in guide or f"`{name}(" in guide, name
