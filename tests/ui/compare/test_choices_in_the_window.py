"""The Compare page in the real window: what a click, a tick or a key does in its views."""

from __future__ import annotations

from math import sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from compare_page import look, paired, press, run_with, three_runs, views
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import turn, wait_until
from windows import settle
from wording import naming

from rankstudio.engine.analysis.tried_models.run_curves import run_curves
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.session import NOTHING_CHOSEN

prepare = three_runs


def test_a_click_on_the_front_chooses_that_model(ran: MainWindow) -> None:
    records = ran.runs.records
    look(ran, "pareto")
    view = views(ran).pareto
    best = max(
        (
            float(np.mean([p.validation["MAP"][k] for p in paths])),
            -int(paths[0].sizes[k]),
        )
        for record in records
        for paths in zip(*(record.folds[f].paths for f in (1, 2)), strict=True)
        for k in range(len(paths[0].steps))
    )
    spots, marks = view.plot.spots, view.plot.marks
    assert (spots[marks.best].y, -spots[marks.best].x) == pytest.approx(best)
    assert marks.rule == "not significantly worse"
    assert marks.levels[-1] == spots[marks.best].y
    enough = [
        i
        for i, level in zip(marks.front, marks.levels, strict=True)
        if spots[i].y >= level
    ]
    assert marks.suggested == enough[0]
    rows = view.table.rows()
    assert [row.model.size for row in rows] == sorted(row.model.size for row in rows)
    assert [row.note for row in rows][-1].startswith("best")
    position = next(i for i in marks.front if spots[i].category < 2)
    at = view.plot.frame().point(spots[position].x, spots[position].y)
    view.plot.click(at)
    assert ran.runs.shown.key == spots[position].category + 1
    assert (view.plot.chosen, view.plot.inspected) == (None, position), (
        "a click only inspects"
    )
    view.plot.setFocus()
    QTest.keyClick(view.plot, Qt.Key.Key_Return)
    settle(ran)
    model = ran.current.model
    assert (model.x_value, len(model.step.selected)) == (
        spots[position].x,
        spots[position].x,
    )
    assert f"k = {model.x_value}" in spots[position].note
    assert view.plot.chosen == position
    assert view.table.current().position == position
    view.plot.hover(at)
    told = [line.text for line in view.plot.box.lines()]
    assert told[:2] == [spots[position].title, spots[position].note]
    settle(ran)


def test_the_front_of_one_run_has_the_standard_error_of_its_folds(
    window: MainWindow,
) -> None:
    record = run_with(window)
    look(window, "pareto")
    for model in (row.model for row in views(window).pareto._rows):
        setting = record.combination_of(model.values)
        values = [
            record.paths[f, setting].validation["MAP"][model.step - 1] for f in (1, 2)
        ]
        assert (model.mean, model.error) == pytest.approx(
            (mean(values), stdev(values) / sqrt(2))
        )
    assert naming("Greedy RankRLS").search(views(window).pareto.sentence.text())


def test_ticks_say_which_runs_the_front_the_tests_and_the_curves_are_about(
    ran: MainWindow,
) -> None:
    look(ran, "pareto")
    view, table = views(ran).pareto, ran.sections.compare.panel.table
    curves = ran.sections.compare.curves
    assert {spot.category for spot in view.plot.spots} == {0, 1, 2}
    assert [curve.key for curve in curves.plot.curves] == [1, 2, 3]
    shown = ran.runs.shown
    _, second, third = table.rows()
    box = table.visualRect(table.model().index(1, 0)).center()  # below the heading
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=box)
    settle(ran)
    assert ran.runs.shown is shown  # a tick chooses no run
    assert {spot.category + 1 for spot in view.plot.spots} == {second.key, third.key}
    assert {curve.key for curve in curves.plot.curves} == {second.key, third.key}
    table.select(third)
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Space)
    settle(ran)
    assert {spot.category + 1 for spot in view.plot.spots} == {second.key}
    look(ran, "tests")
    assert paired(ran) == []  # nothing is beside it
    QTest.keyClick(table, Qt.Key.Key_Space)
    settle(ran)
    assert {row.key for row in paired(ran)} == {second.key, third.key}


