import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtTest import QTest

from rankstudio.ui.plots import plot_writer
from rankstudio.ui.plots.pareto import (
    Marks,
    ParetoPlot,
    Spot,
    _best_name_box,
    _suggested_names,
    text_size,
)
from rankstudio.ui.style import palettes

NAN = float("nan")
SPOTS = [
    Spot(1, 0.40, 0.02, 0, "run 1 · Greedy RankRLS", "k = 1"),
    Spot(2, 0.46, 0.02, 1, "run 2 · GAS", "k = 2"),
    Spot(5, 0.45, 0.02, 0, "run 1 · Greedy RankRLS", "k = 5"),
    Spot(8, 0.47, 0.02, 0, "run 1 · Greedy RankRLS", "k = 8"),
]
MARKS = Marks((0, 1, 3), 3, 1, (0.45, 0.45, 0.45))


@pytest.fixture
def plot(theme, stage):
    made = ParetoPlot(theme, "validation MAP", "features")
    stage(made, 480, 260)
    made.set_spots(SPOTS, MARKS)
    made.flush()
    return made


@pytest.fixture
def picked(plot):
    told = []
    plot.picked.connect(told.append)
    return told


def at(plot, position):
    return plot.frame().point(SPOTS[position].x, SPOTS[position].y)


def test_every_marker_is_found_by_the_mouse_and_the_ground_between_them_is_none(
    plot, picked
):
    for position in range(len(SPOTS)):
        plot.click(at(plot, position) + QPointF(3, -3))
    assert picked == [0, 1, 2, 3]
    plot.click(QPointF((at(plot, 2).x() + at(plot, 3).x()) / 2, at(plot, 0).y()))
    assert picked == [0, 1, 2, 3]


def test_the_mouse_reads_exact_values(plot):
    plot.hover(at(plot, 1))
    lines = [(line.text, line.value) for line in plot.box.lines()]
    assert lines == [
        ("run 2 · GAS", "0.4600 ± 0.0200"),
        ("k = 2", ""),
        ("one standard error", ""),
        ("best: run 1 · Greedy RankRLS, k = 8", "0.4700"),
    ]
    plot.hover(None)
    assert plot.box.lines() == ()


def test_arrow_keys_walk_the_front_and_begin_at_the_suggested_model(plot, picked):
    plot.setFocus()
    plot.picked.connect(plot.select)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left):
        QTest.keyClick(plot, key)
    assert picked == [1, 3, 3, 1]


def test_what_to_take_is_told_to_those_who_do_not_see_it(plot):
    plot.flush()
    assert plot.accessibleDescription() == (
        "best: run 1 · Greedy RankRLS, k = 8, 0.4700. one standard error: run 2 · GAS, k = 2, 0.4600"
    )


def test_the_markers_have_their_run_s_colour_and_the_front_is_drawn_in_full(
    plot, theme
):
    image = plot.grab().toImage()
    for position in MARKS.front:
        spot = at(plot, position)
        drawn = np.array(image.pixelColor(spot.toPoint()).getRgb()[:3])
        wanted = np.array(
            palettes.category(theme.colors, SPOTS[position].category).color.getRgb()[:3]
        )
        assert np.abs(drawn - wanted).max() <= 6
    empty = theme.colors.panel
    # on the step
    between = QPointF((at(plot, 1).x() + at(plot, 3).x()) / 2, at(plot, 1).y())
    assert image.pixelColor(between.toPoint()).name() != empty


def test_a_mark_for_one_that_is_best_and_suggested_at_once(plot):
    plot.set_spots(
        [Spot(3, 0.5, NAN, 0, "run 1 · RankRLS", "k = 3")],
        Marks((0,), 0, 0, (0.5,), "not significantly worse"),
    )
    plot.flush()
    plot.hover(plot.frame().point(3, 0.5))
    assert plot.box.lines()[-1].text == "best, and choice by “not significantly worse”"
    assert plot.box.lines()[0].value == "0.5000"


def test_the_numbers_and_the_picture_can_be_taken_home(plot, tmp_path):
    header, rows = plot.numbers()
    assert header[2:] == ["size", "validation MAP", "standard error", "front", "chosen"]
    assert [row[5] for row in rows] == ["front", "front", "", "front"]
    assert [row[6] for row in rows] == ["", "one standard error", "", "best"]
    for ending in ("png", "svg", "pdf", "csv"):
        plot_writer(plot, tmp_path / f"front.{ending}")()
        assert (tmp_path / f"front.{ending}").stat().st_size > 100
    plot.set_spots(())
    assert plot.is_empty()
    assert plot.numbers()[1] == []


@pytest.mark.parametrize("width", [220, 300, 480, 900])
@pytest.mark.parametrize("suggested", [0, 1])
def test_names_of_marked_models_are_inside_the_plot(plot, width, suggested):
    plot.resize(width, 260)
    plot.set_spots(SPOTS, Marks((0, 1, 3), 3, suggested, (0.45, 0.45, 0.45)))
    plot.flush()
    frame = plot.frame()
    names = _suggested_names(plot, plot.marks)
    for position in range(len(SPOTS)):
        box, name = _best_name_box(plot, frame, at(plot, position), names, True, [])
        assert name in names
        assert QRectF(plot.rect()).contains(box)
        assert box.width() >= text_size(name, True).width()
