"""A Bayesian ranker that learns from grades and, online, from clicks on result pages."""

from __future__ import annotations
