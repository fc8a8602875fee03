import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QSize

from rankstudio.ui.plots.curves.curve_set import CurveSet
from rankstudio.ui.plots.histogram import MOST_BINS, HistogramPlot
from rankstudio.ui.style.colors import LIGHT


@pytest.fixture
def plot(app, theme):
    made = HistogramPlot(theme, "queries", "documents in the query")
    made.resize(QSize(400, 240))
    yield made
    made.close()
    made.deleteLater()


def test_every_number_is_in_its_bin(plot):
    @given(st.lists(st.integers(0, 5000), min_size=1, max_size=60))
    def check(numbers):
        plot.set_numbers(numbers)
        _, rows = plot.numbers()
        assert len(rows) <= MOST_BINS + 1
        for first, last, count in rows:
            assert count == sum(first <= n <= last for n in numbers)
        assert sum(row[2] for row in rows) == len(numbers)

    check()


def test_bars_are_as_long_as_their_counts(plot):
    plot.set_numbers([3, 3, 3, 4, 6])
    heights = [bar.height() for bar in plot.bars(plot.frame())]
    assert heights[0] == pytest.approx(3 * heights[1])
    assert heights[2] == 0
    assert heights[1] == pytest.approx(heights[3])


def test_hovering_names_the_bin_and_its_count(plot):
    plot.set_numbers([3, 3, 3, 4, 6])
    plot.flush()
    frame = plot.frame()
    plot.hover(QPointF(frame.x_px(4.0), frame.area.center().y()))
    assert plot.under_mouse == 1
    plot.hover(None)
    assert plot.under_mouse is None


def test_no_numbers_are_an_empty_plot(plot):
    plot.set_numbers(np.zeros(0))
    assert plot.is_empty()
    assert plot.numbers()[1] == []


def test_a_curve_outside_of_the_family_s_order_takes_the_accent_and_leaves_the_others_their_colours():
    family = CurveSet((0, 1, 2), ("a", "b", "c"))
    before = {key: color.name() for key, (color, _) in family.strokes(LIGHT).items()}
    family["live"].xs.append(1.0)
    after = {key: color.name() for key, (color, _) in family.strokes(LIGHT).items()}
    assert after == {**before, "live": LIGHT.accent}
