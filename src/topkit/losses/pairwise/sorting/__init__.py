"""Pairwise losses whose sums over pairs follow from a sorted list."""
