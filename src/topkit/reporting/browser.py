"""Open a report in the browser of the person who started the command."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
"""One of these is set where a graphical browser can be shown; macOS and Windows need neither."""


def open_in_browser(path: Path) -> bool:
    """Open a file in the default browser; returns whether a browser was started.

    Nothing is opened if the output is not a terminal (a pipe, a test, a build server) or there is no display:
    ``webbrowser`` would then start a browser in the terminal itself and block.
    """
    if not sys.stdout.isatty() or not _has_display():
        return False
    try:
        return webbrowser.open(path.resolve().as_uri())
    except (OSError, webbrowser.Error):
        return False


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in DISPLAYS)
