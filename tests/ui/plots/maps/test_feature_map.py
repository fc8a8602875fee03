from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from rankstudio.ui.plots.maps.feature_map import (
    ColumnGroup,
    FeatureMapPlot,
    MapFeature,
    MapValues,
    ordinal,
    spread,
)

FEATURES = [
    MapFeature(39, "LMIR", 1),
    MapFeature(23, "LMIR of body"),
    MapFeature(7, "TF", 2),
]
RANKS = np.array(
    [[1.0, np.nan, 2.0, 1.0], [np.nan, 1.0, np.nan, np.nan], [2.0, np.nan, 1.0, np.nan]]
)


def shown(values: np.ndarray = RANKS) -> MapValues:
    return MapValues(
        values,
        ("fold 1 of run 1", "fold 2 of run 1", "fold 1 of run 2", "fold 2 of run 2"),
        ("1", "2", "1", "2"),
        (2.0, 1.0),
        "chosen as",
        ((1.0, "1st"), (2.0, "2nd")),
        tuple(
            tuple("-" if np.isnan(v) else ordinal(int(v)) for v in row)
            for row in values
        ),
        "fold",
        (ColumnGroup("run 1", 0, 2), ColumnGroup("run 2", 1, 2)),
    )


@pytest.fixture
def plot(theme, stage):
    made = FeatureMapPlot(theme)
    stage(made, 420, 260)
    made.show_map(FEATURES, shown())
    made.flush()
    return made


def center(plot, row, column):
    return plot.cell_rect(plot.frame(), len(FEATURES) - 1 - row, column).center()


def test_features_stand_from_top_to_bottom(plot):
    assert center(plot, 0, 0).y() < center(plot, 1, 0).y() < center(plot, 2, 0).y()


def test_a_click_picks_the_feature_of_the_row_whether_or_not_the_cell_has_a_value(plot):
    seen = []
    plot.inspected.connect(seen.append)
    for row, column in ((0, 0), (1, 0), (2, 3)):
        QTest.mouseClick(
            plot.viewport(),
            Qt.MouseButton.LeftButton,
            pos=center(plot, row, column).toPoint(),
        )
    assert seen == [39, 23, 7]


def test_arrow_keys_go_from_cell_to_cell(plot):
    seen = []
    plot.inspected.connect(seen.append)
    for key in (
        Qt.Key.Key_Down,
        Qt.Key.Key_Down,
        Qt.Key.Key_Right,
        Qt.Key.Key_Down,
        Qt.Key.Key_Up,
    ):
        QTest.keyClick(plot, key)
    assert seen == [39, 23, 23, 7, 23]
    plot.flush()
    assert "LMIR of body (23)" in plot.accessibleDescription()
    assert "fold 2 of run 1" in plot.accessibleDescription()


def test_the_box_says_feature_column_and_value(plot):
    lines = plot.readout(plot.hit_test(center(plot, 2, 0)))
    assert [(line.text, line.value) for line in lines] == [
        ("TF (7), selected as 2nd", "2nd"),
        ("fold 1 of run 1", ""),
    ]


def test_there_is_one_bar_of_colours_with_the_numbers_of_what_is_shown(plot):
    assert plot.bar_texts() == ()


def test_the_first_rank_has_the_brightest_colour(plot):
    image = plot.grab().toImage()
    first = image.pixelColor(center(plot, 0, 0).toPoint())
    second = image.pixelColor(center(plot, 2, 0).toPoint())
    assert first.lightness() > second.lightness()


def test_names_stand_beside_the_rows_where_there_is_room(plot):
    assert plot.label_of(FEATURES[0]) == "39"
    plot.resize(800, 260)
    assert plot.label_of(FEATURES[0]) == "LMIR  39"


def test_a_square_map_leaves_its_colour_bar_beside_it(plot):
    square = MapValues(
        np.eye(3),
        ("a",) * 3,
        ("",) * 3,
        (0.0, 1.0),
        "|r|",
        ((1.0, "1"),),
        (("",) * 3,) * 3,
        "",
        square=True,
    )
    plot.resize(700, 260)
    plot.show_map(FEATURES, square)
    area = plot.frame().area
    assert area.width() == area.height()
    assert (
        plot.grab()
        .toImage()
        .pixelColor(round(area.right()) + 16, round(area.top()) + 8)
        .saturation()
        > 90
    )


def test_numbers_are_those_of_the_features_in_order(plot):
    header, rows = plot.numbers()
    assert header[:3] == ["feature", "name", "fold 1 of run 1"]
    assert [row[0] for row in rows] == [39, 23, 7]
    assert rows[0][2] == 1.0


def test_fewer_features_take_the_chosen_cell_away(plot):
    QTest.keyClick(plot, Qt.Key.Key_Down)
    plot.show_nothing("nothing")
    plot.flush()
    assert plot.accessibleDescription() == ""
    plot.grab()


@pytest.mark.parametrize("seed", range(20))
def test_labels_keep_their_distance_and_order(seed):
    rng = np.random.default_rng(seed)
    wanted = np.sort(rng.uniform(0, 200, rng.integers(1, 15))).tolist()
    places = spread(wanted, 0.0, 200.0)
    assert len(places) == len(wanted)
    assert all(b - a >= 13.0 - 1e-9 for a, b in pairwise(places))
    assert -1e-9 <= places[0] <= places[-1] <= 200.0 + 1e-9


def test_ordinals():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == (
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"]
    )
