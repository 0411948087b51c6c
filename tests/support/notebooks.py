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
    for cell in notebook.cells:
        if "outputs" in cell:
            cell["outputs"] = joined(cell["outputs"])
    return notebook


def joined(outputs: list[Any]) -> list[Any]:
    """The outputs of a cell with consecutive prints as one; a kernel sends them in pieces of any size."""
    together: list[Any] = []
    for output in outputs:
        last = together[-1] if together else None
        if last and output["output_type"] == "stream" and output.get("name") == last.get("name"):
            last["text"] += output["text"]
        else:
            together.append(output)
    return together
