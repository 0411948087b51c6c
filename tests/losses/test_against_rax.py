"""Values and gradients equal to those of rax 0.4.0, where rax has the loss."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.rax_losses import PEERS, WEIGHTED, Peer, largest_differences

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("rax") is None, reason="rax is not installed (extra 'rax')"
)

ROUNDING = 1e-12


@pytest.mark.parametrize(("name", "settings", "peer"), PEERS, ids=[f"{n}-{s}" for n, s, _ in PEERS])
def test_losses_equal_rax(name: str, settings: dict[str, Any], peer: Peer) -> None:
    value, gradient = largest_differences(name, settings, peer)
    assert value < ROUNDING
    assert gradient < ROUNDING


@pytest.mark.parametrize(("name", "peer"), WEIGHTED, ids=[name for name, _ in WEIGHTED])
def test_document_weights_equal_those_of_rax(name: str, peer: Callable[..., Any]) -> None:
    value, gradient = largest_differences(name, {}, peer, weighted=True)
    assert value < ROUNDING
    assert gradient < ROUNDING
