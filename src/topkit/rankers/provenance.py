"""Where a model comes from: a fingerprint of its data, and the versions it was made with."""

from __future__ import annotations

import hashlib
import platform
from typing import Any

import numpy as np

from topkit.data import Dataset
from topkit.version import __version__


def fingerprint(data: Dataset) -> str:
    """SHA-256 of features, labels, queries and kind of truth; the same data has it in any file format.

    >>> a = Dataset.build([[1.0], [0.5]], [1, 0], ["q", "q"])
    >>> fingerprint(a) == fingerprint(Dataset.build([[1.0], [0.5]], [0, 1], ["q", "q"]))
    False
    """
    digest = hashlib.sha256()
    digest.update(repr((data.X.shape, str(data.truth), data.qids)).encode("utf-8", "surrogateescape"))
    for array in (data.X, data.y, data.ptr):
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()


def describe(data: Dataset) -> dict[str, Any]:
    """A data set in a few words and its fingerprint."""
    return {
        "sha256": fingerprint(data),
        "queries": data.n_queries,
        "documents": len(data),
        "features": data.n_features,
        "truth": str(data.truth),
    }


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python, topkit, NumPy and other packages that took part."""
    from importlib.metadata import version

    names = ("numpy", *packages)
    return {
        "python": platform.python_version(),
        "topkit": __version__,
        **{name: version(name) for name in names},
    }
