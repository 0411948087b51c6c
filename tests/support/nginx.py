"""A real nginx in front of the labelling app."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

CONFIG = """
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    types {{ }}
    {body}
}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def nginx(folder: Path, body: str) -> Iterator[None]:
    """nginx with these server blocks; it logs to the folder."""
    program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if program is None:
        pytest.skip("nginx is not installed: make browser")
    path = folder / "nginx.conf"
    path.write_text(CONFIG.format(folder=folder, body=body))
    command = [
        program,
        "-c",
        str(path),
        "-e",
        str(folder / "error.log"),
        "-g",
        "daemon off; master_process off;",
    ]
    process = subprocess.Popen(command)
    try:
        while not (folder / "nginx.pid").exists():
            assert process.poll() is None, (folder / "error.log").read_text()
            time.sleep(0.02)
        yield
    finally:
        process.terminate()
        process.wait(20)
