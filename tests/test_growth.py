"""The benchmark of growth: its fit is that of a power law, and it runs to the end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "growth.py"


def growth() -> ModuleType:
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        import growth  # noqa: PLC0415 - it lies beside the package
    finally:
        sys.path.remove(str(SCRIPT.parent))
    return growth


@pytest.mark.thorough
def test_every_claim_is_measured(tmp_path: Path) -> None:
    file = tmp_path / "growth.json"
    subprocess.run(
        [sys.executable, SCRIPT, "--quick", "--json", file],
        check=True,
        capture_output=True,
    )
    rows = json.loads(file.read_text())["rows"]
    assert {(row["table"], row["name"]) for row in rows} >= {
        (f"greedy RankRLS, {algorithm}", size)
        for algorithm in ("Algorithm 1", "auto")
        for size in "mnk"
    }
    # How fast this machine is says nothing: only that there is a slope with an interval around it.
    assert all(row["low"] < row["exponent"] < row["high"] for row in rows)


@given(st.floats(-1, 3), st.floats(1e-6, 10), st.integers(3, 6))
def test_the_slope_of_a_power_law_is_its_exponent(
    exponent: float, factor: float, n: int
) -> None:
    sizes = 100.0 * 2.0 ** np.arange(n)
    found = growth().fitted_growth(sizes, factor * sizes**exponent)
    assert found.exponent == pytest.approx(exponent, abs=1e-9)
    assert found.half == pytest.approx(0.0, abs=1e-6)


def test_the_interval_is_that_of_least_squares() -> None:
    sizes, seconds = [1.0, 2.0, 4.0, 8.0], [1.0, 2.3, 3.8, 8.5]
    (slope, _), covariance = np.polyfit(np.log(sizes), np.log(seconds), 1, cov=True)
    found = growth().fitted_growth(sizes, seconds)
    assert found.exponent == pytest.approx(slope)
    # t at 97.5 %, 2 free
    assert found.half == pytest.approx(4.302652729911275 * np.sqrt(covariance[0, 0]))
