"""What a person chooses of a run in the real window, and exports, and what the window then shows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hands import choose_on_curve, pixel, ys
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from waiting import wait_until
from windows import finish, settle

from rankstudio.engine.experiment.plan.toml import load_plan
from rankstudio.engine.experiment.results.model_selection import (
    best_position,
    smallest_position,
)
from rankstudio.engine.export.models import load_model
from rankstudio.ui.export.dialog import ExportDialog
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.selected_model import LIVE, PROBE


def dialog_of(window: MainWindow) -> ExportDialog:
    """Return the export dialog as the window fills it, not modal."""
    return window.export_controller.dialog()


def test_the_rule_field_offers_the_smallest_and_the_run_chooses_what_is_marked(
    window: MainWindow,
) -> None:
    field = window.sections.select.method.form.field("rule")
    assert "smallest" in [value for value, _ in field.parameter.choices]
    window.session.change("editing", rule="smallest")
    assert field.value == "smallest"
    finish(window)
    for fold in (1, 2):
        window.session.show_fold(fold)
        settle(window)
        marked, model = smallest_of(window), window.current.model
        if marked is not None:
            assert model.x_value == marked[0]


@pytest.mark.thorough
@pytest.mark.ability("permutation")
def test_everything_in_the_export_dialog_can_be_written(
    window: MainWindow, tmp_path: Path
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    finish(window)
    wait_until(
        lambda: (
            window.current.test and window.sections.features.inspector.plot.numbers()[1]
        )
    )
    tests = window.sections.contributed.controllers["permutation"].tests
    window.commands["chance"].trigger()
    wait_until(lambda: tests.band is not None and not tests.busy)
    dialog = dialog_of(window)
    for item in dialog._items:
        if item.key in (
            "feature-set",
            *(f"evidence-code.{kind}" for kind in ("sh", "py", "ipynb")),
        ):
            assert item.unavailable
            continue
        assert item.unavailable == "", item.key
        if item.text is not None:
            assert item.text()
        for place, (_, suffix) in enumerate(item.formats):
            writer = item.writers[place] if item.writers else None
            path = tmp_path / f"{item.stem}{suffix}"
            write = writer.write if writer else item.write
            if writer and writer.unavailable:
                assert writer.unavailable.endswith(
                    "supports only trees, but this model is a weighted sum."
                )
                continue
            if writer and writer.begin:
                paths: list[str] = []
                writer.begin(path, paths.append, pytest.fail)
                wait_until(lambda paths=paths: bool(paths))
            else:
                assert write is not None
                write(path)
            assert path.is_dir() or path.stat().st_size > 0
    results = json.loads((tmp_path / "small-results" / "results.json").read_text())
    assert [fold["fold"] for fold in results["folds"]] == [1, 2]
    assert load_plan(tmp_path / "small-plan.toml") == window.session.plan


@pytest.mark.smoke
def test_a_click_on_a_curve_a_row_or_a_cell_inspects_and_confirming_it_chooses(
    ran: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    select, before = ran.sections.select, ran.current.model
    select.curves.picked.emit(1, 5)
    assert ran.current.model is before
    assert select.candidates.accessibleName() == "Candidates at step 5"
    select.curves.confirmed.emit()
    model = ran.current.model
    assert (model.key, model.values, model.x_value) == (1, (1.0,), 5)
    assert select.curves.slider.value() == 1.0
    select.heat.plot.picked.emit(2, 2)
    assert ran.current.model is model
    select.heat.plot.confirmed.emit()
    assert (ran.current.model.key, ran.current.model.x_value) == (2, 3)
    ran.sections.features.features.picked.emit(6)
    assert ran.current.model.x_value == 3
    ran.sections.features.features.confirmed.emit()
    assert ran.current.model.x_value == 6
    ran.commands["undo"].trigger()
    ran.commands["undo"].trigger()
    assert (ran.current.model.key, ran.current.model.x_value) == (1, 5)
    ran.commands["redo"].trigger()
    assert (ran.current.model.key, ran.current.model.x_value) == (2, 3)
    ran.commands["best"].trigger()
    record = ran.runs.shown
    assert ran.current.model.step is record.folds[2].chosen.step


def smallest_of(window: MainWindow) -> tuple[int, int, float] | None:
    """Return the k and the best k of the shown path's smallest model by the engine, and its p; or None."""
    model = window.current.model
    place, best = (
        smallest_position(model.plan, model.path),
        best_position(model.plan, model.path),
    )
    assert place is not None
    assert best is not None
    k, best_k = int(model.path.sizes[place]), int(model.path.sizes[best])
    return (
        None if k == best_k else (k, best_k, float(model.path.p_values["MAP"][place]))
    )


