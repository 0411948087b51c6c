"""Random runs with ties, duplicate scores, missing queries and documents against pytrec_eval.

``python -m bench.ties [RUNS]`` prints how many values were compared and how many differ (must be 0).
"""

from __future__ import annotations

import sys

from tests.support.tied_runs import differences

RUNS = 20_000


def main() -> None:
    runs = int(sys.argv[1]) if sys.argv[0].endswith("ties.py") and len(sys.argv) > 1 else RUNS
    compared, differing = 0, 0
    for seed in range(runs):
        for difference in differences(seed):
            compared += 1
            if difference is not None:
                differing += 1
                query, name, ours, theirs = difference
                print(f"seed {seed}, query {query}: {name} is {ours:.6f}, pytrec_eval says {theirs:.6f}")
    print(f"{runs:,} random runs, {compared:,} values compared with pytrec_eval: {differing:,} differences")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
