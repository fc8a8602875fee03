"""Where data lie on a drawing, and when its layers are drawn."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyqtgraph.functions import arrayToQPath
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter

from rankstudio.ui.plots import CurvesPlot
from rankstudio.ui.plots.axes import label_box
from rankstudio.ui.plots.curves import curves_plot
from rankstudio.ui.plots.layers import Frame, draw_line, padded, pen, readable_range
from rankstudio.ui.process.turns import turns

FRAME = Frame(QRectF(40, 20, 300, 150), QRectF(0, 0, 360, 200), (1.0, 46.0), (0.2, 0.3))
values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=80).map(np.array)


def test_corners_of_the_data_are_corners_of_the_area():
    assert (FRAME.x_px(1), FRAME.y_px(0.2)) == (40, 170)
    assert (FRAME.x_px(46), FRAME.y_px(0.3)) == (340, 20)
    assert FRAME.point(1, 0.2).toTuple() == (40, 170)


@given(st.floats(1, 46), st.floats(0.2, 0.3))
def test_arrays_and_single_points_agree_and_x_comes_back(x, y):
    px, py = FRAME.pixels(np.array([x]), np.array([y]))
    assert px[0] == pytest.approx(FRAME.x_px(x))
    assert py[0] == pytest.approx(FRAME.y_px(y))
    assert FRAME.x_at(FRAME.x_px(x)) == pytest.approx(x)


def test_the_nearest_point_is_found_beside_missing_ones():
    """Catches a curve that the mouse cannot mean because one of its values is missing."""
    xs, ys = np.array([1.0, 20.0, 46.0]), np.array([np.nan, 0.25, 0.3])
    at = FRAME.point(20.0, 0.25) + QPointF(3.0, 0.0)
    assert FRAME.nearest([(xs, ys)], at, 5.0) == (0, 1)
    assert FRAME.nearest([(xs, ys), (xs, ys)], at, 5.0) == (1, 1)
    assert FRAME.nearest([(xs, ys), (np.empty(0), np.empty(0))], at, 2.0) is None


def pixels_of(draw) -> np.ndarray:
    """Return how opaque each pixel is that something draws on nothing, from 0 to 255."""
    image = QImage(440, 120, QImage.Format.Format_Alpha8)
    image.fill(0)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw(painter)
    painter.end()
    return np.frombuffer(image.constBits(), np.uint8).reshape(120, 440).copy()


@pytest.mark.parametrize("dash", [(), (4.0, 3.0)])
def test_a_line_in_pieces_covers_the_pixels_of_the_whole_line(dash, app):
    """Catches a gap between two pieces, and dashes that begin again with each of them."""
    rng = np.random.default_rng(1)
    px, py = np.linspace(20.0, 420.0, 203), 60 + 20 * rng.standard_normal(203)
    py[[40, 96, 97]] = np.nan
    line = pen(QColor("black"), 1.5, dash)
    whole = pixels_of(
        lambda p: (p.setPen(line), p.drawPath(arrayToQPath(px, py, connect="finite")))
    )
    pieces = pixels_of(lambda p: (p.setPen(line), draw_line(p, px, py)))
    assert whole.any()
    assert np.abs(whole.astype(int) - pieces).max() < 80, (
        "an edge may be darker where pieces overlap"
    )


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9))
def test_padding_is_never_empty_and_never_cuts(low, span):
    a, b = padded(low, low + span)
    assert a < b
    assert a <= low
    assert b >= low + span


def test_values_that_differ_by_rounding_alone_are_not_told_apart():
    """Catches an axis from 0.44999999999999996 to 0.45, whose ticks are all one float."""
    low, high = padded(0.1 + 0.35, np.nextafter(0.1 + 0.35, 1.0))
    assert high - low > 0.01


def test_padding_of_nothing_is_a_range():
    assert padded(float("nan"), 1.0) == (0.0, 1.0)


@given(values)
def test_ordinary_values_are_all_in_sight(ys):
    core = np.quantile(ys, 0.95) - np.quantile(ys, 0.05)
    low, high = readable_range(ys, np.empty(0))
    assert low < high
    if not 0 < 2 * core < np.ptp(ys):
        assert low <= ys.min() and high >= ys.max()


def test_a_few_extremes_run_out_of_the_frame_unless_they_are_the_chosen_curve():
    ys = np.concatenate([np.linspace(0.20, 0.21, 100), [0.9, np.nan]])
    low, high = readable_range(ys, np.empty(0))
    assert 0.19 < low < 0.20 and 0.21 < high < 0.23
    assert readable_range(ys, np.array([0.9, np.nan]))[1] >= 0.9


def test_no_values_are_a_range():
    assert readable_range(np.array([np.nan]), np.empty(0)) == (0.0, 1.0)


def test_the_title_of_the_x_axis_is_below_the_middle_beside_it_or_cut(app, theme):
    metrics, text = QFontMetrics(app.font()), "estimated minus true AUC"
    width = metrics.horizontalAdvance(text)
    for outer, middle, cut in (
        (3 * width, 2 * width, False),
        (1.2 * width, width, False),
        (width / 2, 9, True),
    ):
        box, said = label_box(text, metrics, middle, QRectF(0, 0, outer, 90))
        assert QRectF(0, 0, outer, 90).contains(box)
        assert (said != text) == cut and said.startswith("est")
        if outer > 2 * width:
            assert box.center().x() == pytest.approx(middle)


def test_a_layer_that_fails_is_reported_once_and_ends_nothing(
    monkeypatch, stage, theme
):
    told = []

    def fail(plot, painter, frame, colors):
        raise ValueError("no drawing today")

    monkeypatch.setattr(
        sys, "excepthook", lambda kind, error, trace: told.append(str(error))
    )
    monkeypatch.setattr(curves_plot, "draw_curves", fail)
    plot = stage(CurvesPlot(theme, "validation MAP"))
    for _ in range(3):
        plot.grab()
    assert told == ["no drawing today"]


def test_a_family_without_curves_can_be_drawn(stage, theme):
    plot = stage(CurvesPlot(theme, "validation MAP"))
    plot.set_family((), ())
    plot.flush()
    plot.grab()


def test_a_painting_lays_its_frame_out_once(monkeypatch, stage, theme):
    plot = stage(CurvesPlot(theme, "validation MAP"))
    plot.set_family((0, 1), ("one", "two"), (1, 3))
    plot.set_curve(0, (1, 2, 3), (0.1, 0.2, 0.3))
    plot.flush()
    asked = []
    lay_out = plot.frame_for
    monkeypatch.setattr(
        plot, "frame_for", lambda size: asked.append(size) or lay_out(size)
    )
    plot.viewport().repaint()
    assert len(asked) == 1
    plot.frame()
    assert len(asked) == 2  # what is asked for between two paintings is of that moment


def test_plots_that_are_due_together_are_redrawn_in_turns_of_their_own(stage, theme):
    plots = [stage(CurvesPlot(theme, "validation MAP")) for _ in range(2)]
    for plot in plots:
        plot.flush()
        plot.set_family((0,), ("one",))
        plot.set_curve(0, (1, 2, 3), (0.1, 0.2, 0.3))
        plot._timer.timeout.emit()
    assert all(plot.accessibleDescription() == "" for plot in plots)
    turns()._turn()
    assert [bool(plot.accessibleDescription()) for plot in plots] == [True, False]
    plots[1].flush()  # whoever cannot wait draws at once, and it is not drawn again
    assert not turns().waiting


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
def test_the_readable_range_is_that_of_numpys_quantiles(values: list[float]) -> None:
    ys = np.array(values)
    low, high = np.quantile(ys, (0.05, 0.95))
    expected = padded(float(ys.min()), float(ys.max()))
    if high - low > 0 and np.ptp(ys) > 2 * (high - low):
        half = 0.5 * (high - low)
        expected = padded(max(ys.min(), low - half), min(ys.max(), high + half))
    np.testing.assert_allclose(
        readable_range(ys, np.empty(0)), expected, rtol=1e-9, atol=1e-9
    )
