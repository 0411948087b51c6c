"""Sphinx set-up. Reference pages are written from the package's own dictionaries before every build."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import reference

import topkit

project = "topkit"
author = "the topkit developers"
release = topkit.__version__
extensions = ["myst_parser"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "topkit"
exclude_patterns = ["_build"]

reference.write(Path(__file__).parent / "reference")
