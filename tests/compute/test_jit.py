"""Kernels that come from the cache load without the compiler, and the garbage collector pauses for it."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from topkit.compute import jit
from topkit.compute.jit import PausedCollector

KERNELS = """
import sys

import numpy as np

from topkit.compute.jit import njit


@njit(cache=True)
def doubled(values):
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = 2.0 * values[i]
    return out


@njit(cache=True)
def doubled_sum(values):
    total = 0.0
    for value in doubled(values):
        total += value
    return total


if __name__ == "__main__":
    data = np.array([1.0, 2.5])
    for name in sys.argv[1:]:
        print(globals()[name](data), "numba.np.linalg" in sys.modules)
"""


def test_a_cached_kernel_loads_without_the_compiler(tmp_path: Path) -> None:
    script = tmp_path / "kernels_in_a_file.py"
    script.write_text(KERNELS)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(*names: str) -> list[str]:
        command = [sys.executable, str(script), *names]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    assert run("doubled") == ["[2. 5.] True"], "it is compiled, so the compiler is there"
    assert run("doubled") == ["[2. 5.] False"]
    assert run("doubled", "doubled_sum") == ["[2. 5.] False", "7.0 True"], "a cached kernel inside a new one"
    assert run("doubled_sum", "doubled") == ["7.0 False", "[2. 5.] False"]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_pauses_until_the_outermost_compilation_ends(enabled: bool) -> None:
    collector = PausedCollector()
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        collector.on_start(None)
        collector.on_start(None)
        collector.on_end(None)
        assert not gc.isenabled()
        collector.on_end(None)
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_every_kernel_uses_this_njit() -> None:
    source = Path(jit.__file__).parents[1]
    of_numba = re.compile(r"^\s*(from numba import .*njit|@numba\.)", re.MULTILINE)
    others = [
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if of_numba.search(path.read_text(encoding="utf-8"))
    ]
    assert others == [], "with Numba's own njit, a kernel in the cache would load the compiler"
