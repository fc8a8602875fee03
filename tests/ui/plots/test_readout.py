import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QWidget

from rankstudio.ui.plots.readout import Line, ValueBox
from rankstudio.ui.style.fonts import SMALL, font

LINES = [Line("k = 10", bold=True), *(Line(f"λ = 2^{i}", "0.2093") for i in range(10))]


@pytest.fixture
def box(theme, stage):
    plot = QWidget()
    stage(plot, 330, 240)
    return ValueBox(theme, plot)


@given(st.integers(30, 320), st.integers(25, 230))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_box_lies_inside_the_plot_and_away_from_the_mouse(box, x, y):
    assert box.fits(LINES, QPointF(x, y))
    box.say(LINES, QPointF(x, y), (np.array([x + 40.0]), np.array([y + 40.0])))
    place = QRect(box.pos(), box.size())
    assert box.parentWidget().rect().contains(place)
    assert not place.adjusted(-4, -4, 4, 4).contains(x, y)


def test_in_a_plot_that_is_too_small_a_note_gives_way_and_values_do_not(box):
    box.parentWidget().resize(140, 100)
    anchor = QPointF(70, 60)
    assert not box.fits(LINES, anchor)
    box.say(LINES, anchor, dispensable=True)
    assert box.isHidden()
    assert box.lines() == ()
    box.say(LINES, anchor)
    assert not box.isHidden()


def test_as_many_lines_as_fit_are_told(box):
    box.parentWidget().resize(330, 120)
    few = LINES[: box.room_for()]
    assert len(few) < len(LINES)
    assert box.fits(few, QPointF(30, 60))
    assert not box.fits([*few, Line("one"), Line("more")], QPointF(30, 60))


def test_in_a_narrow_plot_the_name_gives_way_and_the_value_is_whole(box):
    box.parentWidget().resize(140, 200)
    line = Line(
        "validation, mean over the folds of the run",
        "0.2093",
        box.palette().text().color(),
    )
    box.say([line], QPointF(70, 60))
    assert box.parentWidget().rect().contains(QRect(box.pos(), box.size()))
    shown, metrics = box.shown_text(line), QFontMetrics(font(SMALL))
    assert shown.endswith("…") and shown != "…"
    assert (
        metrics.horizontalAdvance(shown) + metrics.horizontalAdvance(line.value)
        < box.width() - 18
    )
    short = Line("k", "0.2093")
    assert box.shown_text(short) == short.text
