"""Optional dependencies: the module if it is installed, else an error that names the extra."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from topkit.compute import MissingExtraError, require


def test_an_installed_module_is_returned() -> None:
    assert require("math", "plots") is math
    assert require("os.path", "plots").join("a", "b") == str(Path("a/b"))


@pytest.mark.parametrize("module", ["not_a_package", "not_a_package.part"])
def test_a_missing_package_names_the_extra(module: str) -> None:
    with pytest.raises(MissingExtraError, match=r"pip install 'topkit\[plots\]'") as caught:
        require(module, "plots")
    assert (caught.value.module, caught.value.extra) == ("not_a_package", "plots")
    assert isinstance(caught.value, ImportError)


def test_a_missing_dependency_of_the_package_is_not_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_installed.py").write_text("import not_a_package\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError) as caught:
        require("half_installed", "plots")
    assert not isinstance(caught.value, MissingExtraError)
    assert caught.value.name == "not_a_package"
