"""Model files: the same scores in another process, and a clear error for any other file."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
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
    with pytest.raises(tk.InputError, match=r"the folder .*nowhere does not exist"):
        tk.load_ranker(model).save(tmp_path / "nowhere" / "model")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("hello", "world")
    with pytest.raises(tk.InputError, match="no manifest"):
        tk.load_ranker(tmp_path / "other.zip")


def npy(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, np.nan], "must be finite"),
        ([1.0, -np.inf], "must be finite"),
        ([1.0], "expected 2 weights, got 1"),
        ([1.0, 2.0, 3.0], "expected 2 weights, got 3"),
        ([[1.0, 2.0]], "expected numbers in 1 dimension"),
        (["1", "2"], "not a valid array"),
        ([1j, 2.0], "not a valid array"),
        ([True, False], "expected numbers"),
        (np.array(["2020-01-01"], "M8[D]"), "not a valid array"),
    ],
    ids=str,
)
def test_weights_that_are_not_finite_numbers_one_per_feature(
    model: Path, weights: object, message: str
) -> None:
    with pytest.raises(tk.InputError, match=message):
        tk.load_ranker(rewritten(model, {}, {"arrays/weights.npy": npy(weights)}))


FEATURES = {"normalisation": "z-score", "names": ["1", "2", "3", "4"], "named": False, "columns": [0, 2]}
CHANGED_FEATURES: tuple[dict[str, object], ...] = (
            {"columns": [0, 4]}, {"columns": [0, -1]}, {"columns": [0, 0]}, {"columns": [0, True]},
            {"columns": [0, 1.0]}, {"columns": "01"}, {"columns": []}, {"columns": [[0], [1]]},
            {"named": 1}, {"names": "1234"}, {"names": [1, 2, 3, 4]}, {"normalisation": []},
)  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"version": True},
        {"version": 1.0},
        {"version": [1]},
        {"ranker": ["focusednet"]},
        {"model": {}},
        {"model": "boosted-trees"},
        {"values": {"bias": True}},
        {"values": {"bias": 1e999}},
        {"values": {"bias": "0"}},
        {"values": {"bias": 10**400}},
        {"settings": None},
        {"provenance": 3},
        *({"features": {**FEATURES, **changed}} for changed in CHANGED_FEATURES),
    ],
    ids=str,
)  # fmt: skip
def test_manifests_that_contradict_themselves(model: Path, change: dict[str, object]) -> None:
    with pytest.raises(tk.InputError):
        tk.load_ranker(rewritten(model, change))


def test_manifests_that_are_not_json(model: Path) -> None:
    for text in (
        "[" * 100_000,
        '{"a": NaN}',
        '{"a": 1' + "0" * 5000 + "}",
        "\udc80".encode("utf-8", "surrogatepass"),
    ):
        content = text if isinstance(text, bytes) else text.encode()
        with zipfile.ZipFile(model, "w") as archive:
            archive.writestr("manifest.json", content)
        with pytest.raises(tk.InputError, match="not valid JSON"):
            tk.load_ranker(model)


def test_two_entries_with_one_name_are_refused(model: Path) -> None:
    with zipfile.ZipFile(model, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("arrays/weights.npy", npy([9.0, 9.0]))
    with pytest.raises(tk.InputError, match="two entries with one name"):
        tk.load_ranker(model)


def test_an_array_larger_than_its_entry_is_refused_before_it_is_made(model: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    with pytest.raises(tk.InputError, match="needs 8000000000000 bytes"):
        tk.load_ranker(rewritten(model, {}, {"arrays/weights.npy": header.getvalue() + b"0" * 16}))


def write_bomb(path: Path, entries: dict[str, int]) -> None:
    """A zip file with a good manifest and entries of so many megabytes of zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, megabytes in entries.items():
            with archive.open(name, "w") as stream:
                for _ in range(megabytes):
                    stream.write(bytes(1 << 20))


@pytest.mark.parametrize(
    "entries",
    [
        {"manifest.json": 9},
        {"manifest.json": 1, "arrays/weights.npy": 300},
        {"manifest.json": 1, "texts/trees.txt": 300},
        {"manifest.json": 1, **{f"arrays/{i}.npy": 30 for i in range(10)}},
    ],
    ids=str,
)
def test_bombs_are_refused_before_they_are_unpacked(
    entries: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bomb(tmp_path / "bomb", entries)
    assert (tmp_path / "bomb").stat().st_size < 1 << 20

    def unpack(*_: object) -> None:
        raise AssertionError("the file was unpacked")

    monkeypatch.setattr(zipfile.ZipFile, "open", unpack)
    with pytest.raises(tk.InputError, match=r"unpacks to .* MB|manifest .* larger"):
        tk.load_ranker(tmp_path / "bomb")


def test_too_many_entries_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "many", "w") as archive:
        for i in range(25_000):
            archive.writestr(f"arrays/{i}.npy", b"")
    with pytest.raises(tk.InputError, match="more than 20,000 entries"):
        tk.load_ranker(tmp_path / "many")


def test_a_table_of_equal_numbers_is_not_taken_for_a_bomb(tmp_path: Path) -> None:
    data = easy_data(8)
    fitted = tk.ranker("click-label", slots=1 << 20).fit(data)
    fitted.save(tmp_path / "model")
    assert np.array_equal(tk.load_ranker(tmp_path / "model").score(data), fitted.score(data))


def test_saving_follows_links_and_keeps_permissions(model: Path, tmp_path: Path) -> None:
    model.chmod(0o600)
    (tmp_path / "link").symlink_to(model)
    tk.load_ranker(model).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert model.stat().st_mode & 0o777 == 0o600
    assert sorted(os.listdir(tmp_path)) == ["link", "model"]


def test_saves_and_loads_at_the_same_time(model: Path) -> None:
    ranker, failures = tk.load_ranker(model), []

    def work(_: int) -> None:
        try:
            for _ in range(10):
                ranker.save(model)
                tk.load_ranker(model)
        except Exception as error:
            failures.append(error)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert failures == []
    assert os.listdir(model.parent) == ["model"]