def test_a_click_on_a_curve_shows_that_run_and_inspects_a_size_and_enter_chooses_it(
    ran: MainWindow,
) -> None:
    look(ran, "pareto")
    plot = ran.sections.compare.curves.plot
    plot.flush()
    reference = next(curve for curve in plot.curves if curve.reference)
    others = [curve for curve in plot.curves if not curve.reference]
    assert np.isnan(reference.half).all()
    assert all(
        np.isfinite(curve.half[curve.x >= reference.x[0]]).all() for curve in others
    )
    curve = plot.curves[0]
    # whatever another test chose of it
    ran.runs.record(curve.key).choice = NOTHING_CHOSEN
    plot.picked.emit(0, 2)
    settle(ran)
    assert ran.runs.shown.key == curve.key
    assert ran.session.choice == NOTHING_CHOSEN
    assert ran.current.shown.inspected.x_value == 3
    assert (plot.chosen, plot.inspected) == (None, (0, 2))
    plot.flush()
    assert f"inspected: {curve.label}" in plot.accessibleDescription()
    plot.setFocus()
    QTest.keyClick(plot, Qt.Key.Key_Right)
    settle(ran)
    assert (plot.inspected, ran.current.shown.inspected.x_value) == ((0, 3), 4)
    QTest.keyClick(plot, Qt.Key.Key_Down)
    settle(ran)
    assert (plot.inspected, ran.runs.shown.key) == ((1, 3), plot.curves[1].key)
    assert ran.session.choice == NOTHING_CHOSEN
    QTest.keyClick(plot, Qt.Key.Key_Return)
    settle(ran)
    assert (plot.chosen, plot.inspected, ran.current.model.x_value) == ((1, 3), None, 4)
    plot.flush()
    assert f"chosen: {plot.curves[1].label}" in plot.accessibleDescription()
    number = ran.runs.record(2).combination_of(ran.session.choice.values)
    folds = ran.runs.record(2).result.folds
    wanted = mean(float(fold.paths[number].validation["MAP"][3]) for fold in folds)
    assert plot.curves[1].y[3] == pytest.approx(wanted)
    view = ran.sections.compare.curves
    view.by._group.buttons()[-1].click()
    settle(ran)
    assert [list(one.x) for one in plot.curves] == [
        [r.result.seconds] for r in ran.runs.records
    ]
    assert "seconds" in plot.axes.x_label
    view.by._group.buttons()[0].click()


def test_runs_on_shares_of_the_queries_are_one_curve_whose_points_choose_runs(
    window: MainWindow,
) -> None:
    whole = run_with(window)
    window.session.change("folds", protocol="train 60%")
    settle(window)  # the data are divided anew
    part = run_with(window)
    look(window, "pareto")
    view = window.sections.compare.curves
    press(view.by, "by queries")
    settle(window)
    (curve,) = view.plot.curves
    assert (list(curve.x), curve.key) == ([60.0, 100.0], whole.key)
    for position, record in enumerate((part, whole)):
        view.plot.picked.emit(0, position)
        settle(window)
        assert window.runs.shown.key == record.key
        assert view.plot.inspected == (0, position)


def test_curves_of_the_test_part_are_there_when_it_is_shown_and_choose_nothing(
    window: MainWindow,
) -> None:
    record = run_with(window)
    look(window, "pareto")
    view = window.sections.compare.curves
    assert not window.session.sealed
    chosen = window.session.choice
    press(view.by, "test")
    settle(window)
    (curve,) = view.plot.curves
    assert view.plot.axes.title == "test MAP"
    (expected,) = run_curves([record.result], "MAP", 0, [record.dataset], part="test")
    assert curve.y.tolist() == expected.mean.tolist()
    view.plot.picked.emit(0, 2)
    view.plot.confirmed.emit()
    settle(window)
    assert (window.session.choice, window.session.inspection) == (chosen, None)
    window.commands["seal"].trigger()
    settle(window)
    assert view.by.value() != "test"
    assert view.plot.axes.title == "validation MAP"


