"""Numba kernels that sum over pairs: by visiting them, or by sweeps over a sorted list."""