def test_one_click_chooses_the_smallest_model_that_is_not_significantly_worse(
    ran: MainWindow,
) -> None:
    curves = ran.sections.select.curves
    found = {}
    for fold in (1, 2):
        ran.session.show_fold(fold)
        settle(ran)
        found[fold] = smallest_of(ran)
        assert curves.smallest_button.isHidden() == (found[fold] is None)
    fold, marked = next((fold, one) for fold, one in found.items() if one is not None)
    k, best, p = marked
    ran.session.show_fold(fold)
    settle(ran)
    plot = curves.validation_plot
    assert (plot.family.smallest.x, plot.family.smallest.p) == (k, p)
    assert plot.family.smallest.difference < 0
    assert f"k = {k}" in plot.summary()
    assert [mark.x for mark in plot.figure().marks] == [best, k]
    plot.hover(pixel(plot, plot.family.smallest.key, k))
    assert f"p = {p:.2g}" in " ".join(line.value for line in plot.box.lines())
    plot.hover(None)
    assert f"k = {k}" in curves.smallest_button.text()
    QTest.mouseClick(curves.smallest_button, Qt.MouseButton.LeftButton)
    assert ran.current.model.x_value == k
    assert curves.validation_plot.family.choice == (plot.family.smallest.key, k)
    assert f"k = {best}" in curves.smallest_button.text()
    QTest.mouseClick(curves.smallest_button, Qt.MouseButton.LeftButton)
    assert ran.current.model.x_value == best
    ran.session.show_fold(None)
    assert curves.smallest_button.isHidden()
    assert plot.family.smallest is None


@pytest.mark.smoke
def test_the_slider_computes_the_whole_path_for_values_between_the_grids(
    ran: MainWindow,
) -> None:
    choose_on_curve(ran, 0, 2)
    values = ran.sections.select.curves.slider.values()
    for value in (2.0**0.25, 2.0**0.5, 2.0**0.75):
        ran.sections.select.curves.slider._slider.setValue(values.index(value))
    wait_until(lambda: ran.current.shown.inspection is not None)
    wait_until(lambda: ran.current.shown.inspection.values == (2.0**0.75,))
    model = ran.current.shown.inspection
    assert (model.key, model.x_value) == (PROBE, 2)
    np.testing.assert_array_equal(ys(ran, PROBE), model.path.validation["MAP"])
    before = ran.session.choice
    assert (before.values, before.x_value) == ((0.25,), 2)  # to look is not to choose
    slider = ran.sections.select.curves.slider
    assert slider.value() == 2.0**0.75
    ran.current.choose_inspected()
    wait_until(lambda: ran.current.model is not None and ran.current.model.key == LIVE)
    assert ran.session.choice.values == (2.0**0.75,)
    np.testing.assert_array_equal(ys(ran, LIVE), model.path.validation["MAP"])
    slider._slider.setValue(values.index(2.0**0.25))
    # beside a chosen path of no run
    wait_until(lambda: ran.current.shown.inspection is not None)
    assert ran.current.model.values == (2.0**0.75,)
    np.testing.assert_array_equal(ys(ran, LIVE), model.path.validation["MAP"])
    slider._slider.setValue(values.index(4.0))
    assert ran.current.shown.inspection.key == 2  # on the grid: the run's own path
    assert PROBE not in ran.sections.select.curves.validation_plot.family.curves
    ran.commands["undo"].trigger()
    assert ran.session.choice == before
    settle(ran)


