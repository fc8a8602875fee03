"""Runs of the window on processes: the same numbers, signs of life, and stop stops."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QInputDialog, QPushButton
from waiting import wait_until
from windows import Opened, finish, settle

from rankstudio.engine.experiment.reports import metrics_table
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.execution import LIVE, PROCESSES, ExecutionBackend
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.process.settings import Settings


def entries(window: MainWindow) -> dict[str, bool]:
    actions = window.commands.submenus["backend"].actions()
    return {
        action.text().replace("&", ""): action.isChecked()
        for action in actions
        if action.isCheckable()
    }


def test_a_run_on_processes_has_the_numbers_and_curves_of_one_here(
    window: MainWindow,
) -> None:
    finish(window)
    assert list(entries(window).values()) == [True, False, False]
    window.session.change("another seed, which changes nothing", seed=1)
    processes = window.commands.submenus["backend"].actions()[1]
    processes.trigger()
    assert list(entries(window).values()) == [False, True, False]
    finish(window)
    here, there = window.runs.records
    assert here.state is there.state is RunState.DONE
    assert here.result is not None
    assert there.result is not None
    assert metrics_table(here.result) == metrics_table(there.result)
    for place, path in here.paths.items():
        assert [s.coef.tobytes() for s in path.steps] == [
            s.coef.tobytes() for s in there.paths[place].steps
        ]
    window.session.show_fold(1)
    settle(window)
    curves = window.sections.select.curves
    drawn = curves.validation_plot.family[1].ys
    assert list(drawn) == there.paths[1, 1].validation["MAP"].tolist()
    assert window.current.model is not None


def test_a_run_on_processes_is_paused_and_stopped_at_once(window: MainWindow) -> None:
    window.models.backend.select(PROCESSES)
    long = {"max_iter": 10_000, "n_restarts": 1000}
    window.session.change("a long unit", method="coordinate-ascent", parameters=long)
    window.commands["run"].trigger()
    record = window.runs.records[-1]
    wait_until(lambda: record.working is not None and "waiting" in record.working.what)
    window.commands["pause"].trigger()
    assert record.state is RunState.PAUSED
    window.commands["stop"].trigger()
    wait_until(lambda: record.state.ended, seconds=10)
    assert record.state is RunState.CANCELLED
    assert not record.failure
    settle(window)


def test_step_by_step_is_always_here(window: MainWindow) -> None:
    window.models.backend.select(PROCESSES)
    window.commands["step"].trigger()
    record = window.runs.records[-1]
    wait_until(lambda: any(record.growing.values()))
    assert len(next(iter(record.growing.values()))) == 1
    window.commands["stop"].trigger()
    wait_until(lambda: record.state.ended)


def test_a_cluster_that_is_not_there_is_said_and_the_choice_is_remembered(
    opened: Opened, tmp_path: Path, folds: Path, monkeypatch
) -> None:
    answers = [("tcp://127.0.0.1:2", False), ("tcp://127.0.0.1:1 ", True)]

    def answer(dialog: QInputDialog) -> bool:
        text, accepted = answers.pop(0)
        dialog.setTextValue(text)
        dialog.show()
        assert all(
            button.icon().isNull() for button in dialog.findChildren(QPushButton)
        )
        return accepted

    monkeypatch.setattr(QInputDialog, "exec", answer)
    with opened(folds) as window:
        cluster = window.commands.submenus["backend"].actions()[2]
        cluster.trigger()
        assert window.models.backend.choice == LIVE
        assert list(entries(window).values()) == [True, False, False]
        cluster.trigger()
        assert list(entries(window).items())[2] == (
            "The cluster at tcp://127.0.0.1:1…",
            True,
        )
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records and not window.runs.busy)
        record = window.runs.records[-1]
        assert record.state is RunState.FAILED
        assert record.failure.startswith("tcp://127.0.0.1:1: ")
        assert record.failure in window.notice.text()
    again = ExecutionBackend(Settings(tmp_path / "config"))
    assert (again.choice, again.address) == ("tcp://127.0.0.1:1", "tcp://127.0.0.1:1")
