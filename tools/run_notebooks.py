"""Runs the notebooks of docs/notebooks and stores their outputs.

Run ``python -m tools.run_notebooks [NAME…]`` in the root of the repository.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from tests.support.notebooks import executed

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "notebooks"


def main() -> None:
    for path in sorted(FOLDER.glob("*.ipynb")):
        if len(sys.argv) == 1 or path.stem in sys.argv[1:]:
            print(path.name, flush=True)
            nbformat.write(executed(path), path)


if __name__ == "__main__":
    main()
