"""Runs in the real window: what a person starts, holds and ends, and what the window then shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hands import ys
from waiting import turn, wait_until
from walks.stage import Gate
from windows import (
    N_STEPS,
    Opened,
    breaking,
    finish,
    noting,
    settle,
    slowly,
    write_folds,
)
from wording import naming

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import Event, StepDone
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.model.study_store import RunTarget


@pytest.mark.smoke
def test_curves_grow_and_the_chosen_model_is_shown(window: MainWindow) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    finish(window)
    record = window.runs.shown
    assert record.state is RunState.DONE
    assert record.result is not None
    for fold in (1, 2):
        window.session.show_fold(fold)
        chosen = record.folds[fold].chosen
        model = window.current.model
        assert (model.key, model.values) == (chosen.unit.position, chosen.unit.values)
        assert model.step is chosen.step
        for setting in range(3):
            path = record.paths[fold, setting]
            np.testing.assert_array_equal(ys(window, setting), path.validation["MAP"])
            np.testing.assert_array_equal(
                ys(window, setting, "criterion"), path.criterion
            )
        rows = window.sections.features.features.table.rows()
        ids = record.dataset.feature_ids[
            list(record.paths[fold, model.key].steps[-1].selected)
        ]
        assert [row.feature_id for row in rows] == ids.tolist()
    settle(window)
    wait_until(lambda: window.current.test)
    assert window.current.test == pytest.approx(dict(record.folds[2].test))
    [row] = window.sections.compare.panel.rows()
    assert row.state == "done"
    assert row.summary.means == pytest.approx(
        {m: record.result.average[m] for m in record.plan.measures}
    )


@pytest.mark.smoke
def test_pause_resume_step_and_stop(opened: Opened, folds: Path) -> None:
    found = []

    def counted(
        plan: Plan, dataset: FoldedDataset, target: RunTarget | None = None
    ) -> Iterator[Event]:
        for event in slowly(plan, dataset, target):
            found.extend([event] * isinstance(event, StepDone))
            yield event

    with opened(folds, counted) as window:
        commands = window.commands
        commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].units_done)
        record = window.runs.records[0]
        [job] = window.models.run_worker.jobs
        assert len(ys(window, 0)) == N_STEPS
        commands["pause"].trigger()
        wait_until(lambda: job.held)
        assert record.state is RunState.PAUSED
        assert commands["pause"].iconText() == "Resume"
        wait_until(lambda: window.sections.compare.panel.rows()[0].state == "paused")

        def steps() -> int:
            return record.units_done * N_STEPS + sum(
                len(s) for s in record.growing.values()
            )

        wait_until(lambda: steps() == len(found))
        before = len(found)
        commands["step"].trigger()
        wait_until(lambda: steps() == before + 1 and job.held)
        assert len(found) == before + 1
        commands["pause"].trigger()
        wait_until(lambda: record.folds)
        commands["stop"].trigger()
        wait_until(lambda: record.state.ended)
        assert record.state is RunState.CANCELLED
        assert set(record.folds) == {1}
        assert len(record.paths) >= 3
        window.session.show_fold(1)
        assert window.current.model.step is record.folds[1].chosen.step


def test_the_fold_shown_follows_the_run_until_another_one_is_chosen(
    opened: Opened, folds: Path
) -> None:
    with opened(folds, slowly) as window:
        window.commands["run"].trigger()
        wait_until(lambda: window.session.fold == 2)
        window.commands["stop_all"].trigger()
        wait_until(lambda: not window.runs.busy)
        window.session.show_fold(1)
        window.session.change("editing", seed=1)  # the same plan would be resumed
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[1].unit is not None)
        window.sections.data.panel.foldChosen.emit(1)
        wait_until(lambda: window.runs.records[1].state.ended)
        assert window.session.fold == 1


def test_the_table_says_that_a_run_is_paused_though_nothing_more_arrives(
    opened: Opened, folds: Path
) -> None:
    gate = Gate()
    gate.hold_after(5)
    with opened(folds, gate.run) as window:
        window.closing.connect(gate.open)
        window.commands["run"].trigger()
        wait_until(lambda: gate.holds and not window.refresh_timer.is_active)
        for state in ("paused", "running"):
            window.commands["pause"].trigger()
            wait_until(lambda: not window.refresh_timer.is_active)
            assert [row.state for row in window.sections.compare.panel.rows()] == [
                state
            ]


@pytest.mark.thorough
def test_a_run_that_goes_on_draws_no_point_twice(opened: Opened, folds: Path) -> None:
    gate = Gate()
    gate.hold_after(6)  # in the middle of the first path
    with opened(folds, gate.run) as window:
        window.closing.connect(gate.open)
        window.commands["run"].trigger()
        wait_until(lambda: gate.holds)
        record = window.runs.records[0]
        wait_until(lambda: any(record.growing.values()))
        window.commands["stop"].trigger()
        gate.open()
        wait_until(lambda: record.state.ended)
        assert len(ys(window, 0, "criterion"))
        window.commands["go_on"].trigger()
        # and no longer the fold that the run is at
        window.sections.data.panel.foldChosen.emit(1)
        assert not len(ys(window, 0, "criterion"))
        wait_until(lambda: record.state.ended)
        settle(window)
        for setting in range(3):
            np.testing.assert_array_equal(
                ys(window, setting, "criterion"), record.paths[1, setting].criterion
            )


def test_a_run_that_goes_on_is_measured_anew_as_it_is_told_of_again(
    opened: Opened, folds: Path
) -> None:
    gate = Gate()
    gate.hold_after(N_STEPS + 6)  # in the second path
    with opened(folds, gate.run) as window:
        window.closing.connect(gate.open)
        window.commands["run"].trigger()
        wait_until(lambda: gate.holds)
        record = window.runs.records[0]
        wait_until(lambda: record.paths)
        window.commands["stop"].trigger()
        gate.open()
        wait_until(lambda: record.state.ended)
        assert set(record.paths) == {(1, 0)}
        window.session.show_measure("NDCG@3")
        window.session.show_fold(1)
        window.session.select(record.combinations[0], 2)
        settle(window)
        before, model = record.paths[1, 0], window.current.model
        assert model.step is before.steps[model.position]
        # the study has told of the first path again, and nothing more is there
        gate.hold_after(5)
        window.commands["go_on"].trigger()
        wait_until(lambda: gate.holds and record.paths[1, 0] is not before)
        window.session.select(record.combinations[0], 3)
        settle(window)
        model = window.current.model
        assert model.step is record.paths[1, 0].steps[model.position]
        window.commands["stop"].trigger()
        gate.open()
        wait_until(lambda: record.state.ended)


def test_runs_queue_and_a_waiting_one_can_be_cancelled(
    opened: Opened, folds: Path, questions: list[str]
) -> None:
    with opened(folds, slowly) as window:
        for rule in ("best", "at most 2", "at most 3"):
            window.session.change("editing", rule=rule)
            window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].state is RunState.RUNNING)
        first, second, third = window.runs.records
        assert (second.state, third.state) == (RunState.QUEUED, RunState.QUEUED)
        assert "2 waiting" in window.status.text()
        window.sections.compare.panel.cancelRequested.emit(second.key)
        assert second.state is RunState.CANCELLED
        window.commands["stop"].trigger()
        wait_until(lambda: third.state is RunState.RUNNING)
        assert first.state is RunState.CANCELLED
        assert window.runs.shown is third
        window.sections.compare.panel.removed.emit((third.key,))
        wait_until(lambda: not window.models.run_worker.jobs)
        assert [row.key for row in window.sections.compare.panel.rows()] == [
            first.key,
            second.key,
        ]
        window.sections.compare.panel.selected.emit(first.key)
        assert window.runs.shown is first


def test_a_crash_in_the_worker_is_a_message_and_the_window_goes_on(
    opened: Opened, folds: Path
) -> None:
    with opened(folds, breaking) as window:
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].state is RunState.FAILED)
        assert window.notice.text() == (
            "Greedy RankRLS on Small failed unexpectedly with RuntimeError: the matrix is upside down. "
            "See the log for details."
        )
        assert window.runs.records[0].paths  # what it had finished is kept
        window.runs._runner = slowly
        finish(window)
        assert window.runs.records[1].state is RunState.DONE


def test_what_a_method_notes_of_its_results_is_a_notice(
    opened: Opened, folds: Path
) -> None:
    with opened(folds, noting) as window:
        finish(window)
        assert window.notice.text() == "Fold 1 is odd."  # the first of a kind


def test_a_measure_that_chose_nothing_is_a_notice(
    empty: MainWindow, tmp_path: Path
) -> None:
    """The wrong column was taken for the label: all documents are relevant."""
    rows = [f"{i // 8},{1 + i % 4},{i * 7 % 11},{i * 5 % 13}" for i in range(80)]
    (tmp_path / "rated.csv").write_text("\n".join(["qid,label,a,b", *rows]))
    empty.open_path(str(tmp_path / "rated.csv"))
    wait_until(lambda: empty.session.dataset is not None)
    empty.session.change("folds", protocol="3-fold", select_by="MAP")
    wait_until(lambda: empty.session.data_match_plan)
    finish(empty)
    assert empty.runs.records[0].state is RunState.DONE
    assert naming("MAP labels").search(empty.notice.text())


def test_the_message_of_a_run_is_there_where_the_run_is(
    opened: Opened, folds: Path
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    with opened(folds, noting) as window:
        finish(window)
        pages, told = window.workspace, "Fold 1 is odd."
        for page in ("lab", "data", "compare"):
            pages.show_page(page)
            assert window.notice.text() == ""
            pages.show_page("features")
            assert window.notice.text() == told
        window.runs._runner = breaking
        window.commands["run"].trigger()
        assert window.notice.text() == ""  # another run is looked at
        wait_until(lambda: not window.runs.busy and window.notice.text())
        assert window.runs.shown is window.runs.records[1]
        assert window.notice.text() == window.runs.records[1].failure
        window.runs.show(window.runs.records[0])
        assert window.notice.text() == told
        window.say_error("The disk is full.")  # what others say stays
        pages.show_page("lab")
        assert window.notice.text() == "The disk is full."
        window.notice.dismiss()
        pages.show_page("features")
        assert window.notice.text() == told
        window.notice.dismiss()  # from now on it is in the table of runs
        pages.show_page("compare")
        pages.show_page("select")
        assert window.notice.text() == ""
        window.runs.show(window.runs.records[1])
        window.runs.show(window.runs.records[0])
        assert window.notice.text() == ""


def test_a_plan_that_does_not_fit_the_data_is_a_sentence(window: MainWindow) -> None:
    window.session.change(
        "pinning", parameters={**window.session.plan.parameters, "pinned": (99,)}
    )
    window.commands["run"].trigger()
    wait_until(lambda: not window.runs.busy)
    assert window.notice.text().startswith(
        "pinned: expected ids of the dataset's features, 1 to 8"
    )


def test_stepping_without_a_run_starts_a_paused_one(window: MainWindow) -> None:
    window.commands["step"].trigger()
    wait_until(lambda: len(ys(window, 0)) == 1)
    turn(0.05)
    record = window.runs.records[0]
    assert record.state is RunState.PAUSED
    assert sum(len(steps) for steps in record.growing.values()) == 1


def test_closing_while_a_run_works(opened: Opened, folds: Path) -> None:
    with opened(folds, slowly) as window:
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].progress > 0)
        window.close()
        assert not window.isVisible()
        assert window.models.run_worker.jobs == ()


@pytest.mark.thorough
def test_a_sealed_run_of_a_study_is_measured_anew_when_its_data_are_there(
    opened: Opened, tmp_path: Path
) -> None:
    study, folds = tmp_path / "one.rankstudio", write_folds(tmp_path / "Small")
    with opened(folds) as window:
        finish(window)
        window.study_files.save_as(str(study))
        settle(window)
    elsewhere = folds.rename(tmp_path / "elsewhere")
    with opened() as window:
        window.open_path(str(study))
        wait_until(lambda: window.runs.records and not window.models.loader.busy)
        settle(window)
        record, measured = window.runs.records[0], window.models.measured
        assert not window.session.has_documents
        window.session.seal(True)
        window.session.show_measure("NDCG@3")
        settle(window)
        assert "NDCG@3" not in measured.view(record).paths[1, 0].validation
        elsewhere.rename(folds)
        window.open_path(str(folds))
        wait_until(lambda: record.recorded is None)
        settle(window)
        assert "NDCG@3" in measured.view(record).paths[1, 0].validation
