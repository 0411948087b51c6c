"""The page of ratios and the fitted exponents of growth."""

from __future__ import annotations

import pytest
from bench.growth import WORK, exponent
from bench.one_machine import ROWS
from bench.scale_rows import ROWS as SCALE_ROWS
from bench.table import Row, show


def test_the_page_says_which_rows_fall_short_and_goes_on_after_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show(
        [
            Row("fast enough", lambda: 3.0, 2.0),
            Row("too slow", lambda: 1.5, 2.0),
            Row("too large", lambda: 2.5, 2.0, at_most=True),
            Row("broken", lambda: 1 / 0, 2.0),
        ]
    )
    printed = capsys.readouterr().out
    assert "fall short: too slow, too large" in printed
    assert "not measured: broken" in printed
    assert "division by zero" in printed


def test_rows_have_different_names() -> None:
    names = [row.name for row in (*ROWS, *SCALE_ROWS)]
    assert len(set(names)) == len(names)


def test_an_exponent_is_the_slope_in_logarithms() -> None:
    assert exponent((10, 40, 160), [1.0, 4.0, 16.0]) == pytest.approx(1.0)
    assert exponent((10, 40, 160), [1.0, 16.0, 256.0]) == pytest.approx(2.0)
    for work in WORK:
        small, middle, large = work.sizes
        assert middle == 4 * small
        assert large == 4 * middle
