"""Runs the notebooks of docs/notebooks and stores their outputs.

Run ``python -m tools.run_notebooks [NAME…]`` in the root of the repository.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "notebooks"


def executed(path: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs of a fresh kernel."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False).execute()
    return notebook


def main() -> None:
    for path in sorted(FOLDER.glob("*.ipynb")):
        if len(sys.argv) == 1 or path.stem in sys.argv[1:]:
            print(path.name, flush=True)
            nbformat.write(executed(path), path)


if __name__ == "__main__":
    main()
