"""Functions that take a dataclass and are called with its fields."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest

from topkit.compute import fields_as_parameters
from topkit.data.settings import Setting, settings_of


@dataclass(frozen=True)
class Size:
    """A group with a required field, a setting and a default."""

    width: int
    height: Annotated[int, Setting("Rows.", low=1)] = 2


@fields_as_parameters(Size)
def area(name: str, size: Size, *, unit: str = "m") -> str:
    """The area of a thing."""
    return f"{name} {size.width * size.height} {unit}²"


def test_fields_replace_the_parameter() -> None:
    assert list(inspect.signature(area).parameters) == ["name", "width", "height", "unit"]
    assert (area.__name__, area.__doc__) == ("area", "The area of a thing.")
    assert area("wall", 3) == "wall 6 m²"
    assert area("wall", width=3, height=4, unit="cm") == "wall 12 cm²"


def test_settings_are_read_from_the_fields() -> None:
    assert settings_of(area)["height"].default == 2
    assert "width" not in settings_of(area)


def test_a_missing_field_is_a_missing_argument() -> None:
    with pytest.raises(TypeError, match="width"):
        area("wall")
    with pytest.raises(TypeError, match="depth"):
        area("wall", 3, depth=1)
