"""Least effort: QBRank and IsoRank change scores as little as the truth of each query asks for."""

from __future__ import annotations

from topkit.rankers.isotonic.methods import IsoRank, QBRank

__all__ = ["IsoRank", "QBRank"]
