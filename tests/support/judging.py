"""Judging with simulated models: made-up preferences with known faults, and runs that are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.support.chat_server import ChatServer
from topkit.data.judgments import Preference
from topkit.labelling.agreement.pairs import Pair
from topkit.labelling.judges import BiasedJudge


class World(NamedTuple):
    """Documents with lengths, people's preferences without errors, and a judge with known faults."""

    judge: BiasedJudge
    pairs: list[Pair]
    people: list[Preference]
    lengths: dict[str, float]


def biased_world(seed: int, queries: int = 40, documents: int = 5, **faults: Any) -> World:
    """Random relevance and log-normal lengths, independent of each other."""
    chance = Random(f"world {seed}")
    relevance: dict[tuple[str, str], float] = {}
    lengths: dict[str, float] = {}
    pairs: list[Pair] = []
    for q in range(queries):
        names = [f"q{q}d{i}" for i in range(documents)]
        for name in names:
            relevance[f"q{q}", name] = chance.random()
            lengths[name] = chance.lognormvariate(5.0, 0.7)
        pairs += [Pair(f"q{q}", a, b) for a, b in combinations(names, 2)]
    judge = BiasedJudge.of_relevance("model", relevance, lengths=lengths.__getitem__, seed=seed, **faults)
    people = [
        Preference(q, a, b, "a" if relevance[q, a] > relevance[q, b] else "b", "ann") for q, a, b in pairs
    ]
    return World(judge, pairs, people, lengths)


def judging_files(folder: Path, queries: int = 6, documents: int = 12) -> dict[str, Path]:
    """A run, documents and queries; longer documents are better for a server with ``prefers_longer``."""
    chance = Random(0)
    files = {name: folder / name for name in ("run.txt", "docs.jsonl", "queries.tsv")}
    lines: dict[str, list[str]] = {name: [] for name in files}
    for q in range(queries):
        lines["queries.tsv"].append(f"q{q}\tquestion {q}")
        for d in range(documents):
            words = " ".join(["word"] * chance.randint(1, 200))
            lines["docs.jsonl"].append(json.dumps({"id": f"q{q}d{d}", "text": words}))
            lines["run.txt"].append(f"q{q} Q0 q{q}d{d} {d + 1} {documents - d} bm25")
    for name, path in files.items():
        path.write_text("\n".join(lines[name]) + "\n")
    return files


def judge_words(files: dict[str, Path], url: str, out: Path) -> list[str]:
    """The words of ``topkit label judge`` for these files."""
    words = ["label", "judge", files["run.txt"], "--url", url, "--model", "m", "--out", out, "--k", "3"]
    return [*map(str, words), "--documents", str(files["docs.jsonl"]), "--queries", str(files["queries.tsv"])]


class Killed(NamedTuple):
    """What ten kills did: replies before each, and requests of the server by key."""

    kills: int
    delivered_before: list[int]
    """Replies in the cache after each kill."""
    asked_again: int
    """Requests for replies that were in the cache when they were sent."""
    in_flight: int
    """Requests repeated because they were under way when the process was killed."""
    paid_twice: int
    """Replies that the endpoint computed twice, although it knows Idempotency-Key."""
    output: str


def kill_and_resume(server: ChatServer, words: list[str], cache: Path, out: Path, kills: int) -> Killed:
    """Start the command and kill −9 it after more and more replies; at last let it end."""
    sizes: list[int] = []
    asked_again = 0
    seen = 0
    environment = os.environ | {"TOPKIT_THREADS": "1"}
    for number in range(kills + 1):
        known = _keys(cache)
        command = [sys.executable, "-m", "topkit", *words]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        if number < kills:
            goal = len(server.requests) + 9
            while len(server.requests) < goal and process.poll() is None:
                time.sleep(0.002)
            process.kill()
        _, errors = process.communicate()
        sent = [headers["Idempotency-Key"] for headers in server.headers[seen:]]
        seen = len(server.headers)
        asked_again += sum(key in known for key in sent)
        sizes.append(len(_keys(cache)))
        if number == kills:
            assert process.returncode == 0, errors.decode()
    every = [headers["Idempotency-Key"] for headers in server.headers]
    twice = sum(count > 1 for count in server.paid.values())
    return Killed(kills, sizes, asked_again, len(every) - len(set(every)), twice, out.read_text())


def _keys(cache: Path) -> set[str]:
    """The keys of the whole lines of a cache."""
    keys: set[str] = set()
    for line in cache.read_text().splitlines() if cache.exists() else ():
        try:
            keys.add(json.loads(line)[0])
        except ValueError:
            continue
    return keys
