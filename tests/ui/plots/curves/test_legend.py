"""The name of the curve beside the chosen one stands where it hides no curve."""

from __future__ import annotations

import numpy as np
import pytest

from rankstudio.ui.plots import CurvesPlot
from rankstudio.ui.plots.curves.curves_plot import _free_room

KS = np.arange(1, 47)


@pytest.mark.parametrize("beside", [np.full(46, 0.6), np.full(46, 0.1), np.linspace(0.1, 0.6, 46)])
@pytest.mark.parametrize("others", [0.12, 0.35, 0.58])
def test_it_is_where_no_curve_is(plot: CurvesPlot, beside: np.ndarray, others: float) -> None:
    for key in range(3):
        plot.set_curve(key, KS, np.full(46, others))
    plot.family.set_beside("other", "left-out queries", KS, beside)
    plot.flush()
    frame = plot.frame()
    room = _free_room(plot, frame, 120.0, 14.0)
    assert frame.area.contains(room)
    for curve in plot.family.curves.values():
        px, py = frame.pixels(*curve.arrays())
        columns = np.arange(room.left(), room.right())
        drawn = np.interp(columns, px, py)
        assert not ((drawn > room.top()) & (drawn < room.bottom())).any()


def test_it_is_at_the_lower_right_where_there_is_room_everywhere(plot: CurvesPlot) -> None:
    plot.family.set_beside("other", "left-out queries", [1], [0.9])
    plot.flush()
    area = plot.frame().area
    room = _free_room(plot, plot.frame(), 60.0, 14.0)
    assert room.center().x() > area.center().x()


def test_a_lone_point_beside_the_others_is_in_sight_however_far_away_it_is(plot: CurvesPlot) -> None:
    for key in range(30):
        plot.set_curve(key, [46], [0.52 + key / 3000])
    plot.family.set_beside("other", "left-out queries", [46], [0.1])
    plot.flush()
    frame = plot.frame()
    assert frame.area.top() < frame.y_px(0.1) < frame.area.bottom()
