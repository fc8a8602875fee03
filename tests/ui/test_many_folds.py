"""Protocols in the real window: more folds than there is room for buttons, and inner folds that validate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from waiting import wait_until
from windows import N_FEATURES, N_STEPS, Opened, finish, settle

from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.splitting.splits import select_queries
from rankstudio.engine.data.synthetic import load_sample
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.plan.toml import save_plan
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.model.selected_model import LIVE


def test_a_fold_for_each_query_is_run_and_looked_at(
    opened: Opened, tmp_path: Path, folds: Path
) -> None:
    one = str(folds / "Fold1" / "train.txt")
    own = {"regularization": 1.0, "n_features_to_select": 2}
    save_plan(
        Plan(one, "l1-path", own, CRITERION, protocol="leave-query-out"),
        tmp_path / "plan.toml",
    )
    with opened() as window:
        window.open_path(str(tmp_path / "plan.toml"))
        wait_until(lambda: window.session.dataset is not None)
        dataset = window.session.dataset
        panel = window.sections.data.panel
        window.workspace.show_page("data")
        assert len(dataset.folds) > 12
        assert not panel._folds.isVisible()
        assert panel._fold_box.isVisible()
        assert panel._fold_box.count() == len(dataset.folds) + 1
        finish(window)
        record = window.runs.shown
        assert record.state is RunState.DONE
        assert len(record.folds) == len(dataset.folds)
        panel._fold_box.setCurrentIndex(4)
        panel._fold_box.activated.emit(4)
        assert window.session.fold == 5
        assert window.current.model.step is record.folds[5].chosen.step
        window.commands["next_fold"].trigger()
        wait_until(lambda: panel._fold_box.currentText() == "fold 6")
        assert window.session.fold == 6
        panel._fold_box.activated.emit(len(dataset.folds))
        wait_until(lambda: panel._fold_box.currentText() == "all folds")
        assert window.session.fold is None
        [row] = window.sections.compare.panel.rows()
        assert row.summary.means["MAP"] == record.result.average["MAP"]


def test_inner_folds_validate_where_no_part_does(
    opened: Opened, tmp_path: Path, folds: Path
) -> None:
    own = {"regularization": (1.0, 4.0)}
    save_plan(
        Plan(str(folds), parameters=own, protocol="nested 3-fold"),
        tmp_path / "plan.toml",
    )
    with opened() as window:
        window.open_path(str(tmp_path / "plan.toml"))
        wait_until(lambda: window.session.dataset is not None)
        finish(window)
        record = window.runs.shown
        assert record.state is RunState.DONE
        window.session.show_fold(2)
        curves = window.sections.select.curves
        assert curves.validation_plot.isVisible()
        for setting in (0, 1):
            drawn = curves.validation_plot.family[setting].ys
            assert list(drawn) == record.paths[2, setting].validation["MAP"].tolist()
        assert window.sections.select.heat.plot.values.shape == (2, N_FEATURES)
        model, chosen = window.current.model, record.folds[2].chosen
        assert (model.values, model.step) == (chosen.unit.values, chosen.step)
        # between the grid's values: the inner folds validate it too
        window.session.select((2.0,), 3)
        wait_until(
            lambda: (
                window.current.model is not None and window.current.model.key == LIVE
            )
        )
        assert window.current.model.path.validation["MAP"].shape == (N_STEPS,)
        settle(window)


def test_a_query_in_which_a_measure_is_not_defined_is_left_out_of_the_row(
    opened: Opened, tmp_path: Path
) -> None:
    part = select_queries(load_sample().folds[0].train, np.arange(14))
    labels = part.y.copy()
    labels[: part.query_ptr[1]] = 0.0  # no pair of documents to disagree about
    save_letor(replace(part, y=labels), tmp_path / "one.txt")
    own, measures = (
        {"regularization": 1.0, "n_features_to_select": 2},
        ("MAP", "Disagreement"),
    )
    plan = Plan(
        str(tmp_path / "one.txt"),
        "l1-path",
        own,
        CRITERION,
        measures,
        protocol="leave-query-out",
    )
    save_plan(plan, tmp_path / "plan.toml")
    with opened() as window:
        window.open_path(str(tmp_path / "plan.toml"))
        wait_until(lambda: window.session.dataset is not None)
        finish(window)
        result = window.runs.shown.result if window.runs.shown else None
        assert np.isnan(result.folds[0].test["Disagreement"])
        [row] = window.sections.compare.panel.rows()
        assert row.summary.means == pytest.approx(result.average, rel=1e-14)
        assert np.isfinite(
            [*row.summary.deviations.values(), *row.summary.over_single.values()]
        ).all()
