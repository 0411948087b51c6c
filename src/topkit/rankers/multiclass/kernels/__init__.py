"""Numba kernels of AdaBoost.MH."""
