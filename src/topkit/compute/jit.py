"""``njit`` for the kernels: Numba's, except that a kernel from the cache loads without the compiler.

Before Numba reads a kernel from its cache, it imports all that the compiler knows about Python and NumPy (and
scipy.linalg with it): about half a second in every process, and only compiling needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
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
