"""Methods that learn from labels say so when they are given preferences."""

from __future__ import annotations

from topkit.data import InputError
from topkit.rankers.contract import Job


def labels_only(job: Job, name: str) -> None:
    """Raise if a job brings preferences, which the ranker of this name cannot use."""
    if job.preferences is not None:
        raise InputError(
            f"the ranker {name!r} learns from labels, not from preferences",
            "use a pairwise ranker with pairs='given', such as ranksvm",
        )
