"""Curves: what is picked, said and drawn, how it is zoomed, the level and the names beside them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hands import pixel, send
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from rankstudio.ui.plots import CurvesPlot, plot_writer
from rankstudio.ui.plots.curves.curve_layers import _free_room, _smallest_room, extremes
from rankstudio.ui.plots.curves.curve_set import SmallestMark
from rankstudio.ui.style.colors import DARK, LIGHT

KS = np.arange(1, 47)


@pytest.fixture
def plot(theme, stage):
    made = CurvesPlot(theme, "validation MAP")
    stage(made, 480, 300)
    made.set_family(range(3), ["λ = 2⁰", "λ = 2¹", "λ = 2²"], (1, 46))
    for key in range(3):
        made.set_curve(key, KS, 0.4 + 0.05 * key + 0.0005 * KS)
    made.flush()
    return made


@pytest.fixture
def picks(plot):
    told = []
    plot.picked.connect(lambda key, x: told.append((key, x)))
    return told


def test_a_plot_that_is_shown_has_in_its_first_picture_what_was_set_before(theme, app):
    made = CurvesPlot(theme, "validation MAP")
    made.set_family(range(1), ["λ = 2⁰"], (1, 46))
    made.flush()
    made.set_curve(0, KS, 0.4 + 0.0005 * KS)
    before = made.ranges()
    made.show()
    low, high = made.ranges()[1]
    assert made.ranges() != before and low > 0.3 and high < 0.5
    made.hide()


def test_a_click_picks_the_nearest_point_of_any_curve(plot, picks):
    for key, k in ((0, 1), (1, 17), (2, 46)):
        at = pixel(plot, key, k) + QPointF(2, -3)
        QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert picks == [(0, 1), (1, 17), (2, 46)]
    assert all(isinstance(k, int) for _, k in picks)


def test_a_click_beside_the_plot_area_picks_nothing(plot, picks):
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, 297))
    assert picks == []


def test_a_pick_marks_nothing_by_itself(plot, picks):
    QTest.mouseClick(
        plot.viewport(), Qt.MouseButton.LeftButton, pos=pixel(plot, 1, 5).toPoint()
    )
    assert picks and plot.family.choice is None


def test_the_keys_move_the_choice(plot, picks):
    plot.picked.connect(plot.select)
    plot.select(1, 10)
    for key in (
        Qt.Key.Key_Right,
        Qt.Key.Key_Up,
        Qt.Key.Key_Left,
        Qt.Key.Key_Down,
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
    ):
        QTest.keyClick(plot, key)
    assert picks == [(1, 11), (2, 11), (2, 10), (1, 10), (1, 1), (1, 46)]


def test_other_keys_are_left_to_the_window(plot, picks):
    QTest.keyClick(plot, Qt.Key.Key_F5)
    assert picks == []


def test_the_box_lists_exact_values_at_the_mouse_s_k(plot):
    hovered = []
    plot.hovered.connect(hovered.append)
    plot.select(1, 4)
    plot.hover(pixel(plot, 0, 20))
    texts = [(line.text, line.value) for line in plot.box.lines()]
    assert texts == [
        ("k = 20 · λ = 2⁰", "0.4100"),
        ("λ = 2¹", "0.4600"),
        ("λ = 2²", "0.5100"),
    ]
    plot.hover(pixel(plot, 0, 20) + QPointF(1, 0))
    plot.hover(None)
    assert hovered == [20.0, None]
    assert plot.box.isHidden()


def test_the_box_never_leaves_the_plot(plot):
    for key in range(3):
        for k in (1, 2, 23, 45, 46):
            plot.hover(pixel(plot, key, k))
            assert plot.rect().contains(plot.box.geometry())


def test_a_linked_plot_shows_the_crosshair_and_the_chosen_value_only(plot):
    plot.select(2, 4)
    plot.set_cursor(30.0)
    assert plot.cursor == 30.0
    assert [line.text for line in plot.box.lines()] == ["k = 30 · λ = 2²"]
    plot.set_cursor(None)
    assert plot.box.lines() == ()


def test_the_note_stands_beside_the_chosen_point_while_the_mouse_is_away(plot):
    plot.select(1, 4, ("k = 4 · chosen", "one-SE rule: k = 2"))
    plot.flush()
    assert [line.text for line in plot.box.lines()] == [
        "k = 4 · chosen",
        "one-SE rule: k = 2",
    ]
    assert plot.box.lines()[0].bold
    plot.hover(pixel(plot, 0, 20))
    assert plot.box.lines()[0].text == "k = 20 · λ = 2⁰"
    plot.hover(None)
    assert plot.box.lines()[0].text == "k = 4 · chosen"
    plot.select(None)
    plot.flush()
    assert plot.box.isHidden()


def test_many_points_cost_one_redraw(plot, monkeypatch):
    count = []
    monkeypatch.setattr(plot, "refresh", lambda: count.append(1))
    for k in range(1000):
        plot.append(0, 46 + k, 0.5)
    assert count == []
    plot.flush()
    assert count == [1]


def test_points_come_to_the_screen_by_themselves(plot):
    plot.clear()
    plot.flush()
    assert plot.is_empty()
    for k in range(1, 8):
        plot.append(1, k, 0.9 + k / 100)
    deadline = time.monotonic() + 2
    while plot.ranges()[1][1] < 0.9 and time.monotonic() < deadline:
        QApplication.processEvents()
    assert plot.ranges()[1][1] > 0.97
    assert plot.ranges()[0] == (1, 46)


def shows(plot, color, tolerance=12):
    image = plot.grab().toImage()
    want = QColor(color)
    for x in range(0, image.width()):
        for y in range(0, image.height()):
            c = image.pixelColor(x, y)
            if (
                max(
                    abs(a - b)
                    for a, b in zip(c.getRgb()[:3], want.getRgb()[:3], strict=True)
                )
                <= tolerance
            ):
                return True
    return False


def test_nan_is_a_gap_and_a_lone_point_is_a_dot(plot, theme):
    plot.set_family([0], ["one"], (1, 46))
    ys = np.full(46, np.nan)
    ys[:10], ys[30] = 0.5, 0.51
    plot.set_curve(0, KS, ys)
    plot.flush()
    frame, image = plot.frame(), plot.grab().toImage()
    ground = QColor(LIGHT.panel)

    def inked(k, y):
        at = frame.point(k, y).toPoint()
        near = [
            image.pixelColor(at.x() + dx, at.y() + dy)
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
        ]
        return sum(c != ground for c in near) > 2

    assert inked(5, 0.5)
    assert not inked(20.5, 0.505)
    assert inked(31, 0.51)


def test_the_theme_changes_every_colour(plot, theme):
    plot.select(1, 4)
    plot.flush()
    assert shows(plot, LIGHT.panel, 0) and shows(plot, LIGHT.accent)
    theme.set_mode("dark")
    assert shows(plot, DARK.panel, 0) and shows(plot, DARK.accent)
    assert not shows(plot, LIGHT.panel, 0) and not shows(plot, LIGHT.accent, 4)


def test_a_screen_reader_hears_the_choice(plot):
    plot.select(2, 4, ("k = 4 · λ = 2² · chosen",))
    assert plot.accessibleName() == "validation MAP"
    plot.flush()
    assert plot.accessibleDescription().startswith("validation MAP, best ")
    assert plot.accessibleDescription().endswith("chosen: 0.5020 at k = 4, λ = 2²")


def test_a_new_family_leaves_nothing_of_the_old(plot):
    plot.select(2, 4, ("note",))
    plot.set_band(KS, KS / 100, KS / 110, KS / 90)
    plot.hover(pixel(plot, 2, 9))
    plot.set_family(["a"], ["A"])
    plot.flush()
    assert (
        plot.is_empty()
        and plot.family.choice is None
        and plot.family.band is None
        and plot.box.isHidden()
    )
    assert plot.numbers() == (["k", "A"], [])
    plot.set_curve("a", [3], [0.5])
    plot.flush()
    assert plot.ranges()[0] == (2.5, 3.5)


def test_the_band_is_part_of_the_picture_the_numbers_and_the_box(plot):
    plot.set_band(KS, 0.44 + 0 * KS, 0.42 + 0 * KS, 0.60 + 0 * KS)
    plot.flush()
    assert plot.ranges()[1][1] > 0.6
    plot.hover(pixel(plot, 0, 3))
    assert [(line.text, line.value) for line in plot.box.lines()[-2:]] == [
        ("mean", "0.4400"),
        ("interval", "0.4200 – 0.6000"),
    ]
    assert plot.numbers()[1][0][-3:] == [0.44, 0.42, 0.6]


def test_a_band_without_values_is_not_drawn(plot):
    """A measure that no fold has, beside curves that have it: drawing would be an exception in the window."""
    plot.flush()
    before = plot.grab().toImage()
    plot.set_band(KS, *(np.full(KS.size, np.nan),) * 3)
    plot.flush()
    assert plot.grab().toImage() == before


def test_an_empty_plot_says_what_will_be_here(theme, stage):
    plot = CurvesPlot(theme, "validation MAP")
    stage(plot, 300, 200)
    blank = plot.grab().toImage()
    plot.placeholder = "Curves grow here while a run works."
    plot.redraw()
    assert plot.grab().toImage() != blank


def test_the_focus_ring_is_for_the_keyboard(plot):
    for reason, ring in (
        (Qt.FocusReason.TabFocusReason, True),
        (Qt.FocusReason.MouseFocusReason, False),
    ):
        plot.clearFocus()
        plot.activateWindow()
        plot.setFocus(reason)
        QApplication.processEvents()
        assert plot.hasFocus()
        assert plot._focus_shown == ring


def test_a_frame_of_eleven_curves_is_light(theme, stage):
    plot = CurvesPlot(theme, "validation MAP")
    stage(plot, 380, 240)
    plot.set_family(range(11), [str(i) for i in range(11)], (1, 46))
    for key in range(11):
        plot.set_curve(key, KS, np.sin(KS / 7 + key))
    plot.select(6, 4)
    times = []
    for _ in range(15):
        start = time.thread_time()  # what others do meanwhile does not count
        plot.flush()
        plot.viewport().repaint()
        times.append(time.thread_time() - start)
    # 2 ms were measured; the bound has room for a slow machine, not for a redraw per curve.
    assert min(times) < 0.015


def test_of_thousands_of_points_each_pixel_column_shows_its_extremes():
    rng = np.random.default_rng(1)
    px, py = np.linspace(20.0, 320.0, 5000), rng.random(5000)
    xs, ys = extremes(px, py, 1.0)
    assert xs.size <= 4 * 301
    columns, shown = np.floor(px), np.floor(xs)
    for column in np.unique(columns):
        own, drawn = py[columns == column], ys[shown == column]
        assert (drawn.min(), drawn.max()) == (own.min(), own.max())
        assert (drawn[0], drawn[-1]) == (own[0], own[-1])
    assert extremes(px, py, 10.0) is None, "on paper there is room for them"
    assert extremes(px[:900], np.where(px[:900] < 30, np.nan, py[:900]), 1.0) is None
    assert extremes(px[:1], py[:1], 1.0) is None


def test_files_that_can_be_magnified_have_every_point(plot, tmp_path):
    plot.set_family([0], ["λ = 1"], (1, 3000))
    plot.set_curve(0, range(1, 3001), 0.4 + 0.1 * np.sin(np.arange(3000)))
    plot.flush()
    plot_writer(plot, tmp_path / "all.svg")()
    paths = (tmp_path / "all.svg").read_text().split("<path")
    assert max(path.count("\nL ") for path in paths) >= 2999


def test_the_chosen_curve_is_bold_in_a_figure(plot):
    plot.select(2, 30)
    plot.flush()
    assert [one.bold for one in plot.figure().series if one.order is not None].count(
        True
    ) == 1
    chosen = next(one for one in plot.figure().series if one.bold)
    assert chosen.label == plot.family[2].label


def test_the_box_of_a_linked_plot_follows_another_choice(plot):
    plot.select(2, 30)
    plot.set_cursor(30.0)
    plot.select(0, 30)
    plot.flush()
    assert [line.text for line in plot.box.lines()] == ["k = 30 · λ = 2⁰"]


def test_the_box_under_the_mouse_follows_another_choice(plot):
    plot.select(2, 30)
    plot.hover(plot.frame().point(30, plot.family[2].value_at(30)))
    assert plot.box.lines()[0].text == "k = 30 · λ = 2²"
    assert plot.box.lines()[1].text == "λ = 2¹"
    plot.select(0, 30)
    plot.flush()
    assert plot.box.lines()[1].text == "λ = 2⁰"


def test_the_box_names_the_point_that_a_click_chooses(plot, picks):
    area = plot.frame().area
    for x in np.linspace(area.left(), area.right(), 9):
        for y in np.linspace(area.top(), area.bottom(), 5):
            plot.hover(QPointF(x, y))
            plot.click(QPointF(x, y))
            key, k = picks[-1]
            first = plot.box.lines()[0]
            assert first.text == f"k = {k} · {plot.family[key].label}"
            assert first.value == f"{plot.family[key].value_at(k):.4f}"


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


def test_a_double_click_on_curves_of_models_chooses_and_beside_them_shows_all_again(
    plot, picks
):
    whole, confirmed = plot.ranges(), []
    plot.confirms = True
    plot.confirmed.connect(lambda: confirmed.append(picks[-1]))
    wheel(plot, pixel(plot, 1, 10), 3)
    at = pixel(plot, 1, 10).toPoint()
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert (picks, confirmed) == ([(1, 10)], [])
    QTest.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert confirmed == [(1, 10)]
    assert plot.ranges() != whole
    QTest.mouseDClick(
        plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(3, plot.height() // 2)
    )
    assert (len(confirmed), plot.ranges()) == (1, whole)


def test_keys_move_from_the_inspected_point_and_enter_confirms_it(plot, picks):
    confirmed = []
    plot.confirms = True
    plot.confirmed.connect(lambda: confirmed.append(True))
    plot.select(1, 10)
    plot.inspect(2, 20, ("k = 20",))
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert picks == [(2, 21)]
    QTest.keyClick(plot, Qt.Key.Key_Return)
    assert confirmed == [True]
    assert "inspected" in plot.summary()
    assert [mark.x for mark in plot.figure().marks] == [10]
    plot.remove_curve(2)
    assert plot.family.inspection is None


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
        send(
            plot,
            QEvent.Type.MouseMove,
            at,
            Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton,
        )
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


def test_values_that_span_decades_get_a_logarithmic_axis_unless_the_user_says_otherwise(
    plot,
):
    assert not plot.axes.log_y
    far_apart(plot)
    assert plot.axes.log_y
    frame = plot.frame()
    heights = [frame.y_px(value) for value in (100.0, 1000.0, 10_000.0)]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2])
    assert frame.y_px(0.0) == pytest.approx(frame.area.bottom())
    assert [text for _, text in plot.axes.y_ticks(frame.y_range, frame.area.height())][
        -1
    ] == "100,000"
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


@pytest.mark.parametrize(
    "beside", [np.full(46, 0.6), np.full(46, 0.1), np.linspace(0.1, 0.6, 46)]
)
@pytest.mark.parametrize("others", [0.12, 0.35, 0.58])
def test_it_is_where_no_curve_is(
    plot: CurvesPlot, beside: np.ndarray, others: float
) -> None:
    for key in range(3):
        plot.set_curve(key, KS, np.full(46, others))
    plot.family.set_beside("other", "left-out queries", KS, beside)
    plot.flush()
    frame = plot.frame()
    room = _free_room(plot.family, frame, 120.0, 14.0)
    assert frame.area.contains(room)
    for curve in plot.family.curves.values():
        px, py = frame.pixels(*curve.arrays())
        columns = np.arange(room.left(), room.right())
        drawn = np.interp(columns, px, py)
        assert not ((drawn > room.top()) & (drawn < room.bottom())).any()


def test_the_name_of_the_smallest_model_covers_no_line_between_points(
    theme, stage
) -> None:
    """Two points far apart: below the first one there is no point, but the line that falls to the second."""
    plot = CurvesPlot(theme, "validation MAP")
    stage(plot, 480, 300)
    plot.set_family([0], ["λ = 1"], (1, 46))
    plot.set_curve(0, [1, 10, 11, 46], [0.1, 0.5, 0.1, 0.9])
    plot.set_smallest(SmallestMark(0, 10, -0.01, 0.4))
    plot.flush()
    frame = plot.frame()
    room = _smallest_room(plot.family, frame)
    assert room is not None
    px, py = frame.pixels(*plot.family[0].arrays())
    drawn = np.interp(np.arange(room.left(), room.right()), px, py)
    assert not ((drawn > room.top()) & (drawn < room.bottom())).any()


def test_it_is_at_the_lower_right_where_there_is_room_everywhere(
    plot: CurvesPlot,
) -> None:
    plot.family.set_beside("other", "left-out queries", [1], [0.9])
    plot.flush()
    area = plot.frame().area
    room = _free_room(plot.family, plot.frame(), 60.0, 14.0)
    assert room.center().x() > area.center().x()


def test_a_lone_point_beside_the_others_is_in_sight_however_far_away_it_is(
    plot: CurvesPlot,
) -> None:
    for key in range(30):
        plot.set_curve(key, [46], [0.52 + key / 3000])
    plot.family.set_beside("other", "left-out queries", [46], [0.1])
    plot.flush()
    frame = plot.frame()
    assert frame.area.top() < frame.y_px(0.1) < frame.area.bottom()


def row_at(plot, y):
    """The row of pixels that a level is drawn on, over the width of the plot area."""
    area, at = plot.frame().area, round(plot.frame().y_px(y))
    image = plot.grab().toImage()
    return [
        image.pixelColor(x, at)
        for x in range(int(area.left()) + 2, int(area.right()) - 2)
    ]


def test_a_level_to_compare_with_is_drawn_from_side_to_side_and_goes(plot):
    before = row_at(plot, 0.48)
    plot.set_reference(0.48, "best single feature: BM25")
    plot.flush()
    with_level = row_at(plot, 0.48)
    differing = [
        i for i, (a, b) in enumerate(zip(before, with_level, strict=True)) if a != b
    ]
    assert len(differing) > 0.2 * len(before), "dotted, and so not every pixel"
    assert min(differing) < 6
    assert max(differing) > len(before) - 7
    plot.set_reference(float("nan"))  # as where no query defines the measure
    plot.flush()
    assert row_at(plot, 0.48) == before


def test_the_box_lists_the_level_to_compare_with(plot):
    plot.set_reference(0.48, "best single feature: BM25")
    plot.hover(plot.frame().point(20, 0.41))
    last = plot.box.lines()[-1]
    assert (last.text, last.value) == ("best single feature: BM25", "0.4800")
    plot.set_reference(None)
    plot.hover(plot.frame().point(21, 0.4105))
    assert [line.text for line in plot.box.lines()] == [
        "k = 21 · λ = 2⁰",
        "λ = 2²",
        "λ = 2¹",
    ]


def test_a_level_is_brought_into_sight_and_is_not_drawn_where_the_user_zoomed_past_it(
    plot,
):
    plot.set_reference(0.8, "far above")
    plot.flush()
    assert plot.ranges()[1][1] > 0.8
    QTest.keyClicks(plot, "++++")
    assert plot.ranges()[1][1] < 0.8
    out_of_sight = plot.grab().toImage()
    plot.family.reference = None
    plot.redraw()
    assert plot.grab().toImage() == out_of_sight


def test_a_level_alone_is_no_curve(plot):
    plot.clear()
    plot.set_reference(0.8, "best single feature")
    plot.flush()
    assert plot.is_empty()
    assert plot.numbers() == (["k", "λ = 2⁰", "λ = 2¹", "λ = 2²"], [])
    blank = plot.grab().toImage()
    plot.set_reference(None)
    plot.flush()
    assert plot.grab().toImage() == blank


def test_aligned_plots_begin_at_the_same_pixel_whatever_their_labels(
    plot, theme, stage
):
    other = CurvesPlot(theme, "error")
    stage(other, plot.width(), plot.height())
    plot.aligned, other.aligned = other, plot
    for values in ([0.2135, 0.2136, 0.2137], [1.0, 2.0, 3.0]):
        other.set_family([0], ["λ"])
        other.set_curve(0, [1, 2, 3], values)
        other.flush()
        assert (
            plot.frame().area.left()
            == other.frame().area.left()
            == other.zoom.geometry().left()
        )
        assert plot.zoom.geometry().left() == plot.frame().area.left()
    together = plot.frame().area.left()
    other.set_curve(0, [1, 2, 3], [0.2135, 0.2136, 0.2137])
    other.flush()
    assert plot.frame().area.left() > together  # four digits
    other.hide()
    assert plot.frame().area.left() == together
