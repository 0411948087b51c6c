"""The exercises in CONTRIBUTING.md apply to the current source, so they cannot go stale."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DIFFS = re.findall(r"```diff\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.S)


def test_there_is_an_exercise_for_a_loss_a_measure_and_a_ranker() -> None:
    files = [re.findall(r"^\+\+\+ b/src/topkit/(\w+)/", diff, re.M) for diff in DIFFS]
    assert files == [["losses"] * 2, ["metrics"] * 2, ["rankers"] * 2]  # one new file, one changed file


@pytest.mark.parametrize("diff", DIFFS, ids=["loss", "measure", "ranker"])
def test_the_exercise_applies(diff: str, tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    command = ["git", "apply", "--check", "-"]
    done = subprocess.run(command, input=diff, text=True, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
