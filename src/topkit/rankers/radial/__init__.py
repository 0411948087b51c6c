"""Rankers with a radial kernel: support vector regression and RankSVM."""

from topkit.rankers.radial.model import RadialKernel
from topkit.rankers.radial.ranksvm import RankSVMRBF
from topkit.rankers.radial.svr import SVR

__all__ = ["SVR", "RadialKernel", "RankSVMRBF"]
