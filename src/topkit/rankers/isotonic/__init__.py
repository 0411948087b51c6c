"""QBRank and IsoRank: trees fitted to the smallest change of scores that satisfies the preferences."""

from __future__ import annotations

from topkit.rankers.isotonic.methods import IsoRank, QBRank

__all__ = ["IsoRank", "QBRank"]
