"""Shipping and scaling, one part per claim.

``python -m bench.ship serving|dask|killed|lightgbm|outofcore|evaluation|split``

Each part makes its own data, prints its figures and ends with what was asked of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench.ship_dask import dask, killed, lightgbm
from bench.ship_evaluation import evaluation
from bench.ship_outofcore import outofcore
from bench.ship_serving import serving
from bench.ship_split import split

PARTS: dict[str, Callable[[], object]] = {
    "serving": serving,
    "dask": dask,
    "killed": killed,
    "lightgbm": lightgbm,
    "outofcore": outofcore,
    "evaluation": evaluation,
    "split": split,
}


def main() -> None:
    names = sys.argv[1:] if sys.argv[0].endswith("ship.py") else []
    for name in names or PARTS:
        print(f"-- {name}", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main()
