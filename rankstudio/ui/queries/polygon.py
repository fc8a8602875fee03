"""Which points lie in a polygon that was drawn by hand."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Bools, Floats


def inside_polygon(xs: Floats, ys: Floats, corners: Floats) -> Bools:
    """Return which points lie inside a polygon, by the even-odd rule; a NaN is outside.

    Parameters
    ----------
    xs, ys : array of shape (n,)
        The points.
    corners : array of shape (m, 2)
        In the order of the outline, which closes from the last to the first and may cross itself.

    Returns
    -------
    ndarray of bool of shape (n,)
    """
    inside = np.zeros(xs.shape, dtype=np.bool_)
    ends = np.roll(corners, -1, axis=0)
    for (x1, y1), (x2, y2) in zip(corners.tolist(), ends.tolist(), strict=True):
        if y1 != y2:  # an edge along the ray to the right is crossed by none
            crossed = (ys < y1) != (ys < y2)
            inside ^= crossed & (xs < x1 + (ys - y1) * (x2 - x1) / (y2 - y1))
    return inside & ~np.isnan(ys)
