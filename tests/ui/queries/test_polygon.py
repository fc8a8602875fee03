"""Which points lie in a polygon: as a loop over points and edges has it, and as Qt has it."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPolygonF

from rankstudio.ui.queries.comparison_panel import inside_polygon


def looped(x: float, y: float, corners: list[list[float]]) -> bool:
    """Count the edges that a ray to the right crosses."""
    crossings = 0
    for (x1, y1), (x2, y2) in zip(corners, corners[1:] + corners[:1], strict=True):
        if min(y1, y2) < y <= max(y1, y2):
            share = (y - y1) / (y2 - y1)
            crossings += x < x1 + share * (x2 - x1)
    return crossings % 2 == 1


@pytest.mark.parametrize("seed", range(30))
def test_it_agrees_with_a_loop_over_edges_and_with_qt(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(0, 100, (int(rng.integers(3, 40)), 2))
    xs, ys = rng.uniform(-10, 110, (2, 200))
    found = inside_polygon(xs, ys, corners)
    outline = QPolygonF([QPointF(x, y) for x, y in corners.tolist()])
    for x, y, inside in zip(xs.tolist(), ys.tolist(), found.tolist(), strict=True):
        assert inside == looped(x, y, corners.tolist())
        assert inside == outline.containsPoint(QPointF(x, y), Qt.FillRule.OddEvenFill)


def test_a_corner_at_the_height_of_a_point_counts_once() -> None:
    diamond = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 2.0]])
    xs, ys = np.array([1.0, -1.0, 3.0, np.nan, 1.0]), np.array([1.0, 1.0, 1.0, 1.0, np.nan])
    assert inside_polygon(xs, ys, diamond).tolist() == [True, False, False, False, False]


def test_a_polygon_of_no_extent_has_nothing_in_it() -> None:
    assert not inside_polygon(np.zeros(1), np.zeros(1), np.zeros((1, 2))).any()
    assert not inside_polygon(np.zeros(1), np.zeros(1), np.array([[0.0, 0.0], [5.0, 0.0]])).any()
