"""List the files of topkit that a command passes through: those with a function that it calls.

    python tools/trace_files.py train focusednet
    python tools/trace_files.py eval
    python tools/trace_files.py fuse a.run b.run --out fused.run

``train NAME`` and ``eval`` without files run on a small data set of their own. Module bodies do not count,
nor what they call while they are imported. Files of the rooms cli, rankers, scorers, losses and metrics come
first; then those of the other rooms.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import topkit
from topkit.cli import main

PACKAGE = Path(topkit.__file__).parent
METHOD_ROOMS = ("cli", "rankers", "scorers", "losses", "metrics")


class Tracer:
    """Collects the files of called functions; one import depth per thread, as imports nest."""

    def __init__(self) -> None:
        self.files: set[Path] = set()
        self.importing = threading.local()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Called by the interpreter for every call and return."""
        if event not in ("call", "return"):
            return
        path = Path(frame.f_code.co_filename)
        if frame.f_code.co_name == "<module>":
            self.importing.depth = getattr(self.importing, "depth", 0) + (1 if event == "call" else -1)
        elif getattr(self.importing, "depth", 0) == 0 and path.is_relative_to(PACKAGE):
            self.files.add(path.relative_to(PACKAGE))


def small_data(folder: Path) -> tuple[Path, Path]:
    """A LETOR file of 20 queries and a file of scores."""
    draw = random.Random(0)
    rows = [(q, draw.randint(0, 2), draw.random()) for q in range(20) for _ in range(8)]
    data, scores = folder / "data.txt", folder / "data.scores"
    data.write_text("".join(f"{y} qid:{q} 1:{x + y:.4f} 2:{x:.4f}\n" for q, y, x in rows))
    scores.write_text("".join(f"{x + y:.4f}\n" for _, y, x in rows))
    return data, scores


def trace(arguments: list[str]) -> set[Path]:
    """The files that a command passes through, relative to the package."""
    tracer = Tracer()
    with tempfile.TemporaryDirectory() as folder:
        data, scores = map(str, small_data(Path(folder)))
        if arguments[0] == "train" and "--train" not in arguments:
            arguments = [*arguments, "--train", data, "--valid", data, "--out", f"{folder}/model"]
        elif arguments == ["eval"]:
            arguments = ["eval", data, scores]
        sys.argv = ["topkit", *arguments]
        threading.setprofile(tracer)
        sys.setprofile(tracer)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
                main()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return tracer.files


def report(files: set[Path]) -> str:
    """The files by room, with a count for the rooms of methods and one for the others."""
    methods = sorted(path for path in files if path.parts[0] in METHOD_ROOMS)
    others = sorted(files - set(methods))
    lines = []
    for title, paths in (("cli, rankers, scorers, losses, metrics", methods), ("other rooms", others)):
        lines += [f"{title}: {len(paths)}", *(f"  {path}" for path in paths)]
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(report(trace(sys.argv[1:])))
