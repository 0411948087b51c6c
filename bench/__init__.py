"""Benchmarks: every figure is a ratio to a peer in the same run. ``python -m bench`` runs them all."""
