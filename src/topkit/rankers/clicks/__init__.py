"""Clicks and grades together: a Bayesian ranker that learns online from result pages."""

from __future__ import annotations
