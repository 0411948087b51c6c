"""Runs a notebook in a fresh kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def executed(path: Path) -> Any:
    """The notebook with the outputs of this run."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False).execute()
    return notebook
