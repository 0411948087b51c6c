"""Where the real data is."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def real_data_folder() -> Path | None:
    """The folder named by TOPKIT_DATA, else ../shared/data; None if it does not exist."""
    named = os.environ.get("TOPKIT_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None
