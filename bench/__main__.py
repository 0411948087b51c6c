"""Every ratio with its aim on one page, or the named rows or benchmarks.

``python -m bench`` prints the quick rows, ``--all`` also the slow ones, ``python -m bench losses`` the rows
whose name contains the word, and ``python -m bench.NAME`` one benchmark in full: cold, growth, profiles,
data, metrics, losses, labelling, rankers, svm_boosting, fusion, features, lr, mix, studies, ship, web.
"""

from __future__ import annotations

import os
import sys
import warnings

from bench.table import show


def main() -> None:
    os.environ |= {"TOPKIT_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    warnings.simplefilter("ignore")
    from bench import one_machine, peer_rows, scale_rows

    page = [*one_machine.ROWS, *peer_rows.ROWS, *scale_rows.ROWS]
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    rows = [row for row in page if not words or any(word in row.name for word in words)]
    if not rows:
        sys.exit(f"no row has one of {words} in its name; the rows are:\n" + "\n".join(r.name for r in page))
    slow = [row.name for row in rows if row.slow]
    if not words and "--all" not in sys.argv:
        rows = [row for row in rows if not row.slow]
    print("Processor time of one thread, ours and the peer in turn, the best of several runs.\n")
    show(rows)
    if slow and len(rows) < len(page) and not words:
        print(f"left out, because they take minutes (--all runs them): {', '.join(slow)}")


if __name__ == "__main__":
    main()
