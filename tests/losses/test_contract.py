"""The contract of a loss: one function and one line; declared settings; kernels that are cached on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest

import topkit as tk
from topkit.compute import Floats, Ints
from topkit.data.settings import Setting, search_space, settings_of
from topkit.losses import LOSSES
from topkit.losses.base import Block, define


def squared_sum(
    scores: Floats, total: Floats, ptr: Ints, *, power: Annotated[int, Setting("Exponent.", low=1)] = 2
) -> Block:
    """(Σ s − Σ y)^power of each query; a loss for this test."""
    CALLS["function"] += 1
    gap = np.add.reduceat(scores, ptr[:-1]) - total
    each = np.diff(ptr)
    values = gap**power
    gradient = np.repeat(power * gap ** (power - 1), each)
    return values, gradient, np.full(len(scores), 2.0)


def label_sums(
    labels: Floats, ptr: Ints, *, factor: Annotated[float, Setting("Factor of labels.")] = 1.0
) -> Floats:
    CALLS["prepare"] += 1
    return factor * np.array([labels[a:b].sum() for a, b in pairwise(ptr)])


CALLS: Counter[str] = Counter()


def test_a_function_and_a_preparation_make_a_loss() -> None:
    CALLS.clear()
    make = define(squared_sum, label_sums)
    loss = make(factor=2)
    assert (loss.name, dict(loss.settings)) == ("squared-sum", {"factor": 2.0, "power": 2})
    objective = loss.on([1, 2, 3], [0, 2, 3])
    for _ in range(3):
        value, gradient = objective([1.0, 1.0, 1.0])
    assert CALLS == {"prepare": 1, "function": 3}  # labels are prepared once
    assert value == (2 - 6) ** 2 + (1 - 6) ** 2
    assert gradient.tolist() == [-8.0, -8.0, -10.0]
    with pytest.raises(tk.InputError, match="power must be an integer of at least 1, got 0"):
        make(power=0)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_entries_are_documented_and_declared(name: str) -> None:
    make = LOSSES[name]
    assert make().name == name
    assert (make.__doc__ or "").strip()
    assert all(setting.meaning.endswith(".") for setting in settings_of(make).values())
    assert make().settings == {key: setting.default for key, setting in settings_of(make).items()}


def test_focused_declares_what_a_search_may_try() -> None:
    known = settings_of(LOSSES["focused"])
    assert list(known) == ["k", "beta", "within", "across", "m"]
    assert search_space(known)["beta"] == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    with pytest.raises(tk.InputError, match="within must be one of listnet, listmle, rankcosine"):
        tk.loss("focused", within="lisnet")


PROGRAM = """
import numpy as np
from topkit.losses import loss
from topkit.losses.pairwise.kernels import margins, visits
loss("hinge")([0.5, 0.2, 0.1], [1, 0, 2], [0, 3])
print(sum(visits.pair_kernel(margins.hinge).stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_a_generated_kernel_is_compiled_once(tmp_path: Path) -> None:
    """A second process finds the kernel of the first in the cache, although a factory makes it."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    hits = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
        ).stdout.strip()
        for _ in range(2)
    ]
    assert hits == ["0", "1"]
