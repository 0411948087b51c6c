"""The stopping rule: why an iteration ends, and that the trace keeps every value."""

from __future__ import annotations

import math
import warnings

import pytest

from topkit.compute import NotConverged, Trace


def run(trace: Trace, values: list[float]) -> int:
    """Feed values until the trace stops; returns how many it took."""
    for number, value in enumerate(values, 1):
        if not trace.go_on(value):
            return number
    return len(values)


def test_it_stops_when_the_value_settles() -> None:
    trace = Trace(max_steps=50, tolerance=0.1)
    assert run(trace, [4.0, 2.0, 1.95, 1.0]) == 3
    assert (trace.reason, trace.steps, trace.converged) == ("settled", 2, True)
    assert trace.values == [4.0, 2.0, 1.95]


def test_it_stops_after_steps_without_a_best_value() -> None:
    trace = Trace(max_steps=50, patience=2, larger_is_better=True)
    assert run(trace, [0.1, 0.5, 0.4, 0.3, 0.9]) == 4
    assert (trace.reason, trace.best, trace.best_step) == ("patience", 0.5, 1)


def test_it_stops_at_the_step_limit_and_warns() -> None:
    trace = Trace(max_steps=2)
    assert run(trace, [3.0, 2.0, 1.0, 0.0]) == 3
    assert (trace.reason, trace.converged) == ("step limit", False)
    with pytest.warns(NotConverged, match="EM did not converge in 2 steps; the last value was 1"):
        trace.warn_unless_converged("EM")


def test_no_warning_when_it_converged() -> None:
    trace = Trace(max_steps=9, tolerance=1.0)
    run(trace, [1.0, 1.0])
    assert trace.converged
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace.warn_unless_converged("EM")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_value_that_is_not_finite_is_an_error(value: float) -> None:
    with pytest.raises(ArithmeticError, match="after 0 steps"):
        Trace(max_steps=3).go_on(value)


def test_a_negative_limit_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 0, got -1"):
        Trace(max_steps=-1)
