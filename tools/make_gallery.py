"""Draws the pictures of docs/gallery.md again: runs the blocks of the page in docs/images.

Run ``python -m tools.make_gallery`` in the root of the repository.
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.pages import run_page

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> None:
    page = DOCS / "gallery.md"
    os.chdir(DOCS / "images")
    run_page(page.read_text(encoding="utf-8"), page.name)


if __name__ == "__main__":
    main()
