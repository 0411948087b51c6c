"""Requests per second of ``topkit serve`` against a bare FastAPI endpoint that multiplies the same matrix."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import topkit as tk

CANDIDATES, FEATURES, CLIENTS, SECONDS, TURNS = 100, 136, 4, 4.0, 3

BARE = """
import sys, numpy as np, uvicorn
from fastapi import FastAPI, Request
app = FastAPI()
w = np.load(sys.argv[2])

@app.post("/score")
async def score(request: Request):
    body = await request.json()
    return {"scores": (np.array(body["features"]) @ w).tolist()}

uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", access_log=False)
"""
SERVE = "from topkit.cli import main; main()"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def server(port: int, *command: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", *command], stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


async def _client(port: int, request: bytes, until: float) -> int:
    """Send the same request again and again on one connection; answers that came in time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    done = 0
    while time.perf_counter() < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"not an answer: {head!r}")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
        await reader.readexactly(int(length.split(b":")[1]))
        done += 1
    writer.close()
    return done


def rate(port: int, request: bytes) -> float:
    """Requests per second by a few connections at once."""

    async def go() -> int:
        until = time.perf_counter() + SECONDS
        return sum(await asyncio.gather(*(_client(port, request, until) for _ in range(CLIENTS))))

    return asyncio.run(go()) / SECONDS


def serving() -> list[float]:
    """At least half the requests per second of the bare endpoint, both on the same JSON in the same run.

    Returns the ratios; the first is that of the same work, a linear model on the features as they are.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40 * CANDIDATES, FEATURES)).astype(np.float32)
    y = np.digitize(X[:, :5].sum(axis=1) + rng.normal(size=len(X)), [0, 2, 4])
    data = tk.Dataset.build(X, y, np.repeat(np.arange(40), CANDIDATES))
    body = json.dumps({"features": X[:CANDIDATES].tolist()}).encode()
    head = f"POST /score HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    request = head.encode() + b"\r\n\r\n" + body
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder, "w.npy")
        np.save(weights, rng.normal(size=FEATURES))
        bare_port = free_port()
        ratios = []
        for name, settings in (
            ("topk-listmle", {"normalise": "none", "l2": 0.01}),
            ("topk-listmle", {"normalise": "z-score", "l2": 0.01}),
            ("lambdamart", {"trees": 100}),
        ):
            model = Path(folder, "model")
            tk.ranker(name, **settings).fit(data).save(model)
            port = free_port()
            with (
                server(bare_port, BARE, str(bare_port), str(weights)),
                server(port, SERVE, "serve", str(model), "--port", str(port)),
            ):
                ours, bare = [], []
                for _ in range(TURNS):  # in turn, so that noise falls on both
                    ours.append(rate(port, request))
                    bare.append(rate(bare_port, request))
            ratios.append(max(ours) / max(bare))
            shown = f"{name} {settings}"
            print(
                f"{shown:<56} {max(ours):7.1f} requests/s   bare {max(bare):7.1f}   ratio {ratios[-1]:.2f}",
                flush=True,
            )
    print("asked: a ratio of at least 0.5 with the same work, a linear model on the features as they are")
    return ratios
