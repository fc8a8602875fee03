"""To look is not to choose: a click inspects; double click, Enter or a button chooses; a chip leads back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hands import click, click_row, double_click, pixel, press
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from waiting import wait_until
from windows import finish, pages_present, settle

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import NOTHING_CHOSEN, Choice
from rankstudio.ui.page.model_chips import model_words
from rankstudio.ui.select.curves_panel import MAP


def choose_button(window: MainWindow, panel: str) -> QPushButton:
    """Return the button at the header of a panel."""
    button = window.findChild(QPushButton, f"{panel}-choose")
    assert isinstance(button, QPushButton)
    return button


def run_again(window: MainWindow) -> RunRecord:
    """Run the plan of the form, and show what came of it."""
    finish(window)
    record = window.runs.records[-1]
    window.sections.compare.panel.selected.emit(record.key)
    settle(window)
    return record


def used(window: MainWindow) -> tuple[object, ...]:
    """Return what depends on the chosen model alone."""
    model = window.current.model
    line = window.toolbar.line
    return (
        window.session.choice,
        model.step,
        line.text("parameters"),
        line.text("size"),
        *(
            window.sections.find(page).evidence.storage_place()
            for page in pages_present(window, "evidence")
        ),
        dict(window.current.test),
        window.session.undo.index(),
        window.chips.choice.text(),
    )


@pytest.fixture
def looked(ran: MainWindow) -> MainWindow:
    """A window on the first fold of a run, at rest."""
    ran.session.show_fold(1)
    settle(ran)
    wait_until(lambda: bool(ran.current.test))
    return ran


def test_a_click_on_a_row_inspects_and_the_button_chooses(looked: MainWindow) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    path, before = looked.sections.features.features, used(looked)
    size = looked.current.model.x_value
    k = 2 if size != 2 else 3
    button = choose_button(looked, "features-panel")
    assert button.isHidden()
    click_row(path.table, k - 1)
    settle(looked)
    assert used(looked) == before
    assert looked.session.inspection == Choice(looked.current.model.values, k)
    assert (path.table.current().rank, looked.current.shown.inspected.x_value) == (k, k)
    assert sum(row.chosen for row in path.table.rows()) == k
    assert [row.rank for row in path.table.rows() if row.is_choice] == [size]
    plot = looked.sections.select.curves.validation_plot
    assert (plot.family.choice[1], plot.family.inspection[1]) == (size, k)
    assert str(k) in looked.sections.select.candidates.accessibleName()
    assert button.isVisible()
    assert f"k = {k}" in button.accessibleName()
    press(button)
    settle(looked)
    assert looked.session.choice == Choice(looked.current.model.values, k)
    assert (looked.session.inspection, looked.current.shown.inspection) == (None, None)
    assert looked.current.model.x_value == k
    assert button.isHidden()
    assert plot.family.inspection is None
    assert not any(row.is_choice for row in path.table.rows())


def test_arrow_keys_inspect_and_enter_chooses(looked: MainWindow) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    path, before = looked.sections.features.features, used(looked)
    click_row(path.table, 0)
    QTest.keyClick(path.table, Qt.Key.Key_Down)
    QTest.keyClick(path.table, Qt.Key.Key_Down)
    settle(looked)
    assert used(looked) == before
    assert looked.current.shown.inspected.x_value == 3
    QTest.keyClick(path.table, Qt.Key.Key_Return)
    settle(looked)
    assert (looked.session.choice.x_value, looked.current.model.x_value) == (3, 3)
    plot = looked.sections.select.curves.criterion_plot
    plot.setFocus()
    QTest.keyClick(plot, Qt.Key.Key_Right)
    settle(looked)
    assert (looked.current.model.x_value, looked.current.shown.inspected.x_value) == (
        3,
        4,
    )
    assert "inspected" in plot.summary()
    QTest.keyClick(plot, Qt.Key.Key_Enter)
    settle(looked)
    assert (looked.current.model.x_value, looked.session.inspection) == (4, None)


def test_a_double_click_on_a_row_chooses(looked: MainWindow) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    path = looked.sections.features.features
    k = 2 if looked.current.model.x_value != 2 else 3
    click_row(path.table, k - 1, twice=True)
    settle(looked)
    assert looked.session.choice.x_value == looked.current.model.x_value == k


def test_a_click_on_a_point_of_another_curve_shows_its_path_and_a_double_click_chooses(
    looked: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    plot, before, model = (
        looked.sections.select.curves.validation_plot,
        used(looked),
        looked.current.model,
    )
    key = next(key for key in (0, 1, 2) if key != model.key)
    path = looked.sections.features.features
    plot.flush()
    at = pixel(plot, *plot.hit_test(pixel(plot, key, 3)))
    key, k = plot.hit_test(at)
    click(plot, at)
    settle(looked)
    assert used(looked) == before
    assert plot.family.inspection == (key, k)
    assert looked.current.shown.inspected.key == key
    ids = looked.session.dataset.feature_ids
    expected = {
        int(ids[column]) for column in looked.current.shown.inspected.step.selected
    }
    assert {row.feature_id for row in path.table.rows() if row.chosen} == expected
    double_click(plot, at)
    settle(looked)
    assert (looked.current.model.key, looked.current.model.x_value) == (key, k)
    assert plot.family.choice == (key, k)
    looked.commands["undo"].trigger()
    settle(looked)
    assert looked.current.model.step is model.step


def test_a_cell_of_the_heat_map_is_inspected_and_chosen_in_the_same_way(
    looked: MainWindow,
) -> None:
    switch = looked.sections.select.curves.view
    values = [value for value, _ in switch.options()]
    press(switch._buttons()[values.index(MAP)])
    settle(looked)
    plot, before = looked.sections.select.heat.plot, used(looked)
    row = next(row for row in (0, 1, 2) if row != looked.current.model.key)
    at = plot.cell_rect(plot.frame(), row, 2).center()
    click(plot, at)
    settle(looked)
    assert used(looked) == before
    assert (plot.chosen[0], plot.inspected_cell) == (looked.current.model.key, (row, 2))
    double_click(plot, at)
    settle(looked)
    assert (looked.current.model.key, looked.current.model.x_value) == (row, 3)
    assert (plot.chosen, plot.inspected_cell) == ((row, 2), None)


def test_a_cell_of_the_candidate_map_is_inspected(looked: MainWindow) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    looked.workspace.show_page("features")
    settle(looked)
    plot, before = looked.sections.features.why.panel.plot, used(looked)
    wait_until(lambda: plot.shown is not None)
    column = 1 if looked.current.model.position != 1 else 2
    at = plot.cell_rect(plot.frame(), 0, column).center()
    click(plot, at)
    settle(looked)
    assert used(looked) == before
    assert looked.current.shown.inspected.x_value == plot.shown.numbers[column]
    assert choose_button(looked, "path-panel").isVisible()
    double_click(plot, at)
    settle(looked)
    assert looked.current.model.x_value == plot.shown.numbers[column]


def test_the_chip_of_a_choice_is_there_on_every_page_and_leads_back(
    looked: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    chip, usual = looked.chips.choice, looked.current.model
    assert chip.isHidden()
    k = 2 if usual.x_value != 2 else 3
    click_row(looked.sections.features.features.table, k - 1, twice=True)
    settle(looked)
    for page in pages_present(
        looked, "select", "features", "evidence", "compare", "queries", "report"
    ):
        looked.workspace.show_page(page)
        settle(looked)
        assert chip.isVisible()
        assert f"k = {k}" in chip.text()
        assert f"k = {usual.x_value}" in chip.links()[0].text()
        assert looked.chips.geometry().right() < looked.menuBar().width()
    press(chip.links()[0])
    settle(looked)
    assert looked.session.choice == NOTHING_CHOSEN
    assert looked.current.model.step is usual.step
    assert chip.isHidden()
    looked.commands["undo"].trigger()
    settle(looked)
    assert chip.isVisible()


def test_an_export_is_of_the_chosen_model_and_its_dialog_leads_back_too(
    looked: MainWindow, tmp_path: Path
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    table, usual = looked.sections.features.features.table, looked.current.model
    k = 2 if usual.x_value != 2 else 3
    click_row(table, k - 1)
    settle(looked)

    def exported(name: str) -> list[int]:
        dialog.select("model")
        dialog._path.setText(str(tmp_path / name))
        press(dialog._save)
        model = json.loads((tmp_path / name).read_text())
        return [feature["id"] for feature in model["features"]]

    def ids(step: object) -> set[int]:
        return {
            int(looked.session.dataset.feature_ids[column]) for column in step.selected
        }

    dialog = looked.export_controller.dialog()
    dialog.show()
    assert dialog.choice.isHidden()
    assert looked.session.inspection is None
    assert sum(row.chosen for row in table.rows()) == usual.x_value
    assert set(exported("usual.json")) == ids(usual.step)
    dialog.close()
    click_row(table, k - 1, twice=True)
    settle(looked)
    dialog = looked.export_controller.dialog()
    dialog.show()
    assert f"k = {k}" in dialog.choice.text()
    assert (
        set(exported("by-hand.json"))
        == ids(looked.current.model.step)
        != ids(usual.step)
    )
    press(dialog.choice.links()[0])
    assert dialog.choice.isHidden()
    assert looked.session.choice == NOTHING_CHOSEN
    assert set(exported("back.json")) == ids(usual.step)
    dialog.close()
    settle(looked)


def test_an_inspection_ends_with_another_run_and_is_not_stored(
    looked: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    record = looked.runs.shown
    click_row(looked.sections.features.features.table, 1)
    assert looked.session.inspection is not None
    other = run_again(looked)
    assert looked.session.inspection is None
    looked.sections.compare.panel.selected.emit(record.key)
    settle(looked)
    assert (record.choice, other.choice) == (NOTHING_CHOSEN, NOTHING_CHOSEN)
    assert looked.session.inspection is None


def test_while_all_folds_are_shown_a_point_is_inspected_and_chosen_too(
    ran: MainWindow,
) -> None:
    ran.session.show_fold(None)
    settle(ran)
    plot = ran.sections.select.curves.validation_plot
    plot.flush()
    at = pixel(plot, 1, 3)
    key, k = plot.hit_test(at)
    click(plot, at)
    settle(ran)
    assert ran.session.choice == NOTHING_CHOSEN
    assert plot.family.inspection == (key, k)
    press(choose_button(ran, "curves-panel"))
    settle(ran)
    assert ran.session.choice == Choice(ran.runs.shown.combinations[key], k)
    assert plot.family.choice == (key, k)
    assert ran.chips.choice.isVisible()


def test_a_point_of_the_pareto_front_is_inspected_and_a_double_click_chooses(
    window: MainWindow,
) -> None:
    first = run_again(window)
    window.workspace.show_page("compare")
    settle(window)
    view = window.sections.compare.views.pareto
    wait_until(lambda: bool(view.plot.spots))
    view.plot.flush()
    front = view.plot.marks.front
    spot = view.plot.spots[front[0]]
    at = view.plot.frame().point(spot.x, spot.y)
    click(view.plot, at)
    settle(window)
    assert window.session.choice == NOTHING_CHOSEN
    assert (view.plot.chosen, view.plot.inspected) == (None, front[0])
    assert view.table.current().position == front[0]
    assert choose_button(window, "results-panel").isVisible()
    window.sections.compare.views.show_view("tests")
    # no model is inspected there
    assert choose_button(window, "results-panel").isHidden()
    window.sections.compare.views.show_view("pareto")
    double_click(view.plot, at)
    settle(window)
    row = view._rows[front[0]]
    assert window.session.choice == Choice(row.model.values, row.model.step)
    assert (view.plot.chosen, view.plot.inspected) == (front[0], None)
    assert window.runs.shown.key == first.key


def test_the_chip_of_the_form_shows_its_settings_or_takes_the_runs(
    looked: MainWindow,
) -> None:
    chip, record = looked.chips.form, looked.runs.shown
    assert chip.isHidden()
    looked.session.change("editing", rule="smallest")
    settle(looked)
    assert chip.isVisible()
    assert record.title in chip.text()
    assert str(record.key) in chip.text()
    assert len(chip.links()) == 1  # no run has these settings
    press(chip.links()[0])
    settle(looked)
    assert looked.session.plan == record.plan
    assert chip.isHidden()
    looked.session.change("editing", rule="smallest")
    settle(looked)
    smallest = run_again(looked)
    assert chip.isHidden()
    looked.sections.compare.panel.selected.emit(record.key)
    settle(looked)
    looked.session.change("editing", rule="smallest")
    settle(looked)
    assert len(chip.links()) == 2  # there is a run with these settings by now
    press(chip.links()[0])
    settle(looked)
    assert looked.runs.shown is smallest


def test_the_menus_of_the_line_inspect_and_the_button_chooses(
    looked: MainWindow,
) -> None:
    line, model = looked.toolbar.line, looked.current.model
    values = next(one for one in looked.runs.shown.combinations if one != model.values)
    line.picked.emit("parameters", values)
    settle(looked)
    assert looked.session.choice == NOTHING_CHOSEN
    assert looked.current.shown.inspection.values == values
    line.picked.emit("size", 1)
    settle(looked)
    assert looked.session.choice == NOTHING_CHOSEN
    assert (
        looked.current.shown.inspection.values,
        looked.current.shown.inspection.x_value,
    ) == (values, 1)
    looked.workspace.show_page("select")
    press(choose_button(looked, "curves-panel"))
    settle(looked)
    assert looked.session.choice == Choice(values, 1)
    assert looked.chips.choice.isVisible()
    line.picked.emit("parameters", None)
    settle(looked)
    assert looked.session.choice == Choice(values, 1)
    assert looked.current.shown.inspection.step is looked.current.by_protocol.step


def test_words_of_a_model_name_its_parameters_where_they_differ(
    looked: MainWindow,
) -> None:
    plan, model = looked.runs.shown.plan, looked.current.model
    other = next(
        values for values in looked.runs.shown.combinations if values != model.values
    )
    same = Choice(model.values, 4)
    assert model_words(plan, Choice(model.values, 7), same) == "k = 7"
    words = model_words(plan, Choice(other, 7), same)
    assert words.endswith("k = 7")
    assert words != "k = 7"