def test_tab_goes_from_the_choice_of_the_view_to_what_is_in_it(
    window: MainWindow,
) -> None:
    run_with(window)
    run_with(window)
    window.resize(1440, 900)  # with room for the map of folds
    inside = {
        "tests": ["tests-table"],
        "pareto": ["pareto-plot"],
        "stability": ["stability-map", "stability-table"],
    }
    for key, names in inside.items():
        look(window, key)
        views(window)._choice._group.checkedButton().setFocus()
        seen = []
        for _ in names:
            QTest.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
            at = window.focusWidget()
            seen.append(at.objectName() or at.text())
        assert seen == names
    tools = {
        "tests": "Reference run",
        "stability": "similarity Jaccard",
    }
    for key, name in tools.items():
        look(window, key)
        views(window)._choice._group.checkedButton().setFocus()
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Backtab)
        assert window.focusWidget().accessibleName() == name


def test_the_arrow_keys_walk_along_the_front(ran: MainWindow) -> None:
    look(ran, "pareto")
    plot = views(ran).pareto.plot
    plot.setFocus()
    for _ in plot.spots:
        QTest.keyClick(plot, Qt.Key.Key_Left)
        settle(ran)
    assert plot.marks.front[0] in (plot.inspected, plot.chosen)
    for _ in plot.spots:
        QTest.keyClick(plot, Qt.Key.Key_Right)
        settle(ran)
    assert plot.marks.front[-1] == plot.marks.best
    assert plot.marks.best in (plot.inspected, plot.chosen)
    settle(ran)


def test_in_the_smallest_window_every_view_has_its_place(ran: MainWindow) -> None:
    ran.resize(ran.minimumSize())
    turn(0.02)
    for key in ("stability", "pareto", "folds", "tests", "published"):
        look(ran, key)
        turn(0.02)
        assert ran.size() == ran.minimumSize(), key
        assert ran.workspace.height() >= ran.workspace.minimumSizeHint().height(), key


def test_views_are_walked_by_the_keyboard(window: MainWindow) -> None:
    panel = views(window)
    window.workspace.show_page("compare")
    panel._choice._group.checkedButton().setFocus()
    for key in ("tests", "folds", "published", "published"):
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Right)
        assert panel.key() == key
        assert panel.view().isVisible()
    assert not views(window).tests.reference.isVisible()
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Left)
    settle(window)
    panel._part._group.checkedButton().setFocus()
    for key in ("stability", "stability"):
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Right)
        assert panel.key() == key
    panel._choice._group.button(0).click()
    panel._choice._group.button(2).click()
    assert panel.key() == "stability"  # the part that was looked at


def test_where_nothing_is_known_the_view_says_of_what_numbers_are(
    window: MainWindow,
) -> None:
    run_with(window)
    look(window, "published")
    table = views(window).published.table
    assert table.rows() == []
    assert "MQ2008: " in table.placeholder
    assert "Greedy RankRLS" in table.placeholder


def test_name_status_k_and_the_first_measure_are_in_sight_in_a_small_window(
    ran: MainWindow,
) -> None:
    ran.resize(1024, 700)
    ran.workspace.show_page("compare")
    settle(ran)
    table = ran.sections.compare.panel.table
    assert not table.horizontalScrollBar().maximum()
    keys = [column.key for column in table.rows_model.columns]
    for key in ("key", "method", "status", "k", "MAP"):
        at = keys.index(key)
        assert (
            table.columnViewportPosition(at) + table.columnWidth(at)
            <= table.viewport().width()
        ), key


def test_the_caption_of_the_first_view_is_not_cut(window: MainWindow) -> None:
    window.resize(1280, 760)
    run_with(window)
    look(window, "pareto")
    shown = views(window)._caption
    assert shown.text()
    needed = shown.fontMetrics().horizontalAdvance(shown.text())
    wait_until(lambda: shown.width() >= needed)  # the layout follows the text
