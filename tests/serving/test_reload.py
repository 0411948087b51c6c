"""A new model file is loaded while requests run; an invalid one is not."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx
import numpy as np

import topkit as tk
from tests.support.serving import ask, running
from topkit.serving import ServiceSettings, create_app


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
        text = httpx.get(f"{address}/metrics").text
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
