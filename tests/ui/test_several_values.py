"""Several values of any parameter in the real window: opened, typed, run, looked at, taken home."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hands import pick, type_into, write
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox
from waiting import wait_until
from windows import N_STEPS, Opened, finish, settle
from wording import naming

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan, save_plan
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.model.selected_model import PROBE

prepare = settle

SIZES = {
    "regularization": (1.0, 4.0),
    "n_features_to_select": (2, None),
    "search": ("forward", "floating"),
}


def test_a_plan_with_lists_is_opened_run_and_looked_at(
    opened: Opened, tmp_path: Path, folds: Path
) -> None:
    save_plan(Plan(str(folds), parameters=SIZES), tmp_path / "lists.toml")
    with opened() as window:
        window.open_path(str(tmp_path / "lists.toml"))
        wait_until(lambda: window.session.dataset is not None)
        form = window.sections.select.method.form
        assert form.field("n_features_to_select").editor.text() == "2, all"
        assert form.field("search").editor.currentText() == "forward, floating"
        finish(window)
        record = window.runs.shown
        assert record.state is RunState.DONE
        assert len(record.combinations) == 8
        curves, heat = window.sections.select.curves, window.sections.select.heat.plot
        assert curves.label(0) == "λ = 2⁰ · features k = 2 · search = forward"
        assert heat.row_labels[-1] == "2² · all · floating"
        longest = max(len(path.steps) for path in record.paths.values())
        assert longest == N_STEPS
        for setting, (_, size, _) in enumerate(record.combinations):
            window.session.show_fold(1)
            window.session.select(record.combinations[setting], None)
            model = window.current.model
            assert (model.key, len(model.path.steps)) == (setting, size or N_STEPS)
        settle(window)


def test_the_slider_moves_the_grid_and_leaves_the_other_values(ran: MainWindow) -> None:
    ranker = {"ranker": "rankrls", "ranker_parameters": {"regularization": (1.0, 4.0)}}
    ran.session.change(
        "editing", method="l1-path", parameters={"scaling": ["none", "unit"]}, **ranker
    )
    finish(ran)
    ran.session.show_fold(1)
    ran.session.select(("unit", 4.0), 3)
    slider = ran.sections.select.curves.slider
    assert (slider.isEnabled(), slider.value()) == (True, 4.0)
    slider._slider.setValue(slider.values().index(1.0))
    assert ran.current.inspected_values == ("unit", 1.0)
    # between the grid's values, where no run has a path
    slider._slider.setValue(slider._slider.value() + 1)
    settle(ran)
    assert ran.current.shown.inspection.key == PROBE
    assert ran.current.values == ("unit", 4.0)
    assert ran.current.inspected_values[0] == "unit"
    np.testing.assert_allclose(ran.current.inspected_values[1], 2**0.25)


@pytest.mark.thorough
def test_without_a_grid_the_slider_rests(ran: MainWindow) -> None:
    ran.session.change("editing", method="rankboost", parameters={"n_rounds": [5, 9]})
    assert not ran.sections.select.curves.slider.isEnabled()
    finish(ran)
    record = ran.runs.shown
    assert {len(path.steps) for path in record.paths.values()} == {5, 9}
    assert ran.sections.select.curves.label(1) == "rounds = 9"
    assert (
        "one curve per rounds, 5 dark … 9 bright"
        in ran.sections.select.curves._below.text()
    )
    ran.session.select((9,), 7)
    settle(ran)
    assert ran.current.model.x_value == 7
    # The run is shown with its own axis, whatever the form says by now.
    ran.session.change("editing", parameters={"n_rounds": 9})
    assert ran.current.values == (9,)
    ran.session.change("editing", parameters={"n_rounds": [3, 4]})
    assert ran.current.values == (9,)
    assert ran.current.shown.record is record
    settle(ran)


def test_several_values_are_typed_shown_and_taken_back(
    ran: MainWindow, tmp_path: Path
) -> None:
    form = ran.sections.select.method.form
    size = form.field("n_features_to_select")
    type_into(size, "2..4, all")
    assert ran.session.plan.parameters["n_features_to_select"] == (2, 3, 4, None)
    assert size.editor.text() == "2, 3, 4, all"
    assert "Separate several values by commas" in size.editor.toolTip()
    type_into(size, "2, 2")
    assert naming("2 value").search(size.error.text())
    size.reset_button.click()
    assert ran.session.plan.parameters["n_features_to_select"] is None
    pins = form.field("pinned")
    type_into(pins, "1, 2 | 3")
    assert ran.session.plan.parameters["pinned"] == ((1, 2), (3,))
    assert pins.editor.placeholderText() == "1, 2 | 3"
    ran.session.toggle("pinned", 5)
    assert ran.session.plan.parameters["pinned"] == ((1, 2), (3,))
    type_into(pins, "4")
    assert ran.session.plan.parameters["pinned"] == (4,)
    ran.session.change("editing", parameters={"search": ["floating", "forward"]})
    search = form.field("search")
    assert (search.editor.currentText(), search.editor.count()) == (
        "floating, forward",
        6,
    )
    assert not search.reset_button.isHidden()
    pick(form, "search", "floating")
    assert (search.editor.count(), ran.session.plan.parameters["search"]) == (
        5,
        "floating",
    )
    ran.session.undo.undo()
    assert ran.session.plan.parameters["search"] == ("floating", "forward")
    search.editor.activated.emit(search.editor.currentIndex())
    assert ran.session.plan.parameters["search"] == ("floating", "forward")
    save_plan(ran.session.plan, tmp_path / "plan.toml")
    assert load_plan(tmp_path / "plan.toml") == ran.session.plan


def test_several_choices_are_ticked(ran: MainWindow) -> None:
    form = ran.sections.select.method.form
    search = form.field("search")
    pick(form, "search", "select several")
    menu = search.menu()
    assert menu.isVisible()
    assert (search.editor.currentText(), search.value) == ("forward", "forward")
    boxes = {box.text(): box for box in menu.findChildren(QCheckBox)}
    assert {text: box.isChecked() for text, box in boxes.items()} == {
        "forward": True,
        "floating": False,
        "swap": False,
        "best sets": False,
    }
    boxes["floating"].click()
    assert search.value == "forward"  # not before the boxes are left
    menu.close()
    assert ran.session.plan.parameters["search"] == ("forward", "floating")
    assert search.editor.currentText() == "forward, floating"
    pick(form, "search", "select several")
    for box in boxes.values():
        box.setChecked(False)
    menu.close()  # nothing ticked is no answer
    assert ran.session.plan.parameters["search"] == ("forward", "floating")
    pick(form, "search", "select several")
    boxes["forward"].click()
    menu.close()
    assert ran.session.plan.parameters["search"] == "floating"


def test_measures_and_switches_show_several_values(ran: MainWindow) -> None:
    ran.session.change(
        "editing", method="single-feature", parameters={"measure": ["MAP", "P@5"]}
    )
    measure = ran.sections.select.method.form.field("measure")
    assert measure.editor.currentText() == "MAP, P@5"
    write(measure, "map, ndcg@3")
    assert ran.session.plan.parameters["measure"] == ("MAP", "NDCG@3")
    ran.session.change(
        "editing", method="fsmrank", parameters={"project": [False, True]}
    )
    switch = ran.sections.select.method.form.field("project").editor
    assert (switch.checkState(), switch.text()) == (
        Qt.CheckState.PartiallyChecked,
        "both",
    )
    switch.click()
    assert ran.session.plan.parameters["project"] is True
    assert (switch.isTristate(), switch.text()) == (False, "")


def test_there_is_no_slider_where_its_value_is_the_only_one(ran: MainWindow) -> None:
    slider = ran.sections.select.curves.slider
    ran.session.change(
        "editing",
        method="fsmrank-top",
        parameters={"lambda1": (0.1,), "lambda2": (1e-4,)},
    )
    assert not ran.session.plan.live
    assert slider.isHidden()
    ran.session.change(
        "editing", parameters={"lambda1": (0.1, 1.0), "lambda2": (1e-4,)}
    )
    assert not slider.isHidden()


@pytest.mark.thorough
def test_swaps_and_best_sets_are_chosen_in_the_form(ran: MainWindow) -> None:
    form, errors = ran.sections.select.method.form, []
    for search in ("swap", "best"):
        pick(form, "search", search)
        type_into(form.field("n_features_to_select"), "3")
        assert ran.session.plan.parameters["search"] == search
        finish(ran)
        record = ran.runs.shown
        assert record.state is RunState.DONE
        errors.append([path.criterion[-1] for path in record.paths.values()])
    swapped, best = np.array(errors)
    assert (best <= swapped * (1 + 1e-12)).all()
