import time

import numpy as np
import pytest
from hands import pixel, send
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from waiting import wait_until

from rankstudio.ui.plots import CurvesPlot

KS = np.arange(1, 47)


def wheel(plot, at, clicks):
    where = plot.viewport().mapToGlobal(at.toPoint()).toPointF()
    event = QWheelEvent(
        at, where, QPoint(), QPoint(0, 120 * clicks), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(plot.viewport(), event)


def test_the_wheel_zooms_about_the_mouse_and_a_double_click_undoes_it(plot):
    whole = plot.ranges()
    wheel(plot, pixel(plot, 1, 10), 3)
    (x0, x1), (y0, y1) = plot.ranges()
    assert 1 <= x0 < 10 < x1 < 46
    assert y0 < plot.family[1].value_at(10) < y1
    assert plot.family[1].value_at(10) == pytest.approx(plot.family[1].value_at(10))
    QTest.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, 100))
    assert plot.ranges() == whole


def test_a_double_click_that_shows_all_again_picks_no_model(plot, picks):
    at = pixel(plot, 1, 10)
    wheel(plot, at, 3)
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
    QTest.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert not plot._second.isActive()
    assert picks == []
    wheel(plot, at, 3)
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=pixel(plot, 1, 10).toPoint())
    wait_until(lambda: picks)
    assert picks == [(1, 10)]


def test_zooming_out_ends_at_the_data(plot):
    whole = plot.ranges()
    wheel(plot, pixel(plot, 1, 10), 2)
    wheel(plot, pixel(plot, 1, 10), -12)
    assert plot.ranges() == whole


def test_a_drag_zooms_into_its_rectangle_and_picks_nothing(plot, picks):
    first, last = pixel(plot, 2, 10), pixel(plot, 0, 20)
    none = Qt.MouseButton.NoButton
    send(plot, QEvent.Type.MouseMove, first, none, none)
    send(plot, QEvent.Type.MouseButtonPress, first)
    for share in (0.3, 0.6, 1.0):
        time.sleep(0.012)  # pyqtgraph thins out moves that come faster than a mouse's
        at = first + (last - first) * share
        send(plot, QEvent.Type.MouseMove, at, Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton)
    send(plot, QEvent.Type.MouseButtonRelease, last, held=Qt.MouseButton.NoButton)
    (x0, x1), _ = plot.ranges()
    assert (x0, x1) == pytest.approx((10, 20), abs=0.12)  # a pixel is a tenth
    assert picks == []


def test_growing_curves_do_not_undo_a_zoom(plot):
    wheel(plot, pixel(plot, 1, 10), 3)
    zoomed = plot.ranges()
    plot.append(0, 47, 0.9)
    plot.flush()
    assert plot.ranges() == zoomed


def far_apart(plot):
    plot.may_be_logarithmic = True
    for key in range(3):
        plot.set_curve(key, KS, 10.0 ** (5 - KS / 10) + key)
    plot.flush()


def test_values_that_span_decades_get_a_logarithmic_axis_unless_the_user_says_otherwise(plot):
    assert not plot.axes.log_y
    far_apart(plot)
    assert plot.axes.log_y
    frame = plot.frame()
    heights = [frame.y_px(value) for value in (100.0, 1000.0, 10_000.0)]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2])
    assert frame.y_px(0.0) == pytest.approx(frame.area.bottom())
    assert [text for _, text in plot.axes.y_ticks(frame.y_range, frame.area.height())][-1] == "100,000"
    QTest.keyClick(plot, Qt.Key.Key_L)
    plot.flush()
    assert not plot.axes.log_y
    QTest.keyClick(plot, Qt.Key.Key_L)
    plot.flush()
    assert plot.axes.log_y
    plot.set_curve(0, KS, KS - 10.0)  # which has no logarithm
    plot.flush()
    assert not plot.axes.log_y


def test_a_zoom_into_a_logarithmic_axis_shows_what_was_framed(plot):
    far_apart(plot)
    plot.zoom.show_ranges((5.0, 20.0), (100.0, 10_000.0))
    plot._on_zoom()
    (x0, x1), (y0, y1) = plot.ranges()
    assert (x0, x1) == pytest.approx((5.0, 20.0))
    assert (y0, y1) == pytest.approx((100.0, 10_000.0))


def test_linked_plots_zoom_in_x_together(plot, theme, stage):
    other = CurvesPlot(theme, "criterion")
    stage(other, 480, 300)
    other.set_family([0], ["one"], (1, 46))
    other.set_curve(0, KS, KS * 2.0)
    other.flush()
    told = []
    other.zoomed.connect(told.append)
    plot.zoomed.connect(other.follow_zoom)
    y_range = other.ranges()[1]
    plot.zoom.show_ranges((5.0, 20.0), plot.ranges()[1])
    plot._on_zoom()
    assert other.ranges()[0] == pytest.approx((5.0, 20.0))
    assert other.ranges()[1] == pytest.approx(y_range)
    plot.reset_zoom()
    assert other.ranges()[0] == (1, 46)
    assert told == []
