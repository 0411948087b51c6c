"""Team-draft interleaving."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topkit.clicks.interleaving.outcome import Interleaved


def team_draft(a: Sequence[str], b: Sequence[str], length: int, rng: np.random.Generator) -> Interleaved:
    """Team draft: both rankers add their best remaining document in turn; a coin decides who is first.

    A click counts for the ranker that added the document. Radlinski, Kurup & Joachims, CIKM 2008.

    Use it as the standard. Not for rankers that differ in few documents: most pages then say nothing.
    """
    docs: list[str] = []
    credit: list[float] = []
    taken: set[str] = set()
    sides = (a, b)
    while len(docs) < length:
        order = (0, 1) if rng.random() < 0.5 else (1, 0)
        before = len(docs)
        for side in order:
            best = next((doc for doc in sides[side] if doc not in taken), None)
            if best is not None and len(docs) < length:
                docs.append(best)
                taken.add(best)
                credit.append(1.0 if side == 0 else -1.0)
        if len(docs) == before:
            break
    return Interleaved(tuple(docs), tuple(credit))
