import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF

from rankstudio.ui.plots.curves.curve_set import (
    MOST_LINES,
    Band,
    CurveSet,
    neighbour,
    numbers,
    value_lines,
)
from rankstudio.ui.plots.layers import Frame
from rankstudio.ui.style.colors import DARK, LIGHT

FRAME = Frame(QRectF(0, 0, 100, 100), QRectF(0, 0, 100, 100), (0.0, 10.0), (0.0, 10.0))


def family(*curves):
    made = CurveSet(
        list(range(len(curves))), [f"curve {i}" for i in range(len(curves))]
    )
    for key, ys in enumerate(curves):
        made[key].xs = [float(i + 1) for i in range(len(ys))]
        made[key].ys = list(ys)
    return made


points = st.lists(st.floats(0, 10) | st.just(float("nan")), max_size=9)


@given(st.lists(points, min_size=1, max_size=5), st.floats(0, 100), st.floats(0, 100))
def test_a_pixel_means_the_nearest_x_and_there_the_nearest_curve(curves, px, py):
    made = family(*curves)
    every = [
        (abs(10 * x - px), abs(100 - 10 * y - py), key, x)
        for key, curve in made.curves.items()
        for x, y in zip(curve.xs, curve.ys, strict=True)
        if y == y  # noqa: PLR0124 - NaN is not itself
    ]
    found = made.pointed(FRAME, px, py)
    if not every:
        assert found is None
        return
    across, along = next(one[:2] for one in every if one[2:] == found)
    assert across == pytest.approx(min(one[0] for one in every))
    assert along == pytest.approx(min(one[1] for one in every if one[3] == found[1]))


def test_of_coinciding_points_the_one_on_top_is_meant():
    made = family([5.0], [5.0], [5.0])
    assert made.pointed(FRAME, 10, 50) == (2, 1.0)
    made.choice = (0, 1.0)
    assert made.pointed(FRAME, 10, 50) == (0, 1.0)


def test_the_latest_value_at_an_x_counts():
    made = family([1.0])
    made[0].xs.append(1.0)
    made[0].ys.append(3.0)
    assert made[0].value_at(1.0) == 3.0
    assert np.isnan(made[0].value_at(2.0))


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_a_family_is_solid_and_a_small_one_dashed_too(colors):
    many = family(*[[1.0]] * 11).strokes(colors)
    assert {dash for _, dash in many.values()} == {()}
    assert len({color.name() for color, _ in many.values()}) == 11
    few = family(*[[1.0]] * 3).strokes(colors)
    assert len({dash for _, dash in few.values()}) == 3


def test_a_stranger_takes_the_accent_and_changes_no_other_colour():
    made = family([1.0], [2.0])
    before = made.strokes(LIGHT)
    made["live"].xs.append(1.0)
    after = made.strokes(LIGHT)
    assert after["live"][0].name() == LIGHT.accent
    assert {key: after[key] for key in before} == before


def test_lines_list_what_a_click_would_choose_first_then_the_chosen_curve_and_the_others():
    made = family([1.0], [3.0], [2.0], [4.0], [float("nan")])
    made.choice = (0, 1.0)
    lines = value_lines(made, 1.0, LIGHT, pointed=2, x_text="k = 1")
    assert [(line.text, line.value, line.bold) for line in lines] == [
        ("k = 1 · curve 2", "2.0000", True),
        ("curve 0", "1.0000", False),
        ("curve 3", "4.0000", False),
        ("curve 1", "3.0000", False),
    ]


def test_the_value_of_a_lone_curve_is_beside_its_k():
    (line,) = value_lines(family([0.5]), 1.0, LIGHT, 0, "k = 1")
    assert (line.text, line.value, line.bold) == ("k = 1", "0.5000", True)


def test_many_curves_are_counted_not_listed():
    lines = value_lines(
        family(*[[float(i)] for i in range(20)]), 1.0, LIGHT, None, "k = 1"
    )
    assert len(lines) == MOST_LINES + 1
    assert lines[-1].text == "and 8 more"


def test_numbers_hold_every_point_and_the_band():
    made = family([0.5, float("nan")], [0.25])
    made.band = Band(*map(np.array, ([1, 3], [1, 2], [0, 1], [2, 3])))
    header, rows = numbers(made, "k")
    assert header == ["k", "curve 0", "curve 1", "mean", "low", "high"]
    assert rows[0] == [1, 0.5, 0.25, 1.0, 0.0, 2.0]
    assert [str(cell) for cell in rows[1]] == ["2", "nan", "nan", "nan", "nan", "nan"]
    assert [str(cell) for cell in rows[2]] == ["3", "nan", "nan", "2.0", "1.0", "3.0"]


def test_neighbours_stop_at_the_ends_and_skip_empty_curves():
    made = family([1.0, 2.0, 3.0], [], [5.0, 6.0])
    for choice, move, to in (
        (None, (0, 0), (0, 1.0)),
        ((0, 1.0), (1, 0), (0, 2.0)),
        ((0, 3.0), (1, 0), (0, 3.0)),
        ((0, 1.0), (-1, 0), (0, 1.0)),
        ((0, 3.0), (0, 1), (2, 2.0)),
        ((2, 2.0), (0, 1), (2, 2.0)),
        (("gone", 2.0), (1, 1), (0, 1.0)),
    ):
        made.choice = choice
        assert neighbour(made, *move) == to
    assert neighbour(CurveSet(), 1, 0) is None


def test_in_little_room_the_curve_under_the_mouse_is_told_first_of_all():
    lines = value_lines(
        family(*[[float(i)] for i in range(8)]), 1.0, LIGHT, 2, "k = 1", max_lines=3
    )
    assert [line.value for line in lines] == ["2.0000", "7.0000", "6.0000", ""]
    assert lines[-1].text == "and 5 more"
