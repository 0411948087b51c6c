"""The kinds of study by name; each is a file of this folder."""

from __future__ import annotations

from topkit.studies.kind import Kind
from topkit.studies.kinds.compare import COMPARE

KINDS: dict[str, Kind] = {
    "compare": COMPARE,
}
"""Every kind by its name."""