@pytest.mark.smoke
def test_pinning_and_banning_recompute_the_path_and_can_be_undone(
    ran: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    ran.session.show_fold(1)
    before = ran.current.model
    assert before is not None
    order = [row.feature_id for row in ran.sections.features.features.table.rows()]
    ran.sections.features.inspect(order[-1])
    ran.commands["pin"].trigger()
    assert ran.sections.select.method.form.values()["pinned"] == (order[-1],)
    wait_until(lambda: ran.current.model is not None and ran.current.model.key == LIVE)
    rows = ran.sections.features.features.table.rows()
    assert rows[0].feature_id == order[-1]
    assert rows[0].pinned
    ran.session.show_fold(2)
    assert ran.current.model is None  # the path that is there is of another fold
    ran.session.show_fold(1)
    wait_until(lambda: ran.current.model is not None)
    ran.sections.features.features.toggled.emit("banned", order[0])
    wait_until(lambda: ran.sections.features.features.table.rows()[-1].banned)
    assert ran.sections.features.features.table.rows()[-1].feature_id == order[0]
    assert ran.session.plan.parameters["banned"] == (order[0],)
    ran.commands["undo"].trigger()
    ran.commands["undo"].trigger()
    assert ran.session.plan.parameters["pinned"] == ()
    assert ran.sections.select.method.form.values()["banned"] == ()
    assert ran.current.model.step is before.step
    assert [
        row.feature_id for row in ran.sections.features.features.table.rows()
    ] == order
    settle(ran)


def test_an_edit_of_the_form_is_the_plan_and_can_be_undone(ran: MainWindow) -> None:
    editor = ran.sections.select.method.form.field("regularization").editor
    assert isinstance(editor, QLineEdit)
    before = ran.session.plan
    editor.setFocus()
    editor.selectAll()
    QTest.keyClicks(editor, "2^0..2^3")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert ran.session.plan.parameters["regularization"] == (1.0, 2.0, 4.0, 8.0)
    ran.commands["undo"].trigger()
    assert ran.session.plan == before
    assert ran.sections.select.method.form.values() == dict(before.parameters)


def test_all_folds_show_means_with_the_band_of_the_choice(ran: MainWindow) -> None:
    ran.session.show_fold(None)
    record = ran.runs.shown
    mean = np.mean([record.paths[fold, 1].validation["MAP"] for fold in (1, 2)], axis=0)
    np.testing.assert_allclose(ys(ran, 1), mean)
    assert ran.current.model is None
    choose_on_curve(ran, 1, 3)
    plot = ran.sections.select.curves.validation_plot
    assert plot.family.band is not None
    assert plot.family.choice == (1, 3)


def test_the_measure_menu_changes_what_is_shown(ran: MainWindow) -> None:
    ran.session.show_fold(1)
    record = ran.runs.shown
    action = next(
        a for a in ran.commands.submenus["measure"].actions() if a.data() == "NDCG@10"
    )
    action.trigger()
    np.testing.assert_array_equal(ys(ran, 0), record.paths[1, 0].validation["NDCG@10"])
    assert ran.toolbar.measure_button.text() == "NDCG@10"
    settle(ran)


@pytest.mark.smoke
def test_the_chosen_model_is_exported_with_the_right_ids(
    ran: MainWindow, tmp_path: Path
) -> None:
    wait_until(lambda: ran.current.test)
    dialog = dialog_of(ran)
    dialog.select("model")
    dialog._path.setText(str(tmp_path / "model.json"))
    dialog.save()
    model, current = load_model(tmp_path / "model.json"), ran.current.model
    test = current.fold.test
    np.testing.assert_allclose(
        model.predict(test.X, test.feature_ids), test.X @ current.step.coef
    )
    assert model.origin["test"] == pytest.approx(ran.current.test)


@pytest.mark.ability("exports")
@pytest.mark.parametrize(("form", "ending"), [("RankLib", "."), ("SQL", " queries.")])
def test_a_model_for_another_program_is_read_back_and_ranked_with(
    ran: MainWindow, tmp_path: Path, form: str, ending: str
) -> None:
    wait_until(lambda: ran.current.model)
    dialog = dialog_of(ran)
    dialog.select("model-formats")
    labels = [label for label, _ in dialog.current.formats]
    dialog._format.setCurrentIndex(labels.index(form))
    dialog._format.activated.emit(labels.index(form))
    dialog._path.setText(str(tmp_path / f"model{dialog._format.currentData()}"))
    dialog.save()
    wait_until(lambda: "Identical ranking on " in dialog.message.text())
    assert dialog.message.text().endswith(ending)
    test = ran.current.model.fold.test
    assert f"on {test.n_queries} of {test.n_queries} queries" in dialog.message.text()
    dialog.done(0)


def test_the_run_is_copied_as_a_command(ran: MainWindow) -> None:
    ran.commands["copy_command"].trigger()
    text = QGuiApplication.clipboard().text()
    assert text.startswith("rankstudio run --data ")
    assert "--lambda '2^-2, 2^0, 2^2'" in text
