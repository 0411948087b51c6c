"""Clients that stall, send too much, or go away: the service closes their connections and continues."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn

import topkit as tk
from topkit.serving import Limits, ServiceSettings, create_app
from topkit.serving.connections import server_config

HEADER = b"POST /score HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n"


@pytest.fixture
def model(ragged: tk.Dataset, tmp_path: Path) -> Path:
    tk.ranker("bestfeature").fit(ragged).save(tmp_path / "m")
    return tmp_path / "m"


@contextmanager
def serving(app: Any, **options: Any) -> Iterator[tuple[str, int]]:
    """The server of ``topkit serve`` on a free port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(server_config(app, log_level="warning", **options))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join()


def connect(address: tuple[str, int], sent: bytes = b"") -> socket.socket:
    client = socket.create_connection(address, timeout=20)
    client.sendall(sent)
    return client


def received(client: socket.socket) -> bytes:
    """Everything until the server closes the connection; fails if it does not."""
    content = b""
    with client:
        try:
            while piece := client.recv(65536):
                content += piece
        except ConnectionResetError:
            pass
    return content


def is_cut(client: socket.socket, piece: bytes, times: int, pause: float) -> bool:
    """True if the server closes the connection while a client sends one piece after the other."""
    with client:
        try:
            for _ in range(times):
                client.sendall(piece)
                time.sleep(pause)
        except TimeoutError:  # a kind of OSError: the client waited, and the connection is still open
            return False
        except OSError:
            return True
    return False


def post(url: str, body: bytes) -> httpx.Response:
    headers = {"content-type": "application/json"}
    return httpx.post(f"{url}/score", content=body, headers=headers, timeout=60)


def test_connections_without_a_complete_request_are_closed(model: Path) -> None:
    app = create_app(ServiceSettings(model))
    with serving(app, seconds=0.3) as address:
        starts = (b"", b"POST /score HT", HEADER[:-2], b"GET /health HTTP/1.1\r\ncontent-length: 9\r\n\r\n")
        clients = [connect(address, start) for start in starts for _ in range(12)]
        for client in clients:
            content = received(client)
            assert content == b"" or content.startswith(b"HTTP/1.1 200")
        assert httpx.get(f"http://{address[0]}:{address[1]}/health", timeout=60).status_code == 200


def test_a_header_sent_byte_by_byte_does_not_keep_the_connection(model: Path) -> None:
    with serving(create_app(ServiceSettings(model)), seconds=0.3) as address:
        client = connect(address, b"GET /health HTTP/1.1\r\nx: ")
        assert is_cut(client, b"y", times=400, pause=0.05)


def test_an_endless_header_is_cut(model: Path) -> None:
    with serving(create_app(ServiceSettings(model))) as address:
        client = connect(address, b"GET /health HTTP/1.1\r\n")
        assert is_cut(client, b"x: " + b"y" * 10_000 + b"\r\n", times=1000, pause=0.0)


def test_a_body_that_does_not_arrive_gets_408(model: Path) -> None:
    app = create_app(ServiceSettings(model, Limits(seconds=0.3)))
    with serving(app) as address:
        clients = [connect(address, HEADER + b"{") for _ in range(30)]
        for client in clients:
            content = received(client)
            assert content.startswith(b"HTTP/1.1 408")
            assert b"did not arrive within 0.3 seconds" in content
        text = httpx.get(f"http://{address[0]}:{address[1]}/metrics", timeout=60).text
    assert 'topkit_requests_total{endpoint="score",status="408"} 30.0' in text


def test_a_client_that_does_not_read_is_cut(model: Path) -> None:
    app = create_app(ServiceSettings(model))
    body = b'{"features": [' + b",".join([b"[0.1,1,2,3]"] * 90_000) + b"]}"
    request = HEADER.replace(b"1000", str(len(body)).encode()) + body
    with serving(app, seconds=0.5) as address:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(20)
        client.connect(address)
        # the server stops receiving when the responses have filled the buffers of the kernel
        assert is_cut(client, request, times=40, pause=0.0)
        assert httpx.get(f"http://{address[0]}:{address[1]}/health", timeout=60).status_code == 200


def test_more_connections_than_the_limit_get_503(model: Path) -> None:
    app = create_app(ServiceSettings(model))
    with serving(app, seconds=3.0, connections=20) as address:
        idle = [connect(address) for _ in range(20)]
        health = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"
        assert received(connect(address, health)).startswith(b"HTTP/1.1 503")
        more = [connect(address) for _ in range(110)]
        assert received(connect(address, health)) == b""  # above the spare connections: closed at once
        for client in (*idle, *more):
            received(client)
        assert httpx.get(f"http://{address[0]}:{address[1]}/health", timeout=60).status_code == 200


def test_bodies_that_wait_together_are_limited(model: Path) -> None:
    app = create_app(ServiceSettings(model, Limits(bytes=1000, waiting_bytes=2500, seconds=60)))
    with serving(app) as address:
        waiting = [connect(address, HEADER + b"x" * 900) for _ in range(2)]
        answer = b""
        while not answer:  # a third request waits as well until the two bodies have arrived
            third = connect(address, HEADER)
            third.settimeout(0.5)
            with suppress(TimeoutError):
                answer = received(third)
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"too many large requests" in answer
        for client in waiting:
            client.sendall(b"x" * 100)
            assert client.recv(65536).startswith(b"HTTP/1.1 400")
            client.close()
        assert received(connect(address, HEADER.replace(b"host", b"connection: close\r\nhost") + b"x" * 1000))


def test_clients_that_go_away_leave_no_traceback(model: Path, caplog: pytest.LogCaptureFixture) -> None:
    app = create_app(ServiceSettings(model))
    with caplog.at_level(logging.INFO), serving(app) as address:
        for sent in (HEADER + b'{"feat', HEADER, b"POST /score"):
            for _ in range(5):
                connect(address, sent).close()
        text = ""
        for _ in range(3000):
            text = httpx.get(f"http://{address[0]}:{address[1]}/metrics", timeout=60).text
            if 'status="499"} 10.0' in text:
                break
            time.sleep(0.01)
    assert 'topkit_requests_total{endpoint="score",status="499"} 10.0' in text
    assert not [record for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR]


def test_health_is_answered_while_a_large_body_is_parsed(model: Path) -> None:
    """Counts replies rather than seconds: json.loads in a thread would let none through."""
    rows = np.random.default_rng(0).random((80_000, 4)).round(6).tolist()
    body = ('{"features": ' + str(rows) + "}").encode()
    app = create_app(ServiceSettings(model))
    with serving(app) as address:
        url = f"http://{address[0]}:{address[1]}"
        answers: list[httpx.Response] = []
        thread = threading.Thread(target=lambda: answers.append(post(url, body)))
        replies = 0
        with httpx.Client(timeout=60) as client:
            client.get(f"{url}/health")
            thread.start()
            while thread.is_alive():
                assert client.get(f"{url}/health").status_code == 200
                replies += 1
    assert answers[0].status_code == 200
    assert len(answers[0].json()["scores"]) == 80_000
    assert replies >= 10
