import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm

from rankstudio.engine.statistics.density import gaussian_density, silverman_bandwidth


@given(
    arrays(np.float64, st.integers(1, 60), elements=st.floats(0, 1)),
    st.floats(0.02, 0.5),
)
def test_binned_density_is_close_to_the_sum_of_kernels(values, bandwidth):
    grid = np.linspace(0, 1, 128)
    exact = norm.pdf(grid[:, None], values[None, :], bandwidth).mean(axis=1)
    binned = gaussian_density(values, grid, bandwidth)
    assert np.abs(binned - exact).max() <= 0.002 * exact.max()


def test_silverman_follows_the_formula_and_survives_a_spike():
    values = np.random.default_rng(1).exponential(size=300)
    spread = min(
        values.std(ddof=1), np.subtract(*np.percentile(values, [75, 25])) / 1.34
    )
    assert silverman_bandwidth(values) == pytest.approx(0.9 * spread * 300**-0.2)
    spike = np.concatenate((np.zeros(99), [1.0]))
    assert silverman_bandwidth(spike) == pytest.approx(
        0.9 * spike.std(ddof=1) * 100**-0.2
    )
    assert silverman_bandwidth(np.full(5, 3.0)) == 0.0
    assert silverman_bandwidth(np.array([3.0])) == 0.0


def test_equal_values_are_a_narrow_peak_and_no_values_are_nothing():
    grid = np.linspace(0, 1, 128)
    peak = gaussian_density(np.full(7, 0.5), grid)
    assert np.isfinite(peak).all()
    assert abs(grid[peak.argmax()] - 0.5) < 0.01
    assert np.trapezoid(peak, grid) == pytest.approx(1.0, abs=1e-3)
    assert not gaussian_density(np.zeros(0), grid).any()
