"""The settings of a labelling loop: how each of its decisions is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from topkit.data.settings import Setting, check_fields
from topkit.labelling import STRATEGIES

SECONDS_PER_ANSWER = 5.51
"""The published time per preference (Niu et al., SIGIR 2012), for judges that do not report their time."""

Choose = Literal["change", "uncertainty", "coverage", "promise", "random"]


@dataclass(frozen=True)
class LoopSettings:
    """How a :class:`~topkit.loop.LabellingLoop` decides.

    >>> LoopSettings(choose="uncertainty", k=10).k
    10
    """

    choose: Annotated[
        Choose,
        Setting(
            "Which query next: by the expected change of the ranker, the uncertainty of its order, its "
            "distance from labelled queries, where the best documents should stand out, or at random."
        ),
    ] = "change"
    k: Annotated[
        int | None, Setting("Documents per list that are put in order; none lets the loop decide.", low=1)
    ] = None
    candidates: Annotated[
        int | None,
        Setting(
            "Documents per list that are compared; none lets the loop decide, or all if k is set.", low=2
        ),
    ] = None
    explore: Annotated[
        float, Setting("Share of the candidates that are drawn at random.", low=0.0, high=1.0)
    ] = 0.5
    start: Annotated[
        Literal["ranker", "nowhere"],
        Setting("Where a labelling starts: from the order of the ranker, or without a prior."),
    ] = "ranker"
    strategy: Annotated[
        str, Setting("Strategy of each labelling.", choices=tuple(n for n in STRATEGIES if n != "graded"))
    ] = "adaptive"
    batch: Annotated[int, Setting("Queries between two fits of the ranker.", low=1)] = 8
    check_share: Annotated[
        float,
        Setting("Share of the answers that are spent on the unbiased estimate.", low=0.0, high=0.5),
    ] = 0.03
    least_gain: Annotated[
        float | None,
        Setting(
            "Stop when another hour is expected to improve the agreement with the judges by less than this, "
            "at the upper end of its interval; none uses the whole budget.",
            above=0.0,
            high=1.0,
        ),
    ] = None
    seconds: Annotated[
        float, Setting("Seconds per answer if a judge does not report its time.", above=0.0)
    ] = SECONDS_PER_ANSWER

    def __post_init__(self) -> None:
        check_fields(self)
