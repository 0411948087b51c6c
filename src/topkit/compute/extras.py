"""Optional dependencies: imported where they are used; a missing one gives an error that names the extra."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any


class MissingExtraError(ImportError):
    """An optional dependency is not installed; the message says how to install it."""

    def __init__(self, module: str, extra: str) -> None:
        self.module, self.extra = module, extra
        super().__init__(f"{module} is not installed; run: pip install 'topkit[{extra}]'")


def require(module: str, extra: str) -> Any:
    """The imported module, or an error that names the extra of topkit which contains it.

    >>> require("not_a_package.part", "plots")
    Traceback (most recent call last):
    topkit.compute.extras.MissingExtraError: not_a_package is not installed; run: pip install 'topkit[plots]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        top = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != top:
            raise  # the package is installed, but one of its dependencies is missing
        raise MissingExtraError(top, extra) from None


def check_extra(extra: str, modules: Iterable[str]) -> None:
    """Raise an error that names the extra if one of its modules is not installed; imports nothing.

    >>> check_extra("web", ["json", "not_a_package"])
    Traceback (most recent call last):
    topkit.compute.extras.MissingExtraError: not_a_package is not installed; run: pip install 'topkit[web]'
    """
    for module in modules:
        if find_spec(module) is None:
            raise MissingExtraError(module, extra)
