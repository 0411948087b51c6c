"""The small data set that comes with the package, graded and with features."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from topkit.data import Dataset, read_letor


def demo_path() -> Path:
    """LETOR text: 29 questions about Python's standard library with 14 candidates each."""
    return Path(str(files("topkit.studies").joinpath("demo_data.txt")))


def demo_data() -> Dataset:
    """The embedded data set."""
    return read_letor(demo_path())
