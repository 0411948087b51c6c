"""Debian's Firefox, driven by Marionette, the protocol that is built into it: JSON messages over a socket."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

KEYS = {"ArrowLeft": "\ue012", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "PageDown": "\ue00f"}


def firefox_path() -> str | None:
    """Where Firefox is installed, or None."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """A Firefox without windows, with one tab."""

    def __init__(self, folder: Path) -> None:
        path = firefox_path()
        assert path is not None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        preferences = {
            "marionette.port": self._port,
            "app.update.enabled": False,
            "browser.shell.checkDefaultBrowser": False,
        }
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferences.items()
        ]
        (folder / "user.js").write_text("\n".join(lines) + "\n")
        self._process = subprocess.Popen(
            [path, "--headless", "--marionette", "--no-remote", "--profile", str(folder)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._socket = self._connected()
        self._buffer = b""
        self._number = 0
        self._receive()  # a greeting
        self.call("WebDriver:NewSession", capabilities={})

    def _connected(self) -> socket.socket:
        for _ in range(600):
            try:
                return socket.create_connection(("127.0.0.1", self._port), timeout=60)
            except OSError:
                time.sleep(0.1)
        raise AssertionError("Firefox did not start")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.wait(30)

    def call(self, name: str, **parameters: Any) -> Any:
        """Send a command and return its result."""
        self._number += 1
        message = json.dumps([0, self._number, name, parameters]).encode()
        self._socket.sendall(str(len(message)).encode() + b":" + message)
        _, _, error, result = self._receive()
        assert error is None, error
        return result

    def _receive(self) -> Any:
        while b":" not in self._buffer:
            self._buffer += self._socket.recv(1 << 16)
        length, _, rest = self._buffer.partition(b":")
        while len(rest) < int(length):
            rest += self._socket.recv(1 << 16)
        self._buffer = rest[int(length) :]
        return json.loads(rest[: int(length)])

    def open(self, url: str) -> None:
        self.call("WebDriver:Navigate", url=url)

    def add_cookie(self, name: str, value: str) -> None:
        self.call("WebDriver:AddCookie", cookie={"name": name, "value": value, "path": "/"})

    def run(self, script: str) -> Any:
        """The value of a script's return statement."""
        return self.call("WebDriver:ExecuteScript", script=script, args=[])["value"]

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        for _ in range(400):
            if self.run(f"return Boolean({condition})"):
                return
            time.sleep(0.05)
        raise AssertionError(condition)

    def press(self, key: str) -> None:
        value = KEYS.get(key, key)
        steps = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.call("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": steps}])

    def click(self, selector: str) -> None:
        """Click in the middle of an element."""
        found = self.call("WebDriver:FindElement", using="css selector", value=selector)["value"]
        steps = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": found},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self.call("WebDriver:PerformActions", actions=[{"type": "pointer", "id": "mouse", "actions": steps}])
