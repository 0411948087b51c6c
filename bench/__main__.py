"""Run the benchmarks of speed, or those named: ``python -m bench data metrics``."""

from __future__ import annotations

import sys
from importlib import import_module

ALL = ["data", "metrics", "losses"]
"""The ratios to peers. The studies take longer and are called by name: labelling, rankers, svm_boosting,
fusion, features, lr, mix, studies, ship, web."""


def main() -> None:
    for name in sys.argv[1:] or ALL:
        print(f"== {name}", flush=True)
        import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()
