"""The first use of a kernel compiles it, which can take half a minute in total, so the user is told why.

Numba says when it compiles; a kernel that comes from its cache is not compiled. Numba itself is imported only
by commands that need it, so the watch starts when that happens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

MESSAGE = "compiling kernels for the first use: up to half a minute, later runs start at once …"


def announce_compiling(say: Callable[[str], None]) -> None:
    """Call ``say`` once, when the first kernel is compiled in this process."""
    if "numba" in sys.modules:
        _listen(say)
    else:
        sys.meta_path.insert(0, _WaitForNumba(say))


class _WaitForNumba(MetaPathFinder):
    """Starts to listen as soon as Numba has been imported."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "numba":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        loader = None if spec is None else spec.loader
        if spec is None or loader is None:
            return spec
        execute = loader.exec_module

        def execute_and_listen(module: ModuleType) -> None:
            execute(module)
            _listen(self.say)

        loader.exec_module = execute_and_listen  # type: ignore[method-assign]
        return spec


def _listen(say: Callable[[str], None]) -> None:
    from numba.core import event

    class Compiling(event.Listener):  # type: ignore[misc]
        """Announces the first compilation only."""

        announced = False

        def on_start(self, event: object) -> None:
            if not self.announced:
                self.announced = True
                say(MESSAGE)

        def on_end(self, event: object) -> None:
            """The end of a compilation is not announced."""

    event.register("numba:compile", Compiling())
