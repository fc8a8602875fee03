"""What is shown belongs together: read off the panels, and computed anew from runs, plan and data."""

from __future__ import annotations

import numpy as np
from windows import settle

from rankstudio.engine.experiment.units.nested_cv import make_fold_context
from rankstudio.ui.inspect.features_panel import FeaturesPanel
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import LIVE, SelectedModel
from rankstudio.ui.style.number_format import combination_label

_BESIDE = "left_out"  # key of the curve of left-out queries


def shown_run(window: MainWindow) -> RunRecord | None:
    """Return the run that the window is to show: the one looked at, where its data are open."""
    record = window.runs.shown
    return record if record is not None and record.dataset is window.session.dataset else None


def path_panel(window: MainWindow) -> FeaturesPanel:
    """Return the path of the page that is seen."""
    inspect = window.sections.inspect
    return inspect.path if inspect.path.isVisible() else inspect.features


def belongs_together(window: MainWindow) -> None:
    """Assert that title, curves, map, toolbar, path and test line are of one run and one model."""
    settle(window)
    for plot in window.sections.run.plots():
        plot.flush()
    record, model = shown_run(window), window.current.model
    curves, line = window.sections.run.curves, window.toolbar.line
    plan = record.plan if record is not None else window.session.plan
    assert curves.accessibleName().split(" · ")[0] == plan.title
    if record is not None:
        assert line.text("run") == f"run {record.key} {plan.title}"
    else:
        assert not line.text("run").startswith("run ")
    _curves_are_of(window, record, model)
    if model is None:
        assert (line.text("parameters"), line.text("size")) == ("", "")
        assert path_panel(window)._test.isHidden()
        if record is None or record.state.ended:
            assert path_panel(window).table.rows() == []
        return
    assert (model.plan.method, model.plan.ranker) == (plan.method, plan.ranker)
    assert [axis.name for axis in model.plan.axes] == [axis.name for axis in plan.axes]
    assert model.fold is window.session.watched
    label = combination_label(model.plan.axes, model.values)
    if model.key == LIVE:
        assert line.text("parameters").startswith(label)
        assert line.text("parameters") != label, "a model of no run is told from those of one"
    else:
        assert record is not None
        assert line.text("parameters") == label
        assert model.values == record.combinations[model.key]
        own = record.paths[model.fold.number, model.key]
        assert [step.selected for step in model.path.steps] == [step.selected for step in own.steps]
    _path_is_of(window, model)
    _test_line_is_of(window, model)


def _curves_are_of(window: MainWindow, record: RunRecord | None, model: SelectedModel | None) -> None:
    fold, measure = window.session.fold, window.session.measure
    for name, plot in window.sections.run.curves.plots().items():
        drawn = {key for key in plot.family.keys if plot.family[key].xs} - {_BESIDE}
        own = set(range(len(record.combinations))) if record is not None else set()
        assert drawn <= own | ({LIVE} if model is not None and model.key == LIVE else set())
        for key in drawn - {LIVE}:
            assert plot.family[key].label == (
                combination_label(record.plan.axes, record.combinations[key]) or "path"
            )
            path = record.paths.get((fold, key))
            if path is not None and (name == "criterion" or measure in path.validation):
                values = path.criterion if name == "criterion" else path.validation[measure]
                np.testing.assert_array_equal(plot.family[key].ys, values)
        if model is None:
            assert plot.choice is None or fold is None
            continue
        assert plot.choice == (model.key, model.x_value)
        if model.key == LIVE:
            label = combination_label(model.plan.axes, model.values)
            assert plot.family[LIVE].label.startswith(label)
    if record is None:
        assert window.sections.run.heat.plot.is_empty()


def _path_is_of(window: MainWindow, model: SelectedModel) -> None:
    rows = [row for row in path_panel(window).table.rows() if row.rank is not None]
    dataset = window.session.dataset
    columns = {int(dataset.feature_ids[column]) for step in model.path.steps for column in step.selected}
    assert {row.feature_id for row in rows} <= columns
    chosen = {row.feature_id for row in rows if row.chosen}
    assert chosen == {int(dataset.feature_ids[column]) for column in model.step.selected}


def _test_line_is_of(window: MainWindow, model: SelectedModel) -> None:
    text = path_panel(window)._test.text()
    if window.session.sealed or model.fold.test is None or not model.step.whole:
        assert not text.startswith("test: ")
        return
    anew = make_fold_context(model.plan, model.fold).evaluate(model.step, "test")
    assert text == "test: " + " · ".join(f"{name}\N{NO-BREAK SPACE}{v:.4f}" for name, v in anew.items())
