"""Measures and conventions as a matter of looking, in the real window."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QInputDialog
from waiting import wait_until
from windows import finish, settle
from wording import naming

from rankstudio.engine.analysis.measurements.measurement import Measurement
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.ui.compare import controller
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model import measured_runs
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_record import RunRecord


def prepare(window: MainWindow) -> None:
    finish(window)
    window.session.change(
        "editing", method="rankrls", parameters={"regularization": (0.5, 2.0)}
    )
    finish(window)


def first(window: MainWindow) -> RunRecord:
    """Show the first of the runs that are shared."""
    record = window.runs.records[0]
    window.runs.show(record)
    settle(window)
    return record


def pick(window: MainWindow, menu: str, key: str) -> None:
    """Pick an entry of the measure or convention menu."""
    entries = {
        action.data(): action for action in window.commands.submenus[menu].actions()
    }
    entries[key].trigger()
    settle(window)


def run_alone(plan: Plan, window: MainWindow) -> RunResult:
    data = window.session.dataset
    assert data is not None
    return next(
        event.result for event in run(plan, data) if isinstance(event, RunFinished)
    )


def test_another_convention_measures_curves_map_tables_and_model_anew(
    ran: MainWindow,
) -> None:
    record = first(ran)
    pick(ran, "convention", "ranklib")
    assert ran.session.plan.convention == "standard"
    expected = run_alone(record.plan.changed(convention="ranklib"), ran).folds[1].paths
    curves = ran.sections.select.curves
    for key, path in enumerate(expected):
        ys = curves.validation_plot.family[key].ys
        np.testing.assert_allclose(ys, path.validation["MAP"], rtol=1e-12)
    assert "RankLib" in ran.toolbar.convention_button.text()
    row = ran.sections.compare.panel.rows()[0]
    assert row.convention == "RankLib"
    anew = ran.models.measured.view(record)
    assert row.summary.means["NDCG@10"] == pytest.approx(
        np.mean([f.test["NDCG@10"] for f in anew.folds.values()])
    )
    model = ran.current.model
    assert model.plan.convention == "ranklib"
    assert ran.current.test == dict(anew.folds[2].test)
    pick(ran, "convention", "standard")
    assert ran.current.test == dict(record.folds[2].test)


def test_any_measure_is_shown_of_a_run_that_did_not_report_it(
    ran: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = first(ran)
    pick(ran, "measure", "RR")
    assert "RR" not in record.plan.evaluated
    assert ran.sections.select.curves.validation_plot.axes.title == "validation RR"
    assert ran.sections.select.heat.plot.numbers()[1]
    ran.workspace.show_page("compare")
    settle(ran)
    assert "RR" in ran.sections.compare.panel.rows()[0].summary.means
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("recall@7", True))
    pick(ran, "measure", "")
    assert ran.session.measure == "Recall@7"
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("best@7", True))
    pick(ran, "measure", "")
    assert ran.session.measure == "Recall@7"
    assert "best@7" in ran.notice.text()


def test_the_measure_that_is_shown_chooses_the_model_only_when_asked(
    ran: MainWindow,
) -> None:
    record = first(ran)
    pick(ran, "measure", "P@1")
    measured = ran.models.measured
    assert measured.view(record).folds[1].chosen is record.folds[1].chosen
    ran.commands["choose_by"].trigger()
    settle(ran)
    chosen = measured.view(record)
    assert chosen.plan.select_by == "P@1"
    expected = run_alone(
        record.plan.changed(measures=(*record.plan.measures, "P@1"), select_by="P@1"),
        ran,
    )
    for fold in expected.folds:
        assert chosen.folds[fold.fold].selected == fold.selected
    ran.commands["choose_by"].trigger()
    wait_until(lambda: measured.view(record).folds[1].chosen is record.folds[1].chosen)


def test_the_runs_stand_by_every_convention_with_their_places(ran: MainWindow) -> None:
    ran.workspace.show_page("compare")
    views = ran.sections.compare.views
    views.show_view("conventions")
    settle(ran)
    rows = views.conventions.table.rows()
    assert [row.key for row in rows] == [1, 2]
    for record, row in zip(ran.runs.records, rows, strict=True):
        for key in CONVENTIONS:
            own = run_alone(record.plan, ran) if key == "standard" else None
            if own is not None:
                assert row.means[key] == pytest.approx(own.average["MAP"], rel=1e-12)
            better = sum(other.means[key] > row.means[key] for other in rows)
            assert row.ranks[key] == better + 1
    assert naming("mean MAP test rank").search(views.caption())
    pick(ran, "measure", "Disagreement")
    for row in views.conventions.table.rows():
        others = [other.means["standard"] for other in views.conventions.table.rows()]
        assert row.ranks["standard"] == 1 + sum(
            other < row.means["letor4"] for other in others
        )


def test_paired_tests_curves_and_front_are_of_the_measure_that_is_shown(
    ran: MainWindow,
) -> None:
    ran.workspace.show_page("compare")
    settle(ran)
    results, measured = ran.sections.compare, ran.models.measured
    results.views.show_view("pareto")
    pick(ran, "measure", "RR")
    pick(ran, "convention", "ranklib")
    for compared in results._tests.rows:
        if compared.paired_test is None:
            reference = measured.view(ran.runs.record(compared.key)).result
    for compared in results._tests.rows:
        run = measured.view(ran.runs.record(compared.key)).result
        if compared.paired_test is not None:
            differences = run.per_query("RR") - reference.per_query("RR")
            assert compared.paired_test.mean_difference == pytest.approx(
                np.nanmean(differences)
            )
    assert (
        sum(compared.paired_test is not None for compared in results._tests.rows) == 1
    )
    assert results.curves.plot.axes.title == "validation RR"
    drawn = {
        key: curve for points in results.curves._points for key, curve, _ in points
    }
    assert drawn
    for key, curve in drawn.items():
        paths = [
            fold.paths for fold in measured.view(ran.runs.record(key)).folds.values()
        ]
        best = max(
            np.nanmax(sum(p.validation["RR"] for p in folds) / len(folds))
            for folds in zip(*paths, strict=True)
        )
        assert np.nanmax(curve.mean) == pytest.approx(best)
    assert "validation RR" in results.views.pareto.plot.axes.title


def test_all_runs_are_measured_in_one_task_and_arrive_together(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured_runs, "_MAX_SECONDS_TO_COLLECT", float("inf"))
    # All are kept even so: the table would request the values that are dropped, forever.
    monkeypatch.setattr(measured_runs, "_MAX_MEASURED_RUNS", 2)
    for seed in range(3):
        window.session.change("editing", seed=seed)
        finish(window)
    arrived: list[tuple[RunRecord, ...]] = []
    window.models.measured.changed.connect(arrived.append)
    pick(window, "measure", "RR")
    assert [{record.key for record in records} for records in arrived] == [{1, 2, 3}]
    assert not window.models.measured._requests


def test_a_run_that_cannot_be_measured_does_not_hold_up_the_others(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(2):
        window.session.change("editing", seed=seed)
        finish(window)
    first, second = window.runs.records
    measured = window.models.measured
    measure, refused = measured._measure, first.plan.seed

    def refuse(
        dataset: FoldedDataset, paired_test: MeasuredRun, wanted: Measurement
    ) -> MeasuredRun:
        if paired_test.plan.seed == refused:
            raise DatasetError("A score is not a number.")
        return measure(dataset, paired_test, wanted)

    monkeypatch.setattr(measured, "_measure", refuse)
    pick(window, "measure", "RR")
    assert measured.view(second).complete
    assert not measured.view(first).complete
    assert naming("score number").search(window.notice.text())


def test_many_new_runs_are_listed_in_several_turns(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(3):
        window.session.change("editing", seed=seed)
        finish(window)
    settle(window)
    compare = window.sections.compare
    monkeypatch.setattr(controller, "_ROWS_AT_ONCE", 1)
    rows = compare.panel.rows()
    compare.panel.show_runs(())
    compare._show()
    assert len(compare.panel.rows()) == 1
    wait_until(lambda: len(compare.panel.rows()) == 3)
    assert compare.panel.rows() == rows
