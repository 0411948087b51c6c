"""Sphinx set-up. Reference pages are written from the package's own dictionaries before every build."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import reference

import topkit

project = "topkit"
author = "the topkit developers"
project_copyright = author
release = topkit.__version__
extensions = ["myst_nb", "sphinx_copybutton", "sphinx_design"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the outputs are stored in the notebooks; a test runs them again and compares
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
html_theme = "furo"
html_title = "topkit"
html_static_path = ["_static"]
html_css_files = ["topkit.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6bcb", "color-brand-content": "#0b6bcb"},
    "dark_css_variables": {"color-brand-primary": "#6cb2ff", "color-brand-content": "#6cb2ff"},
    "navigation_with_keys": True,
}
exclude_patterns = ["_build"]

reference.write(Path(__file__).parent / "reference")
