"""Maps of two grids: cells, values and their one bar of colours."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtTest import QTest

from rankstudio.ui.plots import HeatMapPlot
from rankstudio.ui.plots.maps import heat_map
from rankstudio.ui.plots.maps.feature_map import FeatureMapPlot, MapFeature, MapValues
from rankstudio.ui.style.palettes import viridis

VALUES = np.arange(12.0).reshape(3, 4)
VALUES[2, 3] = np.nan


@pytest.fixture
def plot(theme, stage):
    made = HeatMapPlot(theme, "validation MAP")
    stage(made, 400, 240)
    made.set_values(VALUES, ["2⁰", "2¹", "2²"], ["1", "2", "3", "4"])
    made.flush()
    return made


def middle(plot, row, column):
    return plot.cell_rect(plot.frame(), row, column).center()


def test_rows_go_up_and_columns_to_the_right(plot):
    assert middle(plot, 2, 0).y() < middle(plot, 0, 0).y()
    assert middle(plot, 0, 3).x() > middle(plot, 0, 0).x()


def test_every_cell_is_found_again(plot):
    for row in range(3):
        for column in range(4):
            rect = plot.cell_rect(plot.frame(), row, column)
            assert plot.hit_test(rect.center()) == (row, column)
            assert plot.hit_test(rect.topLeft()) == (row, column)
    assert plot.hit_test(plot.frame().outer.topLeft()) is None


def test_colours_are_viridis_between_the_least_and_the_greatest_value(plot):
    low, high = plot.color_range()
    known = VALUES[np.isfinite(VALUES)]
    assert (low, high) == (known.min(), known.max())
    image = plot.grab().toImage()
    for cell in ((0, 0), (1, 2), (2, 2)):
        drawn = image.pixelColor(middle(plot, *cell).toPoint()).getRgb()[:3]
        wanted = viridis(np.array((VALUES[cell] - low) / (high - low)))
        assert np.abs(np.array(drawn) - wanted.astype(int)).max() <= 5


def test_a_cell_without_a_value_is_ground_and_cannot_be_picked(plot):
    told = []
    plot.picked.connect(lambda row, column: told.append((row, column)))
    assert (
        plot.grab().toImage().pixelColor(middle(plot, 2, 3).toPoint()).name()
        == plot.theme.colors.panel
    )
    for cell in ((2, 3), (2, 2), (0, 1)):
        QTest.mouseClick(
            plot.viewport(),
            Qt.MouseButton.LeftButton,
            pos=middle(plot, *cell).toPoint(),
        )
    assert told == [(2, 2), (0, 1)]


def test_hovering_tells_where_and_how_much(plot):
    plot.hover(middle(plot, 1, 2))
    assert [(line.text, line.value) for line in plot.box.lines()] == [
        ("k = 3 · λ = 2¹", "6.0000"),
        ("validation MAP", ""),
    ]
    plot.hover(middle(plot, 2, 3))
    assert plot.box.lines()[0].value == "no value"


def test_the_keys_move_the_chosen_cell(plot):
    plot.picked.connect(plot.select)
    plot.select(1, 1)
    for key, cell in (
        (Qt.Key.Key_Up, (2, 1)),
        (Qt.Key.Key_Right, (2, 2)),
        (Qt.Key.Key_Right, (2, 2)),  # the next one has no value
        (Qt.Key.Key_Down, (1, 2)),
        (Qt.Key.Key_Left, (1, 1)),
    ):
        QTest.keyClick(plot, key)
        assert plot.chosen == cell
    plot.flush()
    assert plot.accessibleDescription().endswith("chosen: 5.0000 at k = 2 · λ = 2¹")


def test_numbers_are_the_values(plot):
    header, rows = plot.numbers()
    assert header == ["λ", "k = 1", "k = 2", "k = 3", "k = 4"]
    assert [row[0] for row in rows] == ["2⁰", "2¹", "2²"]
    np.testing.assert_array_equal([row[1:] for row in rows], VALUES)


def test_labels_must_fit_the_values(plot):
    with pytest.raises(ValueError, match="3 rows"):
        plot.set_values(VALUES.T, ["a", "b", "c"], ["1", "2", "3", "4"])


@pytest.mark.parametrize("value", [0.5, np.nan])
def test_equal_values_and_none_at_all_do_no_harm(plot, value):
    plot.set_values([[value, value]], ["a"], ["1", "2"])
    plot.select(7, 7)
    plot.flush()
    assert not plot.grab().isNull()
    assert plot.is_empty() == np.isnan(value)
    # one number at the colour, and none for those that stand for nothing
    if not plot.is_empty():
        assert plot.bar_texts() == ("", f"{value:.4f}", "")
        assert plot.figure().ends == ((value, f"{value:.4f}"),)


def test_values_are_written_into_cells_that_have_the_room_and_limits_hold(theme, stage):
    made = HeatMapPlot(theme, "similarity", decimals=2, limits=(0.0, 1.0), written=True)
    stage(made, 300, 200)
    made.set_values([[1.0, 0.2], [0.2, 1.0]], ["1", "2"], ["1", "2"])
    made.flush()
    assert made.color_range() == (0.0, 1.0)
    assert made.text_of(0, 1) == "0.20"

    def shades(row, column):
        rect = made.cell_rect(made.frame(), row, column).adjusted(4, 4, -4, -4).toRect()
        image = made.grab(rect).toImage()
        return {
            image.pixelColor(x, y).lightness()
            for x in range(image.width())
            for y in range(image.height())
        }

    assert min(shades(0, 0)) < 60, "dark letters on the bright cell"
    assert max(shades(0, 1)) > 240, "light letters on the dark one"
    made.written = False
    assert len(shades(0, 0)) == 1


def test_columns_without_a_pixel_of_their_own_are_not_drawn(plot, monkeypatch):
    """Eleven rows of five thousand columns are a hundred milliseconds of rectangles that nobody sees."""
    drawn = []
    monkeypatch.setattr(heat_map, "QRectF", lambda *of: drawn.append(of) or QRectF(*of))
    plot.set_values(
        np.random.default_rng(1).random((3, 5000)), ["a", "b", "c"], ["1"] * 5000
    )
    plot.flush()
    plot.grab()
    assert 0 < len(drawn) < 3 * plot.frame().area.width() + 100


def test_the_bar_of_colours_says_its_values_and_what_lies_beyond(theme, stage):
    plot = HeatMapPlot(theme, "validation MAP")
    stage(plot, 400, 240)
    values = np.linspace(0.5, 0.6, 200).reshape(4, 50)
    values[:, 0] = 0.0  # one bad column
    plot.set_values(values, list("abcd"), [str(k) for k in range(1, 51)])
    plot.flush()
    low, high = plot.color_range()
    assert plot.bar_texts() == (
        f"≤ {low:.4f}",
        f"{(low + high) / 2:.4f}",
        f"{high:.4f}",
    )
    assert high == 0.6
    first, last = np.quantile(values, (0.1, 0.9))
    # the others have more than two thirds of the shades
    assert low == pytest.approx(first - (last - first))
    assert plot.frame().area.right() < plot.frame().outer.right() - 40
    plot.set_values(np.array([[0.1, 0.2]]), ["a"], ["1", "2"])
    assert not any(text.startswith("-") for text in plot.bar_texts())
    plot.written = True
    assert plot.bar_texts() == ()


@pytest.mark.parametrize("width", [110, 130, 160, 200, 260, 500])
def test_long_labels_leave_the_cells_and_the_bar_their_room(theme, stage, width):
    plot = HeatMapPlot(theme, "MAP")
    plot.set_values(
        [[0.4, 0.5], [0.6, 0.7]],
        ["λ1 = 0.01 · λ2 = 0.0001", "λ1 = 0.1 · λ2 = 0.0001"],
        ["1", "2"],
    )
    stage(plot, width, 120)
    area = plot.frame().area
    assert 0 <= area.left() < area.right() < width
    assert area.width() >= 30
    assert not plot.grab().isNull()


MAP_VALUES = MapValues(
    np.eye(2),
    ("one", "two"),
    ("", ""),
    (0.0, 1.0),
    "|r|",
    ((0.0, "0"), (1.0, "1")),
    (("a", "b"), ("c", "d")),
    "features",
)


@pytest.mark.parametrize("kind", [HeatMapPlot, FeatureMapPlot])
def test_a_map_draws_one_bar(theme, stage, monkeypatch, kind):
    drawn = []
    monkeypatch.setattr(
        heat_map, "draw_color_bar", lambda _painter, bar, _colors: drawn.append(bar)
    )
    plot = kind(theme)
    stage(plot, 400, 240)
    if isinstance(plot, FeatureMapPlot):
        plot.show_map([MapFeature(1, "one", 1), MapFeature(2, "two")], MAP_VALUES)
    else:
        plot.set_values(MAP_VALUES.values, ["a", "b"], ["1", "2"])
    plot.flush()
    drawn.clear()
    plot.grab()
    titles = [bar.title for bar in drawn]
    assert titles == ["|r|" if isinstance(plot, FeatureMapPlot) else ""]
    assert [share for share, _ in drawn[0].ticks] in ([0.0, 1.0], [0.0, 0.5, 1.0])
    assert drawn[0].box.left() > plot.frame().area.right()
