"""Measures with named conventions, and significance tests."""
