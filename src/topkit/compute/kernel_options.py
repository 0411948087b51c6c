"""How kernels are compiled, without importing Numba."""

from __future__ import annotations

from typing import Any

WORTH_COMPILING = 1 << 22
"""Numbers from which on a kernel that NumPy could replace saves more time than compiling it takes, about a
second. Small data then starts at once, and large data needs no float64 copies."""

KERNEL: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
"""Options of ``numba.njit`` for every kernel. No kernel is called from C, so the wrapper for that, a tenth of
what Numba compiles, is left out.

What takes Numba long to compile, and is therefore not used in kernels: assignments to slices, arithmetic on
whole arrays and fancy indexing (they check shapes, and the message of that check alone takes seconds), sorts
of NumPy, ``inline="always"`` (a copy per call), and work that is done once per fit, which NumPy does."""
