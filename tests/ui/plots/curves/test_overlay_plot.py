"""Curves of runs over each other: what the mouse finds, what is said, and in which colours."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from rankstudio.ui.plots.curves.overlay_plot import (
    OverlaidCurve,
    OverlayPlot,
    shown_names,
)
from rankstudio.ui.style import palettes

NAN = float("nan")


def curve(key, label, x, y, half=NAN, reference=False):
    x, y = np.array(x, dtype=float), np.array(y, dtype=float)
    notes = tuple(f"k = {k:g}" for k in x)
    return OverlaidCurve(
        key, label, x, y, notes, y - 0.5, np.full(x.size, half), reference
    )


CURVES = [
    curve(1, "1 Greedy RankRLS", [1, 2, 3, 4], [0.40, 0.45, 0.5, 0.48], 0.02),
    curve(4, "4 RankSVM", [4], [0.52], 0.01),
    curve(2, "2 GAS", [1, 2, 3, 4], [0.42, 0.44, 0.51, 0.5], reference=True),
]


@pytest.fixture
def plot(theme, stage):
    made = OverlayPlot(theme)
    stage(made, 520, 300)
    made.set_curves(CURVES)
    made.flush()
    return made


def at(plot, number, point):
    one = plot.curves[number]
    return plot.frame().point(float(one.x[point]), float(one.y[point]))


def test_the_mouse_finds_each_point_and_reads_its_values(plot):
    picked = []
    plot.picked.connect(lambda *point: picked.append(point))
    for number, point in ((0, 0), (1, 0), (2, 2)):
        plot.click(at(plot, number, point) + QPointF(1, -1))
    assert picked == [(0, 0), (1, 0), (2, 2)]
    plot.hover(at(plot, 0, 1))
    assert [(line.text, line.value) for line in plot.box.lines()] == [
        ("1 Greedy RankRLS", "0.4500"),
        ("k = 2", ""),
        ("to the reference", "−0.0500"),
        ("95 % interval (paired)", "−0.0700 … −0.0300"),
    ]
    plot.hover(at(plot, 2, 0))
    assert plot.box.lines()[-1].text == "the reference"
    plot.hover(None)
    assert plot.box.lines() == ()


def test_a_run_has_the_colour_of_its_number_and_its_name_above(plot, theme):
    image = plot.grab().toImage()
    spot = at(plot, 1, 0).toPoint()
    wanted = palettes.category(theme.colors, 3).color
    drawn = image.pixelColor(spot)
    assert (
        max(abs(a - b) for a, b in zip(drawn.getRgb(), wanted.getRgb(), strict=True))
        <= 6
    )
    plain = OverlayPlot(theme)
    plain.resize(520, 300)
    assert plot.frame().area.top() > plain.frame().area.top()  # room for the names
    plain.deleteLater()


def test_it_says_in_words_what_is_drawn(plot):
    plot.flush()
    assert "2 GAS: best 0.5100 at 3" in plot.accessibleDescription()
    plot.select((1, 0))
    plot.flush()
    assert plot.accessibleDescription().endswith("chosen: 4 RankSVM, k = 4, 0.5200")


def test_the_numbers_are_those_of_every_point(plot):
    header, rows = plot.numbers()
    assert header[-3:] == ["difference to the reference", "low", "high"]
    assert len(rows) == 9
    assert rows[1][0] == "1 Greedy RankRLS"
    assert rows[1][1:] == pytest.approx([2.0, 0.45, -0.05, -0.07, -0.03])


def test_no_number_of_features_is_told_at_the_axis_that_no_model_has(plot):
    plot.set_curves([curve(1, "1 RankRLS", [1, 8, 136], [0.2, 0.3, 0.4])])
    plot.flush()
    frame = plot.frame()
    ticks = [text for _, text in plot.axes.x_ticks(frame.x_range, frame.area.width())]
    assert (ticks[0], ticks[-1]) == ("1", "136")


@pytest.mark.parametrize("n_curves", [3, 8, 12, 40])
@pytest.mark.parametrize("width", [240.0, 520.0, 900.0])
def test_curves_whose_names_have_no_room_are_counted(plot, n_curves, width):
    plot.set_curves(
        [
            curve(n, f"{n} Greedy RankRLS", [1, 2], [0.4, 0.5])
            for n in range(1, n_curves + 1)
        ]
    )
    named, room, text = shown_names(plot, width)
    assert [one.key for one, _ in named] == list(range(1, len(named) + 1))
    left_out = n_curves - len(named)
    assert bool(text) == bool(left_out)
    if left_out:
        assert f"{left_out}" in text
        assert not any(room.intersects(box) for _, box in named)
        assert room.right() <= width or len(named) == 1


def filled_bands(plot):
    """Return the curves with a band, by what is drawn around them."""
    without = [replace(one, half=np.full(one.x.size, NAN)) for one in plot.curves]
    shown, curves, drawn = [], plot.curves, plot.grab().toImage()
    for number in range(len(curves)):
        plot.curves = tuple(
            without[i] if i == number else one for i, one in enumerate(curves)
        )
        plot.flush()
        if plot.grab().toImage() != drawn:
            shown.append(number)
        plot.curves = curves
    plot.flush()
    return shown


def test_only_the_run_that_is_selected_or_under_the_mouse_has_a_band(plot):
    several = curve(5, "5 L1 path", [1, 2, 3, 4], [0.41, 0.46, 0.47, 0.49], 0.02)
    plot.one_band = True
    plot.set_curves([*CURVES, several])
    plot.flush()
    assert filled_bands(plot) == []
    plot.emphasise(5)
    assert (plot.outstanding(), filled_bands(plot)) == (3, [3])
    plot.hover(at(plot, 0, 1))
    plot.box.hide()
    assert plot.outstanding() == 0
    plot.hover(None)
    assert plot.outstanding() == 3
    plot.emphasise(99)  # a run without a curve
    assert plot.outstanding() is None


def test_the_band_of_the_only_curve_is_in_sight(plot):
    half = np.array([0.05, NAN, 0.02, 0.01])
    only = replace(
        curve(5, "5 L1 path", [1, 2, 3, 4], [0.41, 0.46, 0.47, 0.49], 0.02), half=half
    )
    plot.set_curves([only])
    low, high = plot.spans()[1]
    assert low <= 0.41 - 0.05
    assert high >= 0.49 + 0.01


def test_names_stand_at_the_ends_where_there_is_room(plot):
    plot.names_at_ends = True
    plot.flush()
    frame = plot.frame()
    assert frame.outer.right() - frame.area.right() > 60
    assert (
        frame.area.top()
        < plot.axes.frame(plot.size().toSizeF(), (0, 1), (0, 1)).area.top() + 1
    )
    plot.grab()
    plot.resize(520, 90)  # no room for three names below each other
    frame = plot.frame()
    assert frame.outer.right() - frame.area.right() < 60


@pytest.mark.parametrize(
    ("higher_is_better", "best"), [(True, (1, 0)), (False, (0, 0)), (None, None)]
)
def test_the_box_names_the_best_point_and_covers_neither(plot, higher_is_better, best):
    plot.higher_is_better = higher_is_better
    assert plot.best_point() == best
    for point in range(4):
        where = at(plot, 0, point)
        plot.hover(where)
        texts = [line.text for line in plot.box.lines()]
        assert any(text.startswith("best") for text in texts) is (
            best not in (None, (0, point))
        )
        covered = plot.box.geometry()
        assert not covered.contains(where.toPoint())
        if best is not None:
            assert not covered.contains(at(plot, *best).toPoint())
