"""Densities by class, and histograms of whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QSize, QSizeF

from rankstudio.ui.plots import Density, DensityPlot
from rankstudio.ui.plots.distributions import MOST_BINS, HistogramPlot

XS = np.linspace(0, 1, 50)


@pytest.fixture
def plot(theme, stage):
    made = DensityPlot(theme, x_label="BM25 of title")
    stage(made, 360, 220)
    made.set_densities(
        [
            Density("not relevant", XS, 1 - 0.5 * XS),
            Density("relevant", XS, 2 * XS),
            Density("highly relevant", np.empty(0), np.empty(0)),
        ]
    )
    made.flush()
    return made


def test_the_axis_is_the_values_and_the_height_the_highest_density(plot):
    (x0, x1), (y0, y1) = plot.ranges()
    assert (x0, x1, y0) == (0, 1, 0)
    assert y1 == pytest.approx(2.12)


def test_hovering_tells_every_class_s_density(plot):
    frame = plot.frame()
    plot.hover(QPointF(frame.x_px(0.5), frame.area.center().y()))
    assert [(line.text, line.value) for line in plot.box.lines()] == [
        ("0.5", ""),
        ("not relevant", "0.75"),
        ("relevant", "1"),
        ("highly relevant", "nan"),
    ]
    plot.hover(None)
    assert plot.box.isHidden()


def test_classes_are_told_apart_without_colour(plot):
    plot.hover(plot.frame().area.center())
    assert len({line.dash for line in plot.box.lines()[1:]}) == 3


def test_numbers_are_one_row_a_point(plot):
    header, rows = plot.numbers()
    assert header == ["class", "value", "density"]
    assert len(rows) == 100
    assert rows[-1] == ["relevant", 1.0, 2.0]


def test_the_legend_lies_above_the_curves_and_wraps_where_it_is_narrow(plot):
    wide, narrow = plot.frame_for(QSizeF(360, 220)), plot.frame_for(QSizeF(230, 220))
    assert plot.legend_spots(wide.area.size())[2] == 1
    _, spots, rows = plot.legend_spots(narrow.area.size())
    assert rows == len({row for _, row in spots}) == 2
    assert 16 <= wide.area.top() < narrow.area.top()
    assert wide.area.bottom() == narrow.area.bottom()


def test_in_a_low_plot_the_legend_moves_together_rather_than_vanish(plot):
    values = np.arange(9.0)
    plot.set_densities(
        [Density(name, values, values) for name in ("one", "another", "a third")]
    )
    high, low = QSizeF(190, 400), QSizeF(190, 130)
    swatches, _, rows = plot.legend_spots(plot.frame_for(high).area.size())
    narrow, _, fewer = plot.legend_spots(QSizeF(190, 60))
    assert (rows, fewer) == (2, 1) and narrow < swatches
    assert plot._legend_height(low) > 0


def test_in_a_small_plot_the_curves_have_the_room_of_the_legend(plot):
    small = plot.frame_for(QSizeF(90, 110))
    assert small.area.top() < 16
    assert small.area.height() > 60


def test_nothing_to_show_is_no_error(plot):
    plot.set_densities([])
    plot.flush()
    plot.hover(plot.frame().area.center())
    assert plot.is_empty() and plot.box.isHidden() and not plot.grab().isNull()


@pytest.fixture
def inflated(plot):
    plot.set_densities(
        [
            Density("not relevant", XS + 1, 1 - 0.5 * XS, 0.62),
            Density("relevant", XS + 1, 2 * XS, 0.004),
        ]
    )
    plot.flush()
    return plot


def test_zeros_stand_as_bars_left_of_the_densities(inflated):
    frame = inflated.frame()
    inflated.flush()
    assert (
        "62\N{NO-BREAK SPACE}% of not relevant are 0"
        in inflated.accessibleDescription()
    )
    image = inflated.grab().toImage()
    left = frame.area.left() - inflated._zeros_width(frame.outer.width())
    ground = image.pixelColor(round(left) - 4, round(frame.area.center().y()))
    low, high = (
        round(frame.area.bottom() - share * (frame.area.height() - 16))
        for share in (0.3, 0.9)
    )
    assert image.pixelColor(round(left) + 14, low) != ground
    assert image.pixelColor(round(left) + 14, high) == ground


def test_over_the_bars_the_box_tells_the_shares(inflated):
    frame = inflated.frame()
    inflated.hover(QPointF(frame.area.left() - 30, frame.area.bottom() - 5))
    assert [(line.text, line.value) for line in inflated.box.lines()] == [
        ("value 0", ""),
        ("not relevant", "62\N{NO-BREAK SPACE}%"),
        ("relevant", "under 1 %"),
    ]
    inflated.grab()


def test_shares_of_zeros_are_among_the_numbers(inflated):
    assert inflated.numbers()[1][-2:] == [
        ["not relevant", "share of zeros", 0.62],
        ["relevant", "share of zeros", 0.004],
    ]


def test_without_many_zeros_there_is_no_room_for_them(plot):
    assert plot.frame().area.left() < 12


@pytest.fixture
def histogram(app, theme):
    made = HistogramPlot(theme, "queries", "documents in the query")
    made.resize(QSize(400, 240))
    yield made
    made.close()
    made.deleteLater()


def test_every_number_is_in_its_bin(histogram):
    @given(st.lists(st.integers(0, 5000), min_size=1, max_size=60))
    def check(numbers):
        histogram.set_numbers(numbers)
        _, rows = histogram.numbers()
        assert len(rows) <= MOST_BINS + 1
        for first, last, count in rows:
            assert count == sum(first <= n <= last for n in numbers)
        assert sum(row[2] for row in rows) == len(numbers)

    check()


def test_bars_are_as_long_as_their_counts(histogram):
    histogram.set_numbers([3, 3, 3, 4, 6])
    heights = [bar.height() for bar in histogram.bars(histogram.frame())]
    assert heights[0] == pytest.approx(3 * heights[1])
    assert heights[2] == 0
    assert heights[1] == pytest.approx(heights[3])


def test_hovering_names_the_bin_and_its_count(histogram):
    histogram.set_numbers([3, 3, 3, 4, 6])
    histogram.flush()
    frame = histogram.frame()
    histogram.hover(QPointF(frame.x_px(4.0), frame.area.center().y()))
    assert histogram.under_mouse == 1
    histogram.hover(None)
    assert histogram.under_mouse is None


def test_no_numbers_are_an_empty_plot(histogram):
    histogram.set_numbers(np.zeros(0))
    assert histogram.is_empty()
    assert histogram.numbers()[1] == []
