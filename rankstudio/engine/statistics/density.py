"""Densities of a feature's values, by Gaussian kernels over linearly binned data."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats

# linear binning is off by O(width²): an eighth of a grid step is invisible
_BINS_PER_POINT = 8


def silverman_bandwidth(values: Floats) -> float:
    """Return the bandwidth for a kernel density by Silverman's rule of thumb.

    It is 0.9 min(sd, IQR / 1.34) n^(-1/5). If more than half of the
    values are equal, the interquartile range is 0, and only the
    standard deviation is used.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values whose density will be estimated.

    Returns
    -------
    float
        0.0 for fewer than two distinct values.
    """
    if values.size < 2:
        return 0.0
    deviation = float(values.std(ddof=1))
    low, high = np.percentile(values, [25, 75])  # the quartiles
    # 1.34 standard deviations are the interquartile range of a normal
    # distribution.
    spread = min(deviation, float(high - low) / 1.34) or deviation
    return 0.9 * spread * float(values.size**-0.2)


def gaussian_density(
    values: Floats, grid: Floats, bandwidth: float | None = None
) -> Floats:
    """Estimate the density of some values at the points of an even grid.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values within the range of the grid.
    grid : ndarray of shape (g,), g >= 2
        Ascending, evenly spaced.
    bandwidth : float, optional
        Standard deviation of the kernel; by default Silverman's rule.
        It is at least the distance between grid points, so that equal
        values give a narrow finite peak.

    Returns
    -------
    ndarray of shape (g,)
        Density at each point of the grid, per unit of the values. Mass
        outside of the grid is lost: the density is not rescaled to an
        area of 1. All 0 without values.

    Notes
    -----
    O(n + g²): each value is divided linearly between the two nearest of
    8 g bins. Compared with the exact kernel sum, the error is below 0.2
    % of the highest point.
    """
    if values.size == 0:
        return np.zeros(grid.size)
    step = float(grid[1] - grid[0])
    width = max(silverman_bandwidth(values) if bandwidth is None else bandwidth, step)
    n_bins = (grid.size - 1) * _BINS_PER_POINT + 1
    # Positions are in bins, from the first grid point on.
    position = np.clip((values - grid[0]) * (_BINS_PER_POINT / step), 0.0, n_bins - 1.0)
    # Each value is divided between the bins below and above it;
    # ``mass`` has the number of values in each bin.
    lower_bin = np.minimum(position.astype(np.int64), n_bins - 2)
    share = position - lower_bin
    mass = np.bincount(lower_bin, 1.0 - share, n_bins) + np.bincount(
        lower_bin + 1, share, n_bins
    )
    bins = grid[0] + (step / _BINS_PER_POINT) * np.arange(n_bins)
    # The normal density at each grid point (rows) of a value in each
    # bin (columns), without its constant factor.
    kernel = np.exp(-0.5 * ((grid[:, None] - bins[None, :]) / width) ** 2)
    density: Floats = kernel @ mass / (values.size * width * np.sqrt(2.0 * np.pi))
    return density
