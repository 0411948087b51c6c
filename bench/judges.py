"""Language models as judges. ``python -m bench.judges [--runs N] [--seeds N] [--plot FILE] [part …]``

Parts: replies (reply styles), speed (1,000 questions at 50 ms), kill (ten kills −9), audit (injected faults),
routing (people's judgments saved on real preferences).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.support.chat_server import STYLES, ChatServer, Messages, prefers_longer
from tests.support.judging import biased_world, judge_words, judging_files, kill_and_resume
from tests.support.real_data import real_data_folder

from bench.routing import CAST, MUSIC, routing_curves
from topkit.labelling import ChatJudge, Endpoint, Question
from topkit.labelling.audit import Audit, ask_trials, audit
from topkit.labelling.judges import UnclearError
from topkit.reporting.tables import Table


def styled(style: str, messages: Messages) -> object:
    """The reply of a model that prefers longer documents, in this style."""
    return STYLES[style](prefers_longer(messages))


def replies(_: argparse.Namespace) -> None:
    server = ChatServer()
    texts = {"x": "long text", "y": "short"}
    understood = 0
    for name in STYLES:
        server.reply = partial(styled, name)
        with ChatJudge("m", Endpoint(server.url, "m"), texts.__getitem__) as judge:
            answer = judge.judge("q", Question("y", "x")).answer
        understood += answer == "b"
        print(f"{name:<12} {'understood' if answer == 'b' else f'not understood: {answer}'}")
    print(f"{understood} of {len(STYLES)} reply styles understood (goal: six)")
    server.reply = lambda messages: "I'm sorry, but I can't help with that."
    try:
        with ChatJudge("m", Endpoint(server.url, "m"), concurrency=1) as judge:
            judge.judge_all([("q", Question("x", f"y{i}")) for i in range(100)])
        print("replies without an answer did NOT end the run")
    except UnclearError as error:
        print(
            f"replies without an answer end the run after {len(server.requests) - 12} requests: {error}"[:170]
        )
    server.close()


@contextmanager
def endpoint_process(delay: float) -> Iterator[str]:
    """The address of a server in another process."""
    command = [sys.executable, "-m", "tests.support.chat_server", "--delay", str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def speed(_: argparse.Namespace) -> None:
    questions = [("q", Question("x", f"y{i}")) for i in range(1000)]
    seconds: dict[int, float] = {}
    with endpoint_process(0.05) as url:
        for concurrency in (1, 8):
            with ChatJudge(
                "m", Endpoint(url, f"m{concurrency}"), order="random", budget=None, concurrency=concurrency
            ) as judge:
                judge.judge("q", Question("warm", "up"))
                start = time.perf_counter()
                judge.judge_all(questions)
                seconds[concurrency] = time.perf_counter() - start
    ratio = seconds[1] / seconds[8]
    print(
        f"1,000 questions at 50 ms: one at a time {seconds[1]:.1f} s, eight at a time {seconds[8]:.1f} s: "
        f"{ratio:.1f}x (goal: at least 6x)"
    )


def kill(_: argparse.Namespace) -> None:
    server = ChatServer(prefers_longer, 0.02)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = judging_files(folder, queries=8, documents=20)
        out, cache = folder / "out.csv", folder / "out.csv.replies.jsonl"
        killed = kill_and_resume(server, judge_words(files, server.url, out), cache, out, kills=10)
        stored = ", ".join(map(str, killed.delivered_before))
        print(f"replies stored after each of {killed.kills} kills −9 and at the end: {stored}")
        lost = sum(a > b for a, b in zip(killed.delivered_before, killed.delivered_before[1:], strict=False))
        print(
            f"answers lost {lost}, stored replies asked again {killed.asked_again}, paid twice "
            f"{killed.paid_twice} (goals: 0); {killed.in_flight} requests were under way at a kill and were "
            "repeated with the same Idempotency-Key"
        )
    server.close()


KINDS: dict[str, dict[str, Any]] = {
    "flips": {"flips": 0.15},
    "flips, position": {"flips": 0.15, "position": 0.1},
    "flips, length": {"flips": 0.15, "length": 0.02},
    "all three": {"flips": 0.15, "position": 0.1, "length": 0.02},
}
"""Faults of simulated judges: 15 % flips, 10 points for the first position, 2 points per doubled length."""


def covered(found: Audit, faults: dict[str, Any]) -> list[bool]:
    """Whether position, flips against people, flips by repeats, and length are within their intervals."""
    by_repeats = found.flips.covers(faults["flips"]) if set(faults) == {"flips"} else True
    return [
        found.position.covers(faults.get("position", 0.0)),
        found.contradictions.covers(faults["flips"]),
        by_repeats,
        found.length.covers(faults.get("length", 0.0)),
    ]


def show_audit(options: argparse.Namespace) -> None:
    rows = []
    for name, faults in KINDS.items():
        inside = np.zeros(4, int)
        for seed in range(options.runs):
            world = biased_world(seed, queries=20, **faults)
            found = audit(ask_trials(world.judge, world.pairs), world.people, world.lengths.__getitem__)
            inside += covered(found, faults)
        position, flips, repeats, length = (int(count) for count in inside)
        rows.append((name, position, flips, repeats if name == "flips" else None, length))
    note = f"of {options.runs} judges each, 200 pairs in both orders, twice; goal: about 95 of 100"
    columns = ("injected", "position", "flips against people", "flips by repeats", "length")
    print("Truth within the 95 % interval\n" + Table(columns, rows, [note]).text())


def routing(options: argparse.Namespace) -> None:
    folder = real_data_folder()
    if folder is None:
        print("routing: the real data is not available")
        return
    curves = {
        name: routing_curves(data, folder, options.seeds)
        for name, data in (("cast2019", CAST), ("music", MUSIC))
    }
    columns = ("data", "confidence", "sure from", "saved", "top found", "loss", "p")
    rows = [(name, *point) for name, points in curves.items() for point in points]
    notes = [
        f"means over queries and {options.seeds} seeds; the simulated model agrees on 80 % of pairs",
        "saved: share of people's judgments; found: share of the reference; p: paired t-test against people",
        "cast2019: the local assessor's best document in the top 5 by the crowd (171 topics)",
        "music: overlap with the top 5 by the other half of the workers (11 queries)",
    ]
    print(Table(columns, rows, notes, align="llrrrrr", decimals=3).text())
    if options.plot is not None:
        from topkit.reporting.plots import paths, save_figure

        lines = {
            f"{name}, {kind}": [(p[2], p[3]) for p in points if p[0] == kind]
            for name, points in curves.items()
            for kind in ("calibrated", "constant")
        }
        figure = paths(lines, "share of people's judgments saved", "share of the reference top 5 found")
        save_figure(figure, options.plot)


PARTS = {"replies": replies, "speed": speed, "kill": kill, "audit": show_audit, "routing": routing}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="judges per kind of the audit")
    parser.add_argument("--seeds", type=int, default=20, help="simulated models of the routing")
    parser.add_argument("--plot", type=Path, default=None)
    parser.add_argument("parts", nargs="*")
    chosen, _ = parser.parse_known_args()
    for name in [part for part in chosen.parts if part in PARTS] or PARTS:
        print(f"-- {name}", flush=True)
        PARTS[name](chosen)


if __name__ == "__main__":
    main()
