"""Leave-query-out in the real window: more folds than there is room for buttons."""

from __future__ import annotations

from pathlib import Path

from waiting import wait_until
from windows import finish, open_window

from rankstudio.engine.experiment.plan import CRITERION, Plan, save_plan
from rankstudio.ui.record import RunState
from rankstudio.ui.theme import Theme


def test_a_fold_for_each_query_is_run_and_looked_at(theme: Theme, tmp_path: Path, folds: Path) -> None:
    one = str(folds / "Fold1" / "train.txt")
    own = {"regularization": 1.0, "n_features_to_select": 2}
    save_plan(Plan(one, "l1-path", own, CRITERION, protocol="leave-query-out"), tmp_path / "plan.toml")
    with open_window(theme, tmp_path / "config") as window:
        window.open_path(str(tmp_path / "plan.toml"))
        wait_until(lambda: window.study.dataset is not None)
        dataset = window.study.dataset
        assert dataset is not None
        panel = window.places.data.panel
        assert len(dataset.folds) > 12
        assert not panel._folds.isVisible()
        assert panel._many.isVisible()
        assert panel._many.count() == len(dataset.folds) + 1
        finish(window)
        record = window.runs.shown
        assert record is not None
        assert record.state is RunState.DONE
        assert len(record.folds) == len(dataset.folds)
        panel._many.setCurrentIndex(4)
        panel._many.activated.emit(4)
        assert window.study.fold == 5
        assert window.current.model is not None
        assert window.current.model.step is record.folds[5].chosen.step
        window.commands["next_fold"].trigger()
        assert (window.study.fold, panel._many.currentText()) == (6, "fold 6")
        panel._many.activated.emit(len(dataset.folds))
        assert (window.study.fold, panel._many.currentText()) == (None, "all folds")
        [row] = window.places.results.panel.rows()
        assert row.means["MAP"] == record.result.average["MAP"]
