"""Model files: the same scores in another process, and a clear error for any other file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from topkit.rankers.checks import easy_data

ELSEWHERE = """
import sys, numpy as np, topkit as tk
from topkit.rankers.checks import easy_data
np.save(sys.argv[2], tk.load_ranker(sys.argv[1]).score(easy_data(400, seed=5)))
"""


@pytest.mark.parametrize(
    ("scorer", "settings"),
    [("linear", {}), ("mlp", {"epochs": 3, "hidden": (16, 8)}), ("trees", {"trees": 9})],
)
def test_another_process_scores_the_same_with_one_thread_or_two(
    scorer: str, settings: dict[str, object], tmp_path: Path
) -> None:
    fitted = tk.ranker("listnet", scorer=scorer, **settings).fit(easy_data(20))
    fitted.save(tmp_path / "model")
    here = fitted.score(easy_data(400, seed=5))
    for threads in ("1", "2"):
        environment = os.environ | {
            f"{name}_THREADS": threads for name in ("TOPKIT", "OMP_NUM", "OPENBLAS_NUM")
        }
        command = [sys.executable, "-c", ELSEWHERE, str(tmp_path / "model"), str(tmp_path / "scores.npy")]
        subprocess.run(command, env=environment, check=True)
        assert np.array_equal(np.load(tmp_path / "scores.npy"), here)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    tk.ranker("focusednet", k=3, beta=0.25, features=[1, 3]).fit(easy_data(8), easy_data(4, seed=1)).save(
        path
    )
    return path


def test_the_file_is_open(model: Path) -> None:
    """A zip of JSON and .npy, with the settings and the provenance."""
    with zipfile.ZipFile(model) as archive:
        assert sorted(archive.namelist()) == ["arrays/weights.npy", "manifest.json"]
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["ranker"] == "focusednet"
    assert manifest["settings"] == {"k": 3, "beta": 0.25, "features": ["1", "3"]}
    assert manifest["provenance"]["train"]["queries"] == 8
    loaded = tk.load_ranker(model)
    assert loaded.name == "focusednet"
    assert loaded.common.features == ("1", "3")
    assert loaded.provenance == manifest["provenance"]


def test_every_flipped_byte_is_noticed_or_harmless(model: Path, tmp_path: Path) -> None:
    """A damaged file never loads as another model: loading fails, or the byte was outside the content."""
    whole, data = model.read_bytes(), easy_data(5, seed=2)
    scores = tk.load_ranker(model).score(data)
    refused = 0
    damaged = tmp_path / "damaged"
    for i in range(0, len(whole), 7):
        damaged.write_bytes(whole[:i] + bytes([whole[i] ^ 0x5A]) + whole[i + 1 :])
        try:
            loaded = tk.load_ranker(damaged)
        except tk.InputError as error:
            assert str(damaged) in str(error)  # noqa: PT017
            refused += 1
        else:
            assert np.array_equal(loaded.score(data), scores)
    assert refused > len(whole) // 7 // 2


def test_a_file_cut_short_is_refused(model: Path) -> None:
    whole = model.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        model.write_bytes(whole[:size])
        with pytest.raises(tk.InputError, match="damaged or not a topkit model"):
            tk.load_ranker(model)


def rewritten(model: Path, change: dict[str, object], entries: dict[str, bytes] | None = None) -> Path:
    """The same file with parts of the manifest, or whole entries, replaced."""
    with zipfile.ZipFile(model) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(content["manifest.json"]) | change
    content["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(model, "w") as archive:
        for name, value in (content | (entries or {})).items():
            archive.writestr(name, value)
    return model


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "names another format"),
        ({"version": 99}, "expected version 1 .*, got 99"),
        ({"ranker": "unheard-of"}, "does not know"),
        ({"model": "unheard-of"}, "does not know"),
        ({"settings": {"nonsense": 1}}, "inconsistent"),
        ({"features": {}}, "inconsistent"),
        ({"values": []}, "has no values"),
        ({"values": {}}, "inconsistent"),
        ({"model": "trees"}, "inconsistent"),
    ],
    ids=str,
)
def test_foreign_manifests_are_refused(model: Path, change: dict[str, object], message: str) -> None:
    with pytest.raises(tk.InputError, match=message):
        tk.load_ranker(rewritten(model, change))


def test_foreign_entries_are_refused(model: Path) -> None:
    with pytest.raises(tk.InputError, match=r"unknown entry 'code\.py'"):
        tk.load_ranker(rewritten(model, {}, {"code.py": b"print()"}))


def test_pickled_arrays_are_refused(model: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    stored = (tmp_path / "objects.npy").read_bytes()
    with pytest.raises(tk.InputError, match="not a valid array"):
        tk.load_ranker(rewritten(model, {}, {"arrays/weights.npy": stored}))


def test_missing_files_and_folders(tmp_path: Path, model: Path) -> None:
    with pytest.raises(tk.InputError, match="file does not exist"):
        tk.load_ranker(tmp_path / "nowhere")
    with pytest.raises(tk.InputError, match="cannot read the file"):
        tk.load_ranker(tmp_path)
    with pytest.raises(tk.InputError, match="folder does not exist"):
        tk.load_ranker(model).save(tmp_path / "nowhere" / "model")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("hello", "world")
    with pytest.raises(tk.InputError, match="no manifest"):
        tk.load_ranker(tmp_path / "other.zip")
