"""Runs of every method in the real window: what their steps are, and who ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hands import choose_on_curve, pick, type_into
from waiting import wait_until
from windows import finish, settle

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.catalog import method, methods
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.selected_model import PROBE
from rankstudio.ui.shell.pages import PAGES

FSM = {"lambda1": (0.1, 1.0), "lambda2": 1e-4, "max_iter": 9}
SUBSETS = {"n_features_to_select": 2, "measure": "MAP", "patience": 1}
KINDS: dict[str, dict[str, Any]] = {
    "rounds": {"method": "rankboost", "parameters": {"n_rounds": 12}},
    "iterations": {"method": "fsmrank", "parameters": FSM},
    "subsets": {
        "method": "fs-bfs",
        "parameters": {**SUBSETS, "regularization": (1.0, 4.0)},
    },
    "ranked": {
        "method": "gas",
        "ranker": "ranksvm",
        "ranker_parameters": {"C": (0.1, 1.0), "max_iter": 20},
    },
    "ranked by rounds": {
        "method": "fsmrank",
        "parameters": FSM,
        "ranker": "rankboost",
        "ranker_parameters": {"n_rounds": 4},
    },
    "ranked subsets": {
        "method": "fs-bfs",
        "parameters": SUBSETS,
        "ranker": "rankrls",
        "ranker_parameters": {"regularization": (1.0, 4.0)},
    },
}


prepare = settle


def run_plan(window: MainWindow, changes: dict[str, Any]) -> RunRecord:
    bare: dict[str, Any] = {"parameters": {}, "ranker": "", "ranker_parameters": {}}
    window.session.change("editing", **{**bare, **changes})
    finish(window)
    record = window.runs.shown
    assert record.failure == ""
    window.session.show_fold(1)
    settle(window)
    return record


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_of_every_kind_is_shown_in_every_place(
    ran: MainWindow, kind: str, tmp_path: Path
) -> None:
    record = run_plan(ran, KINDS[kind])
    check_choice(ran, record)
    check_features(ran, record)
    check_curves(ran, record)
    check_map(ran, record)
    check_files(ran, record, tmp_path)
    check_picking(ran, record)
    check_means(ran, record)
    assert ran.sections.compare.panel.rows()[0].method == record.plan.title
    settle(ran)


def check_choice(window: MainWindow, record: RunRecord) -> None:
    """The current model is the one that validation chose, with the measures of the run."""
    chosen, model = record.folds[1].chosen, window.current.model
    assert (model.key, model.values) == (chosen.unit.position, chosen.unit.values)
    assert model.step is chosen.step
    wait_until(lambda: window.current.test)
    assert window.current.test == pytest.approx(dict(record.folds[1].test))


def check_features(window: MainWindow, record: RunRecord) -> None:
    """The table marks the features of the chosen model, with their weights in it."""
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    step, panel, ids = (
        record.folds[1].chosen.step,
        window.sections.features.features,
        record.dataset.feature_ids,
    )
    rows = [row for row in panel.table.rows() if row.chosen]
    assert {row.feature_id for row in rows} == {int(ids[c]) for c in step.selected}
    for row in rows:
        assert row.weight == step.coef[np.flatnonzero(ids == row.feature_id)[0]]
    beside = "·" if record.plan.step_kind is StepKind.ROUNDS else "of"
    assert panel.caption().startswith(f"k = {len(step.selected)} {beside} ")


def check_curves(window: MainWindow, record: RunRecord) -> None:
    """There is a curve for every setting, over what its steps are."""
    plots, model = window.sections.select.curves.plots(), window.current.model
    for setting in range(len(record.combinations)):
        path = record.paths[1, setting]
        np.testing.assert_array_equal(
            plots["validation"].family[setting].xs, path.x_values
        )
        np.testing.assert_array_equal(
            plots["validation"].family[setting].ys, path.validation["MAP"]
        )
        # of a measure, which is drawn as one
        sign = -1.0 if record.plan.measured_criterion else 1.0
        np.testing.assert_array_equal(
            plots["criterion"].family[setting].ys, sign * path.criterion
        )
    assert plots["validation"].family.choice == (model.key, model.x_value)


def check_map(window: MainWindow, record: RunRecord) -> None:
    """There is a cell for every model with so many features, and no map of rounds and iterations."""
    window.sections.select.refresh()
    plot = window.sections.select.heat.plot
    if record.plan.step_kind is not StepKind.FEATURES:
        assert plot.is_empty()
        assert window.sections.select.curves.view.isHidden()
        return
    header, rows = plot.numbers()
    assert len(rows) == len(record.combinations)
    for setting, row in enumerate(rows):
        path = record.paths[1, setting]
        cells = zip(header[1:], row[1:], strict=True)
        expected = {
            f"k = {k}": v
            for k, v in zip(path.x_values, path.validation["MAP"], strict=True)
        }
        assert {name: value for name, value in cells if not np.isnan(value)} == expected


def check_files(window: MainWindow, record: RunRecord, folder: Path) -> None:
    """Results and model are written as the terminal does."""
    items = {item.key: item for item in window.export_controller.dialog()._items}
    for key, name in (("results", "results"), ("model", "model.json")):
        assert items[key].unavailable == ""
        assert items[key].write is not None
        items[key].write(folder / name)
    fold = json.loads((folder / "results" / "results.json").read_text())["folds"][0]
    values = [fold["chosen"][axis.name] for axis in record.plan.axes]
    assert values == list(record.folds[1].chosen.unit.values)
    assert fold["test"] == pytest.approx(dict(record.folds[1].test))


def check_picking(window: MainWindow, record: RunRecord) -> None:
    """A point of a curve can be chosen where it is a model; "best" goes back."""
    last = len(record.combinations) - 1
    path = record.paths[1, last]
    choose_on_curve(window, last, int(path.x_values[0]))
    model = window.current.model
    assert (
        model.step
        is path.steps[-1 if record.plan.step_kind is StepKind.ITERATIONS else 0]
    )
    window.commands["best"].trigger()
    assert window.current.model.step is record.folds[1].chosen.step


def check_means(window: MainWindow, record: RunRecord) -> None:
    """Over all folds the curves are means, as far as the shortest path goes."""
    window.session.show_fold(None)
    ys = np.asarray(window.sections.select.curves.validation_plot.family[0].ys)
    paths = [record.paths[fold, 0].validation["MAP"] for fold in (1, 2)]
    assert ys.size == min(path.size for path in paths)
    np.testing.assert_allclose(ys, np.mean([path[: ys.size] for path in paths], axis=0))


def test_the_slider_moves_the_rankers_grid_where_paths_are_fast(
    ran: MainWindow,
) -> None:
    record = run_plan(ran, {"method": "l1-path", "ranker": "rankrls",
                               "ranker_parameters": {"regularization": (1.0, 4.0)}})  # fmt: skip
    assert ran.sections.select.curves.slider._symbol.text() == "RankRLS λ"
    values = ran.sections.select.curves.slider.values()
    ran.sections.select.curves.slider._slider.setValue(values.index(2.0))
    wait_until(lambda: ran.current.shown.inspection is not None)
    model = ran.current.shown.inspection
    assert (model.key, model.values) == (PROBE, (2.0,))
    again = Plan("x", "l1-path", ranker="rankrls").combination((2.0,))
    assert (
        model.path.unit.combination.ranker["regularization"]
        == again.ranker["regularization"]
        == 2.0
    )
    assert model.path.steps[-1].selected == record.paths[1, 0].steps[-1].selected
    ran.sections.select.curves.slider._slider.setValue(values.index(4.0))
    assert ran.current.shown.inspected.key == 1
    settle(ran)


def test_where_paths_are_slow_the_slider_stops_at_the_grid_alone(
    ran: MainWindow,
) -> None:
    run_plan(ran, KINDS["ranked"])
    assert ran.sections.select.curves.slider.values() == (0.1, 1.0)
    ran.sections.select.curves.slider._slider.setValue(0)
    inspected = ran.current.shown.inspected
    assert (inspected.key, inspected.values) == (0, (0.1,))
    settle(ran)
    run_plan(ran, KINDS["rounds"])
    assert not ran.sections.select.curves.slider.isEnabled()


def test_the_level_of_the_best_single_feature_is_that_of_the_fold_that_is_looked_at(
    ran: MainWindow,
) -> None:
    record = run_plan(ran, KINDS["ranked"])
    plot = ran.sections.select.curves.validation_plot
    for fold in (1, 2):
        ran.session.show_fold(fold)
        baseline = record.folds[fold].baseline
        assert plot.family.reference == (
            baseline.validation["MAP"],
            f"best single feature: {baseline.name}",
        )
    ran.session.show_fold(None)
    assert plot.family.reference is None
    settle(ran)


# As a user writes them; what a method has of these is made small.
SMALL = {
    "regularization": "1",
    "C": "0.25",
    "gamma": "0.0625",
    "lambda1": "0.1",
    "lambda2": "1e-4",
    "learning_rate": "0.1",
    "n_features_to_select": "2",
    "max_iter": "4",
    "n_rounds": "4",
    "n_restarts": "1",
    "n_basis": "20",
    "subset_size": "3",
    "patience": "1",
}


@pytest.mark.parametrize("key", [entry.key for entry in methods()])
def test_every_method_is_chosen_in_the_form_and_its_run_is_shown(
    ran: MainWindow, key: str
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    ran.session.change("fold", folds=(1,))
    form = ran.sections.select.method.form
    pick(form, "method", key)
    assert ran.session.plan.method == key
    for name in {parameter.name for parameter in method(key).parameters} & set(SMALL):
        if form.field(name).isVisible():
            type_into(form.field(name), SMALL[name])
    finish(ran)
    record = ran.runs.shown
    assert record is not None and record.plan.method == key
    assert (record.failure, record.state) == ("", RunState.DONE)
    ran.session.show_fold(1)
    settle(ran)
    check_choice(ran, record)
    check_features(ran, record)
    check_curves(ran, record)
    for page in PAGES:
        ran.workspace.show_page(page.key)
        settle(ran)
    assert ran.sections.features.path.table.rows()
