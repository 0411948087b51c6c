"""Judgments, accuracy, speed and agreement of labelling. ``python -m bench.labelling [--orders N] [part …]``

Parts: counts (judgments of every strategy), noise (accuracy when answers are wrong), speed, exact (reliable
on every permutation), study (Tables 1-3). Cells of counts and noise are kept in bench/results and not run
again unless the code of the strategies has changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import permutations
from pathlib import Path

from tests.support.real_data import real_data_folder

import topkit.labelling as room
from topkit.labelling import Labelling
from topkit.labelling.files import read_preferences_csv
from topkit.labelling.report import agreement_report, outcome_table
from topkit.labelling.simulate import Outcome, PriorKind, Scenario, simulate
from topkit.labelling.strategies import PAIRWISE
from topkit.labelling.study import simulated_study

SIZES = [(20, 5), (50, 10), (100, 10), (1000, 10)]
RESULTS = Path(__file__).parent / "results" / "labelling.jsonl"
COMPARING = [name for name in PAIRWISE if name != "reliable"]


def cells(settings: list[Scenario], orders: int) -> Iterator[Outcome]:
    """Outcomes, from the results file if they are there; new ones are added to it."""
    folder = Path(str(room.__file__)).parent
    sources = [folder / "contest.py", folder / "known.py", folder / "simulate.py"]
    sources += sorted((folder / "strategies").glob("*.py"))
    code = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    RESULTS.parent.mkdir(exist_ok=True)
    kept = {}
    if RESULTS.exists():
        kept = dict(json.loads(line) for line in RESULTS.read_text().splitlines())
    for setting in settings:
        key = json.dumps([code, setting._asdict(), orders])
        if key not in kept:
            (outcome,) = simulate([setting], orders)
            kept[key] = asdict(outcome)
            with RESULTS.open("a") as stream:
                stream.write(json.dumps([key, kept[key]]) + "\n")
        figures = dict(kept[key])
        figures["setting"] = setting
        yield Outcome(**figures)


def counts(orders: int) -> None:
    print(
        f"Judgments over {orders} random orders; heap aims at 47/151/232/1239, knockout at 32.5/91/150.5/1081"
    )
    plain = [
        Scenario(name, n, k)
        for n, k in SIZES
        for name in COMPARING
        if n < 1000 or name not in ("merge-insertion", "select-best")
    ]
    print(outcome_table(list(cells(plain, orders))))
    print("With a prior; adaptive aims at 28.5/84/142/1078 for tau 0.5")
    kinds: list[PriorKind] = ["rank", "score"]
    primed = [
        Scenario(name, n, k, 0.0, tau, kind)
        for n, k in SIZES
        for kind in kinds
        for tau in (0.0, 0.2, 0.5, 0.8)
        for name in (["adaptive", "insertion"] if tau == 0.5 else ["adaptive"])
        if tau or kind == "rank"
    ]
    print(outcome_table(list(cells(primed, orders))))
    print("Full orders and large k")
    large = [(10, 10), (20, 10), (20, 20), (50, 25), (50, 50)]
    names = ["adaptive", "merge-insertion", "insertion", "knockout", "quicksort"]
    print(outcome_table(list(cells([Scenario(name, n, k) for n, k in large for name in names], orders))))


def noise(orders: int) -> None:
    print("Wrong answers at (50, 10); reliable aims at 0.93 with 200 at 0.1, and 0.80 with 300 at 0.2")
    rates = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
    found: list[Outcome] = []
    for rate in rates:
        aimed = rate in (0.1, 0.2)  # a check takes milliseconds: the rest of the curve has fewer orders
        found += cells([Scenario("reliable", 50, 10, rate)], orders if aimed else max(1, orders // 10))
        found += cells([Scenario("adaptive", 50, 10, rate)], orders)
    print(outcome_table(found))
    for outcome in found:
        if outcome.setting.strategy == "reliable":
            print(
                f"wrong {outcome.setting.error:g}: {outcome.orders} orders, found {outcome.found:.3f}, "
                f"mean confidence {outcome.confidence:.3f}, tau of the order {outcome.tau:.3f}"
            )


def speed(_: int) -> None:
    print("Next question and replay at n = 1000, k = 10 (goals: under 1 ms, and 2,000 answers under 1 s)")
    items = [f"d{i}" for i in range(1000)]
    rank = {item: (i * 7919) % 1000 for i, item in enumerate(items)}
    prior = sorted(items, key=lambda item: rank[item] + 300 * ((rank[item] * 31) % 7 - 3) / 3)
    for name in COMPARING:
        for given in (None, prior) if name == "adaptive" else (None,):
            lab = Labelling(items, 10, name, prior=given)
            start = time.perf_counter()
            while lab.question and len(lab.answers) < 2000:
                a, b = lab.question
                lab = lab.answer("a" if rank[a] < rank[str(b)] else "b")
            asked = time.perf_counter() - start
            start = time.perf_counter()
            Labelling.from_answers(items, 10, name, prior=given, answers=lab.answers)
            replayed = time.perf_counter() - start
            label = name + (" with a prior" if given else "")
            figures = f"{1000 * asked / len(lab.answers):.3f} ms per question, replay {replayed:.3f} s"
            print(f"{label:<24} {len(lab.answers):5} answers, {figures}")
    lab = Labelling(items[:50], 10, "reliable")
    start, slowest = time.perf_counter(), 0.0
    while lab.question:
        before = time.perf_counter()
        a, b = lab.question
        lab = lab.answer("a" if (rank[a] < rank[str(b)]) == (len(lab.answers) % 9 > 0) else "b")
        slowest = max(slowest, time.perf_counter() - before)
    mean = (time.perf_counter() - start) / len(lab.answers)
    print(f"reliable at n = 50: {1000 * mean:.2f} ms per question, {1000 * slowest:.0f} ms at most")


def exact(_: int) -> None:
    plays = 0
    for n in range(1, 7):
        for k in range(1, n + 1):
            for rank in permutations(range(n)):
                lab = Labelling([str(i) for i in range(n)], k, "reliable")
                while lab.question:
                    a, b = lab.question
                    lab = lab.answer("a" if rank[int(a)] < rank[int(str(b))] else "b")
                truth = sorted(range(n), key=rank.__getitem__)[:k]
                assert lab.result is not None
                assert lab.result.order == tuple(map(str, truth)), (rank, k)
                plays += 1
    print(f"reliable gave the true top k in all {plays} cases of n <= 6")


def study(_: int) -> None:
    print("Five simulated assessors, 50 queries of 50 documents, k = 10, heap and grades, cyclic assignment")
    judged = simulated_study()
    print(agreement_report(judged, judged))
    folder = real_data_folder()
    if folder is None:
        print("music-prefs: the real data is not available")
        return
    columns = {"query": "Input.query", "a": "Input.docA", "b": "Input.docB", "answer": "Answer.radio"}
    columns |= {"assessor": "WorkerId", "seconds": "WorkTimeInSeconds"}
    music, empty = read_preferences_csv(folder / "music-prefs" / "judgments.csv", columns, {"s": "tie"})
    print(f"\nmusic-prefs ({empty} rows without an answer left out)")
    print(agreement_report(music, None))


PARTS = {"counts": counts, "noise": noise, "speed": speed, "exact": exact, "study": study}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=200)
    parser.add_argument("parts", nargs="*")
    chosen, _ = parser.parse_known_args()
    for name in [part for part in chosen.parts if part in PARTS] or PARTS:
        PARTS[name](chosen.orders)
        print(flush=True)


if __name__ == "__main__":
    main()
