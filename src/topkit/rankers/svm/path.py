"""One linear model for each penalty of a grid, weakest C first, each started from the one before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from topkit.compute import Trace, one_blas_thread
from topkit.rankers.contract import Job
from topkit.scorers import Floats, Linear

Fit = Callable[[float, Floats], tuple[Floats, Trace]]
"""(l2, start) → weights and trace of ½·l2·‖w‖² + mean loss."""


@one_blas_thread()
def best_of_path(
    job: Job, fit: Fit, total: float, strengths: Sequence[float], what: str
) -> tuple[Linear, list[Trace]]:
    """The model with the best measure on the validation data, or the last one without any.

    ½‖w‖² + C·Σ loss has the minimiser of ½·l2·‖w‖² + (Σ loss)/total with l2 = 1/(C·total); ``strengths`` are
    values of C·total, so that one grid serves data sets of any size.
    """
    features = job.train.n_features
    w, best, best_measure = np.zeros(features), np.zeros(features), -np.inf
    traces: list[Trace] = []
    if total <= 0:  # nothing to learn from
        return Linear(w), traces
    valid = job.valid
    for strength in strengths:
        w, trace = fit(1.0 / strength, w)
        trace.warn_unless_converged(f"{what} with C={strength / total:.3g}")
        traces.append(trace)
        measure = trace.values[-1] if valid is None else job.judge(Linear(w).score(valid))
        job.report(f"C={strength / total:.1g}", len(traces), len(strengths), measure)
        if valid is None or measure > best_measure:
            best, best_measure = w, measure
    return Linear(best), traces
