"""``njit`` for the kernels: Numba's, with a faster start.

Before Numba reads a kernel from its cache, it imports all that the compiler knows about Python and NumPy (and
scipy.linalg with it): about half a second in every process, and only compiling needs it. While it compiles,
the garbage collector visits the many objects of the compiler again and again, 6 % of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache on disk; prepares the compiler only if there is something to compile.

    A kernel that hashes texts or has ``parallel=True`` needs more than the memory management of Numba: use
    Numba's own ``njit`` for such a kernel.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for these argument types, or None."""
        rtsys.initialize(target_context)  # memory management, which compiled code calls
        with self._guard_against_spurious_io_errors():
            compiled = self._load_overload(sig, target_context)
            if compiled is not None:
                return compiled
        target_context.refresh()
        return None


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` with these options, and with :class:`KernelCache` if ``cache`` is true."""

    def compile_later(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**options)(function)
        if cache and not numba.config.DISABLE_JIT:
            dispatcher._cache = KernelCache(function)
        return dispatcher

    return compile_later


class PausedCollector(event.Listener):  # type: ignore[misc]
    """Pauses the garbage collector from the start of the outermost compilation to its end.

    Numba compiles under a lock, so there is one outermost compilation at a time.
    """

    depth = 0
    was_enabled = False

    def on_start(self, event: Any) -> None:
        """Pause, unless an outer compilation already has."""
        if self.depth == 0:
            self.was_enabled = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """Continue after the outermost compilation, if the collector was running before it."""
        self.depth -= 1
        if self.depth == 0 and self.was_enabled:
            gc.enable()


event.register("numba:compile", PausedCollector())
