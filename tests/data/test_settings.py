"""Settings: one declaration gives the check, the messages, the parsing of texts and the search space."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkit.data import InputError
from topkit.data.settings import (
    Setting,
    Span,
    check_fields,
    check_settings,
    lookup,
    parse_settings,
    search_space,
    settings_of,
    show_value,
    split_assignments,
    suggestion,
)


class Scorer:
    """A class of its own as the type of a setting."""


def method(
    data: str,
    k: Annotated[int, Setting("Cut-off.", low=1, search=(5, 10))] = 10,
    rate: Annotated[float, Setting("Step size.", above=0, high=1, search=Span(0.01, 1, log=True))] = 0.1,
    share: Annotated[float, Setting("Share.", low=0, high=1)] = 0.5,
    scorer: Annotated[str | Scorer, Setting("Scorer.", choices=("linear", "mlp", "trees"))] = "linear",
    hidden: Annotated[tuple[int, ...], Setting("Sizes.", low=1)] = (32, 16),
    bounds: Annotated[tuple[float, float], Setting("Two bounds.")] = (0.0, 1.0),
    names: Annotated[tuple[str, ...] | None, Setting("Names.")] = None,
    depth: Annotated[int | None, Setting("Depth.", low=1)] = None,
    balanced: Annotated[bool, Setting("Balance queries.")] = False,
    weight: Annotated[float | Literal["auto"], Setting("Weight.", low=0)] = "auto",
    mode: Annotated[Literal["mean", "sum"] | None, Setting("Mode.")] = None,
    base_settings: Annotated[Mapping[str, Any], Setting("Settings of the base.")] = {},
    slack: Annotated[float, Setting("Slack.", low=0, high=math.inf)] = math.inf,
    gain: Annotated[Callable[[float], float] | None, Setting("Gain.")] = None,
) -> None:
    """A method with a setting of every type."""


DECLARED = settings_of(method)


def test_names_types_and_defaults_come_from_the_signature() -> None:
    assert "data" not in DECLARED
    assert DECLARED["k"].name == "k"
    assert DECLARED["k"].type is int
    assert DECLARED["k"].default == 10
    assert not DECLARED["k"].required
    assert DECLARED["k"].meaning == "Cut-off."
    assert DECLARED["mode"].choices == ("mean", "sum")
    assert DECLARED["mode"].optional
    assert settings_of(method) == DECLARED


def test_settings_of_a_dataclass() -> None:
    @dataclass(frozen=True)
    class Method:
        k: Annotated[int, Setting("Cut-off.", low=1)]
        sizes: Annotated[tuple[int, ...], Setting("Sizes.")] = (1,)
        extra: Annotated[Mapping[str, Any], Setting("More.")] = field(default_factory=dict)
        unlisted: int = 3

        def __post_init__(self) -> None:
            check_fields(self)

    declared = settings_of(Method)
    assert list(declared) == ["k", "sizes", "extra"]
    assert declared["k"].required
    assert declared["extra"].default == {}
    assert Method(np.int64(4), [2, 3]).sizes == (2, 3)  # type: ignore[arg-type]
    assert type(Method(np.int64(4)).k) is int  # type: ignore[arg-type]
    with pytest.raises(InputError, match="k must be an integer of at least 1, got 0"):
        Method(0)


EXPECTED = {
    "k": "an integer of at least 1",
    "rate": "a number greater than 0 and of at most 1",
    "share": "a number from 0 to 1",
    "scorer": "one of linear, mlp, trees or a Scorer",
    "hidden": "a list of integers, each of at least 1",
    "bounds": "a list of 2 numbers",
    "names": "a list of names, or none",
    "depth": "an integer of at least 1, or none",
    "balanced": "true or false",
    "weight": "a number of at least 0 or one of auto",
    "mode": "one of mean, sum, or none",
    "base_settings": "a table of settings",
    "slack": "a number of at least 0",
    "gain": "a function, or none",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_allowed_values_in_words(name: str) -> None:
    assert DECLARED[name].expected == EXPECTED[name]


SCORER = Scorer()


@pytest.mark.parametrize(
    ("name", "value", "converted"),
    [
        ("k", 3, 3),
        ("k", np.int32(3), 3),
        ("rate", 1, 1.0),
        ("rate", np.float32(0.5), 0.5),
        ("scorer", "mlp", "mlp"),
        ("scorer", SCORER, SCORER),
        ("hidden", 8, (8,)),
        ("hidden", [8, 4], (8, 4)),
        ("hidden", (), ()),
        ("hidden", np.array([8, 4]), (8, 4)),
        ("bounds", [0, 2], (0.0, 2.0)),
        ("names", ["a", "b"], ("a", "b")),
        ("names", "a", ("a",)),
        ("names", [1, "b"], ("1", "b")),
        ("names", None, None),
        ("depth", None, None),
        ("depth", 2, 2),
        ("balanced", True, True),
        ("balanced", np.bool_(True), True),
        ("weight", "auto", "auto"),
        ("weight", 2, 2.0),
        ("mode", "sum", "sum"),
        ("base_settings", {"passes": 2}, {"passes": 2}),
        ("slack", math.inf, math.inf),
        ("gain", math.sqrt, math.sqrt),
    ],
)
def test_allowed_values(name: str, value: Any, converted: Any) -> None:
    checked = DECLARED[name].check(value)
    assert checked == converted
    assert type(checked) is type(converted)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("k", 0),
        ("k", 2.0),
        ("k", True),
        ("k", "10"),
        ("k", None),
        ("k", np.float64(2)),
        ("rate", 0),
        ("rate", 1.5),
        ("rate", math.nan),
        ("rate", False),
        ("share", -0.1),
        ("share", math.inf),
        ("weight", math.inf),
        ("weight", -math.inf),
        ("slack", -math.inf),
        ("slack", math.nan),
        ("scorer", "forest"),
        ("scorer", 3),
        ("hidden", [8, 0]),
        ("hidden", [8, 2.5]),
        ("hidden", "8"),
        ("hidden", [True]),
        ("bounds", [1.0]),
        ("names", ["a", None]),
        ("bounds", [1, 2, 3]),
        ("depth", 0),
        ("balanced", 1),
        ("balanced", "true"),
        ("weight", "none"),
        ("mode", "max"),
        ("base_settings", 3),
        ("gain", 2.0),
    ],
)
def test_refused_values(name: str, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        DECLARED[name].check(value)
    assert caught.value.problem == f"{name} must be {EXPECTED[name]}, got {value!r}"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("k", " 7 ", 7),
        ("rate", "5e-2", 0.05),
        ("rate", "1", 1.0),
        ("scorer", "trees", "trees"),
        ("hidden", "32, 16", (32, 16)),
        ("hidden", "8", (8,)),
        ("hidden", "", ()),
        ("bounds", "0,2", (0.0, 2.0)),
        ("names", "a,b", ("a", "b")),
        ("names", "none", None),
        ("depth", "None", None),
        ("depth", "3", 3),
        ("balanced", "true", True),
        ("balanced", "False", False),
        ("weight", "0.5", 0.5),
        ("weight", "auto", "auto"),
        ("mode", "none", None),
        ("slack", "inf", math.inf),
    ],
)
def test_texts(name: str, text: str, value: Any) -> None:
    assert DECLARED[name].parse(text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("k", "many"),
        ("k", "2.5"),
        ("k", "1_0"),
        ("k", ""),
        ("k", "none"),
        ("rate", "nan"),
        ("rate", "inf"),
        ("hidden", "8,"),
        ("hidden", "8;4"),
        ("bounds", "1"),
        ("balanced", "yes"),
        ("balanced", "1"),
        ("base_settings", "passes"),
        ("gain", "sqrt"),
    ],
)
def test_refused_texts(name: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        DECLARED[name].parse(text)
    assert caught.value.problem == f"{name} must be {EXPECTED[name]}, got {text!r}"


def test_messages_help() -> None:
    with pytest.raises(InputError, match="got 'linaer'; did you mean 'linear'"):
        DECLARED["scorer"].check("linaer")
    with pytest.raises(InputError, match=r"entries one by one: base_settings\.NAME=VALUE"):
        DECLARED["base_settings"].parse("passes=2")


def test_several_values_at_once() -> None:
    assert check_settings(DECLARED, {"k": 5, "rate": 1}, "ranker 'x'") == {"k": 5, "rate": 1.0}
    assert check_settings(DECLARED, {}, "ranker 'x'") == {}
    with pytest.raises(InputError, match=r"the ranker 'x' has no setting 'depht'; did you mean 'depth'\?"):
        check_settings(DECLARED, {"depht": 3}, "ranker 'x'")
    with pytest.raises(InputError, match="no setting 'zzz'; it takes k, rate"):
        check_settings({name: DECLARED[name] for name in ("k", "rate")}, {"zzz": 3}, "ranker 'x'")
    with pytest.raises(InputError, match="the loss 'x' has no setting 'k'; it takes none"):
        check_settings({}, {"k": 3}, "loss 'x'")


def test_assignments() -> None:
    texts = split_assignments(["k=5", "base-settings.passes=2", "base_settings.deep.er = x=y ", "hidden="])
    assert texts == {"k": "5", "base_settings": {"passes": "2", "deep": {"er": "x=y"}}, "hidden": ""}
    assert parse_settings(DECLARED, texts, "ranker 'x'") == {
        "k": 5,
        "base_settings": {"passes": "2", "deep": {"er": "x=y"}},
        "hidden": (),
    }
    assert split_assignments(["k=5", "k=6"]) == {"k": "6"}
    with pytest.raises(InputError, match=r"k must be an integer of at least 1, got \{'deep': '2'\}"):
        parse_settings(DECLARED, split_assignments(["k.deep=2"]), "ranker 'x'")
    with pytest.raises(InputError, match="has no setting 'kk'"):
        parse_settings(DECLARED, {"kk": "2"}, "ranker 'x'")


@pytest.mark.parametrize("text", ["k", "=5", ".k=5", "a..b=5", "a.=5", ""])
def test_invalid_assignments(text: str) -> None:
    with pytest.raises(InputError, match="write it as name=value"):
        split_assignments([text])


@pytest.mark.parametrize("texts", [["a=1", "a.b=2"], ["a.b=2", "a=1"]])
def test_a_value_and_entries_of_one_name(texts: list[str]) -> None:
    with pytest.raises(InputError, match="'a' is already set; give it a value or entries, not both"):
        split_assignments(texts)


def test_search_space() -> None:
    assert search_space(DECLARED) == {"k": (5, 10), "rate": Span(0.01, 1, log=True)}


def test_lookup() -> None:
    registry = {"listnet": 1, "listmle": 2, "svm": 3}
    assert lookup(registry, "svm", "ranker") == 3
    with pytest.raises(InputError, match=r"unknown ranker 'lisnet'; did you mean 'listnet'\?"):
        lookup(registry, "lisnet", "ranker")
    with pytest.raises(InputError, match="unknown ranker 'boost'; choose from listnet, listmle, svm"):
        lookup(registry, "boost", "ranker")
    assert suggestion("SVM", registry, "") == "did you mean 'svm'?"


numbers = st.floats(allow_nan=False, allow_infinity=False)


WHOLE = st.integers(1, 2**63 - 1)


@given(numbers, st.lists(WHOLE), st.none() | WHOLE, st.booleans())
def test_shown_values_parse_back(weight: float, hidden: list[int], depth: int | None, balanced: bool) -> None:
    assert DECLARED["weight"].parse(show_value(abs(weight))) == abs(weight)
    assert DECLARED["hidden"].parse(show_value(hidden)) == tuple(hidden)
    assert DECLARED["depth"].parse(show_value(depth)) == depth
    assert DECLARED["balanced"].parse(show_value(balanced)) is balanced


@given(st.text())
def test_any_text_is_a_value_or_an_input_error(text: str) -> None:
    for setting in DECLARED.values():
        try:
            value = setting.parse(text)
        except InputError:
            continue
        assert setting.check(value) == value
