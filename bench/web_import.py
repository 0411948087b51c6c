"""The import of a large project while somebody judges. ``python -m bench.web_import [sqlite|postgresql]``

Prints the seconds of the import of a project with 200,000 documents, and how long the judgments took that an
assessor made meanwhile in another project. ``bench.web_scale`` times the pages of large projects.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median
from threading import Thread

from tests.support.web_world import Actor, World, entry, tasks

from bench.web_database import KINDS, database
from bench.web_scale import write_project
from topkit.web.settings import Settings


class Judge(Thread):
    """Judges until stopped, and notes how long each judgment took."""

    def __init__(self, actor: Actor) -> None:
        super().__init__()
        self.actor, self.times, self.stopped = actor, list[float](), False

    def run(self) -> None:
        for labelling in tasks(self.actor):
            path = f"/api/labellings/{labelling}"
            turn = self.actor.get(path).json()
            while turn["question"] is not None and not self.stopped:
                start = time.perf_counter()
                turn = self.actor.post(f"{path}/answers", entry(turn, "a")).json()["turn"]
                self.times.append(time.perf_counter() - start)
                time.sleep(0.02)


def measure(address: str, path: Path, documents: int) -> None:
    with World(Settings(address, upload_bytes=1 << 30)) as world:
        ann = world.person("ann")
        for _ in range(60):
            world.project(ann, strategy="heap", k=8)
        judge = Judge(world.signed_in("ann"))
        judge.start()
        start = time.perf_counter()
        reply = world.admin.upload("/api/projects/import", path.read_bytes(), "p.jsonl")
        imported = time.perf_counter() - start
        judge.stopped = True
        judge.join()
        assert reply.status_code == 201, reply.text
        print(
            f"import of {documents:,} documents: {imported:.1f} s; meanwhile {len(judge.times)} judgments, "
            f"median {1000 * median(judge.times):.0f} ms, longest {1000 * max(judge.times):.0f} ms",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="databases; all of them by default")
    parser.add_argument("--documents", type=int, default=200_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project.jsonl"
        write_project(path, chosen.documents)
        for kind in chosen.kinds or KINDS:
            print(kind, flush=True)
            with database(kind) as address:
                measure(address, path, chosen.documents)


if __name__ == "__main__":
    main()
