"""The version, in a place that every room may import."""

__version__ = "0.2.0.dev0"
