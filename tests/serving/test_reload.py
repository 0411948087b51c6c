"""A new model file is loaded while requests run; an invalid one is not."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import numpy as np
import pytest

import topkit as tk
from tests.support.serving import ask, running
from topkit.serving import ServiceSettings, create_app, probe, served


def test_reload_under_load_drops_nothing(ragged: tk.Dataset, tmp_path: Path) -> None:
    """Four clients send requests while two models alternate: every response is from one of the two."""
    one = tk.ranker("linear-regression", l2=0.01, normalise="none").fit(ragged)
    two = tk.ranker("linear-regression", l2=10.0, normalise="none").fit(ragged)
    model = tmp_path / "m"
    one.save(model)
    expected = {tuple(ranker.score(ragged)) for ranker in (one, two)}
    assert len(expected) == 2
    body = {"features": ragged.X.tolist()}
    app = create_app(ServiceSettings(model, poll_seconds=0.02))
    answers: list[tuple[int, tuple[float, ...]]] = []
    failures: list[Exception] = []
    enough = threading.Event()

    def client(address: str) -> None:
        try:
            with httpx.Client(base_url=address, timeout=30) as session:
                while not enough.is_set():
                    answer = session.post("/score", json=body)
                    answers.append((answer.status_code, tuple(answer.json()["scores"])))
        except Exception as error:
            failures.append(error)

    with running(app) as address:
        clients = [threading.Thread(target=client, args=(address,)) for _ in range(4)]
        for thread in clients:
            thread.start()
        for turn in range(20):
            (two if turn % 2 == 0 else one).save(model)
            before = app.state.file.reloads
            waited = threading.Event()
            for _ in range(500):
                if app.state.file.reloads > before:
                    break
                waited.wait(0.01)
        enough.set()
        for thread in clients:
            thread.join()
        text = httpx.get(f"{address}/metrics", timeout=60).text
    assert not failures
    assert {status for status, _ in answers} == {200}
    assert {scores for _, scores in answers} == expected
    assert app.state.file.reloads == 20
    assert "topkit_reloads_total 20" in text
    assert f'topkit_requests_total{{endpoint="score",status="200"}} {len(answers)}' in text


def test_a_bad_file_leaves_the_old_model_in_service(ragged: tk.Dataset, tmp_path: Path) -> None:
    model = tmp_path / "m"
    tk.ranker("bestfeature").fit(ragged).save(model)
    app = create_app(ServiceSettings(model))
    file, body = app.state.file, {"features": ragged.X[:3].tolist()}
    before = ask(app, "POST", "/score", json=body).json()
    model.write_bytes(b"half a model")
    assert not file.refresh()
    assert ask(app, "POST", "/score", json=body).json() == before
    health = ask(app, "GET", "/health").json()
    assert health["fresh"] is False
    assert "not a topkit model" in health["problem"]
    model.unlink()
    assert not file.refresh()
    assert "cannot read the model file" in ask(app, "GET", "/health").json()["problem"]
    fresh = tk.ranker("linear-regression").fit(ragged)
    fresh.save(model)
    assert file.refresh()
    assert ask(app, "GET", "/health").json()["fresh"] is True
    one = tk.Dataset.build(ragged.X[:3], np.zeros(3), ["q"] * 3)
    np.testing.assert_array_equal(ask(app, "POST", "/score", json=body).json()["scores"], fresh.score(one))
    assert "topkit_reload_failures_total 1" in ask(app, "GET", "/metrics").text


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for the watcher, which runs in another thread."""
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("the watcher did nothing")


def test_the_watcher_survives_unexpected_errors(
    ragged: tk.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model = tmp_path / "m"
    tk.ranker("bestfeature").fit(ragged).save(model)
    app = create_app(ServiceSettings(model, poll_seconds=0.02))
    file, load = app.state.file, tk.load_ranker

    def fail(path: Path) -> tk.rankers.Learner:
        raise RuntimeError("an odd\nfault")

    with running(app) as address:
        old = httpx.get(f"{address}/health", timeout=60).json()["model"]
        monkeypatch.setattr(served, "load_ranker", fail)
        tk.ranker("linear-regression").fit(ragged).save(model)
        wait_until(lambda: file.problem is not None)
        health = httpx.get(f"{address}/health", timeout=60).json()
        assert (health["fresh"], health["model"]) == (False, old)
        assert health["problem"] == "cannot load the model file (RuntimeError: an odd fault)"
        assert [record.getMessage() for record in caplog.records if record.name == "topkit.serving"] == [
            "kept the old model: " + health["problem"]
        ]
        assert all(record.exc_info is None for record in caplog.records)
        monkeypatch.setattr(served, "load_ranker", load)
        tk.ranker("linear-regression", l2=5.0).fit(ragged).save(model)
        wait_until(lambda: file.problem is None)
        health = httpx.get(f"{address}/health", timeout=60).json()
    assert health["fresh"] is True
    assert health["ranker"] == "linear-regression"


def test_the_watcher_survives_errors_outside_of_loading(
    ragged: tk.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "m"
    tk.ranker("bestfeature").fit(ragged).save(model)
    app = create_app(ServiceSettings(model, poll_seconds=0.02))
    calls = []

    def fail() -> bool:
        calls.append(1)
        raise RuntimeError("no thread")

    with running(app) as address, monkeypatch.context() as patch:
        patch.setattr(app.state.file, "refresh", fail)
        wait_until(lambda: len(calls) > 3)
        health = httpx.get(f"{address}/health", timeout=60).json()
    assert (health["fresh"], health["problem"]) == (
        False,
        "cannot check the model file (RuntimeError: no thread)",
    )


def test_a_model_that_comes_back_is_fresh_again(ragged: tk.Dataset, tmp_path: Path) -> None:
    model = tmp_path / "m"
    tk.ranker("bestfeature").fit(ragged).save(model)
    file = create_app(ServiceSettings(model)).state.file
    model.rename(tmp_path / "away")
    file.refresh()
    assert file.problem == "cannot read the model file (No such file or directory)"
    (tmp_path / "away").rename(model)
    file.refresh()
    assert file.problem is None


def test_a_model_that_crashes_or_hangs_ends_only_the_trial(
    ragged: tk.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trial runs a program that ends as a damaged tree model would end it."""
    model = tmp_path / "m"
    tk.ranker("bestfeature").fit(ragged).save(model)
    file = create_app(ServiceSettings(model)).state.file
    before = file.current
    random = np.random.default_rng(1)
    many = tk.Dataset.build(random.random((200, 4)), random.integers(0, 3, 200), np.repeat(range(10), 20))
    tk.ranker("lambdamart", trees=3).fit(many).save(model)
    interpreter = tmp_path / "python"
    for code, problem in (
        ("os.kill(os.getpid(), 11)", "scoring crashes with signal 11"),
        ("time.sleep(100)", "does not score within 1 seconds"),
    ):
        interpreter.write_text(f"#!{sys.executable}\nimport os, time\n{code}\n")
        interpreter.chmod(0o755)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", str(interpreter))
            patch.setattr(probe, "SECONDS", 1.0)
            assert not file.refresh()
        assert file.current is before
        assert problem in file.problem
        model.touch()
    assert file.refresh()
    assert file.current.ranker.name == "lambdamart"
