"""What PyPI would get: the wheel and the sdist are complete, and the long description renders."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for tool in ("build", "hatchling"):
        pytest.importorskip(tool)
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return folder


@pytest.mark.slow
def test_the_wheel_has_everything_that_the_package_reads(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    missing = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "topkit").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    } - names
    assert not missing
    assert not [name for name in names if name.startswith(("tests/", "bench/", "docs/"))]
    assert "topkit/py.typed" in names
    assert "topkit/studies/demo_topics.txt" in names


@pytest.mark.slow
def test_the_sdist_has_source_tests_and_documentation(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as members:
        names = {name.partition("/")[2] for name in members.getnames()}
    assert {
        "README.md",
        "LICENSE",
        "CITATION.cff",
        "pyproject.toml",
        "docs/index.md",
        "tests/conftest.py",
    } <= names
    assert not [name for name in names if name.startswith(("docs/_build", "docs/reference/", ".venv"))]


@pytest.mark.slow
def test_the_long_description_renders_and_the_wheel_is_well_formed(built: Path) -> None:
    pytest.importorskip("twine")
    pytest.importorskip("check_wheel_contents")
    files = [str(path) for path in built.iterdir()]
    wheel = next(name for name in files if name.endswith(".whl"))
    for command in (
        ["twine", "check", "--strict", *files],
        ["check_wheel_contents", "--config", str(ROOT / "pyproject.toml"), wheel],
    ):
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_python_version_of_the_classifiers_is_allowed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = [c.rpartition(" ")[2] for c in project["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert versions == ["3.11", "3.12", "3.13"]
    assert project["requires-python"] == ">=3.11"


def test_the_citation_names_the_package_and_its_license() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert citation.startswith("cff-version: 1.2.0\n")
    assert f"license: {project['license']}\n" in citation
    for key in ("message:", "title:", "authors:", "type: software"):
        assert f"\n{key}" in citation
