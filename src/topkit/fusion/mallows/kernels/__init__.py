"""Numba kernels of the Mallows model: the distribution of lists with its inverse, and Metropolis chains."""
