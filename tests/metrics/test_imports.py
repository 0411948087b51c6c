"""Start-up is sacred: evaluating loads NumPy and nothing heavier."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import topkit as tk
data = tk.Dataset.build([[0.0]] * 3, [0, 2, 1], ["a", "a", "b"])
e = tk.evaluate(data, [0.3, 0.1, 0.2], ["ndcg@10", "map", "err", "tau"])
e.interval("map")
tk.compare({"x": e, "y": e}, "map", test="randomisation")
print(sorted({"scipy", "numba", "pyarrow", "lightgbm", "matplotlib", "pandas"} & set(sys.modules)))
"""


def test_evaluation_imports_only_numpy() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
