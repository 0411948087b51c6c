"""The settings of the budget study, shared by its cells and its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from topkit.data.settings import Setting
from topkit.labelling.strategies import PAIRWISE
from topkit.studies.assessors import AGREEMENT

GRADES = "graded"
"""The strategy that grades documents instead of comparing them."""
FOR_PEOPLE = (*PAIRWISE, GRADES)


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``budget``."""

    strategies: Annotated[tuple[str, ...], Setting("Labelling strategies.", choices=FOR_PEOPLE)] = PAIRWISE
    minutes: Annotated[tuple[int, ...], Setting("Assessor time.", low=1)] = (30, 60, 120, 240, 480, 960)
    k: Annotated[int, Setting("Documents per list that are put in order.", low=1)] = 10
    agreement: Annotated[
        float, Setting("Share of pairs on which two assessors who compare agree.", above=0.5, high=0.999)
    ] = AGREEMENT["preferences"]
    agreement_of_grades: Annotated[
        float, Setting("The same for the preferences that grades imply.", above=0.5, high=0.999)
    ] = AGREEMENT["grades"]
    sweep: Annotated[
        tuple[float, ...],
        Setting("Lower agreements, to see where the answer changes.", above=0.5, high=0.999),
    ] = (0.85, 0.8, 0.75, 0.7, 0.65)
    sweep_strategies: Annotated[
        tuple[str, ...], Setting("Strategies to run at the lower agreements.", choices=FOR_PEOPLE)
    ] = ("adaptive",)
