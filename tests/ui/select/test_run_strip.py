"""The strip of runs, and what follows the run that works until somebody chooses."""

from __future__ import annotations

from pathlib import Path
from threading import Event as Flag
from threading import Semaphore

import pytest
from PySide6.QtWidgets import QPushButton
from waiting import wait_until
from windows import finish, held, open_window, settle

from rankstudio.engine.experiment.results.events import UnitStarted
from rankstudio.engine.support.work import WorkProgress
from rankstudio.ui.compare.comparison_dialog import ComparisonDialog
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.select.run_strip import _progress_text
from rankstudio.ui.style.theme import Theme


def chips(window: MainWindow) -> list[str]:
    return [
        chip.text()
        for chip in window.sections.select.strip._waiting
        if chip.isVisible()
    ]


def test_what_works_what_waits_and_what_came_of_it(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    go = Flag()
    in_the_first_path = held(lambda number, _: number == 10 and go.wait(10))
    with open_window(theme, tmp_path / "config", folds, in_the_first_path) as window:
        strip = window.sections.select.strip
        assert strip._state.text() == "No run yet: choose a method and press Run."
        assert not strip.all_runs_button.isEnabled()
        for seed in range(8):  # the same plan would not be taken again while it waits
            window.session.change("editing", seed=seed)
            window.commands["run"].trigger()
        wait_until(lambda: strip._bar.isVisible() and strip._bar.value() > 0)
        assert strip._run.text() == "run 1 Greedy RankRLS"
        assert strip._state.text().startswith("fold ")
        record = window.runs.record(1)
        record.working = WorkProgress("comparing features", 0.4)
        assert "comparing features 40 %" in _progress_text(record)
        assert chips(window) == [f"run {key} Greedy RankRLS" for key in range(2, 7)]
        assert strip._more.text() == "and 2 more"
        window.commands["pause"].trigger()
        go.set()
        wait_until(lambda: strip._state.text() == "paused")
        strip._waiting[1].click()
        assert window.runs.shown is window.runs.record(3)
        assert (
            strip._run.text() == "run 3 Greedy RankRLS"
            and strip._state.text() == "waiting"
        )
        assert chips(window) == [f"run {key} Greedy RankRLS" for key in (2, 4, 5, 6, 7)]
        strip._working.click()
        assert window.runs.shown is window.runs.record(1)
        window.commands["stop_all"].trigger()
        wait_until(lambda: not window.runs.busy)
        assert chips(window) == []
        assert not strip._bar.isVisible()
        assert strip._state.text().startswith("stopped")


def test_the_outcome_is_the_mean_over_the_folds_and_leads_to_compare(
    window: MainWindow,
) -> None:
    finish(window)
    strip, result = window.sections.select.strip, window.runs.record(1).result
    assert result is not None
    assert (
        strip._state.text()
        == f"done · MAP {result.average['MAP']:.4f} (test), mean over 2 folds"
    )
    window.findChild(QPushButton, "strip-compare").click()
    assert window.workspace.page == "compare"
    settle(window)


@pytest.mark.ability("features")
def test_a_finished_run_offers_the_next_questions(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches links that lead nowhere, that stay while something runs, or that push the outcome away."""
    asked: list[str] = []
    monkeypatch.setattr(
        ComparisonDialog, "exec", lambda _: asked.append(window.workspace.page) or 0
    )
    why, another = (
        window.findChild(QPushButton, name) for name in ("strip-why", "strip-another")
    )
    assert not why.isVisible() and not another.isVisible()
    window.resize(1280, 760)
    finish(window)
    settle(window)
    strip = window.sections.select.strip
    assert why.isVisible() and another.isVisible()
    why.click()
    assert window.workspace.page == "features"
    window.workspace.show_page("select")
    another.click()
    assert asked == ["compare"]
    window.workspace.show_page("select")
    strip._next.resize(strip._next.sizeHint().width() - 20, strip._next.height())
    assert why.isVisible() and not another.isVisible(), (
        "the first questions stay where not all have room"
    )
    strip._next.resize(40, strip._next.height())
    assert not why.isVisible(), "the outcome needs the room"
    window.commands["run"].trigger()
    assert not strip._next._offered
    window.commands["stop"].trigger()
    wait_until(lambda: not window.runs.busy)
    settle(window)


def said(window: MainWindow) -> str:
    return window.commands["run"].iconText()


def test_fold_and_run_follow_until_the_user_chooses(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    go = Semaphore(0)
    at_each_path = held(
        lambda _, event: isinstance(event, UnitStarted) and go.acquire(timeout=10)
    )
    with open_window(theme, tmp_path / "config", folds, at_each_path) as window:
        strip, session = window.sections.select.strip, window.session
        assert (
            not strip.follow_button.isVisible()
            and not window.commands["follow"].isChecked()
        )
        window.commands["run"].trigger()
        session.change("editing", seed=7)
        window.commands["run"].trigger()
        first, second = window.runs.records
        wait_until(lambda: first.unit is not None)
        assert strip.follow_button.isVisible() and strip.follow_button.isChecked()
        assert window.commands["follow"].isChecked()
        go.release(3)
        wait_until(lambda: first.unit is not None and first.unit.fold == 2)
        assert session.fold == 2
        window.commands["previous_fold"].trigger()  # chosen: nothing moves from now on
        assert session.fold == 1 and not strip.follow_button.isChecked()
        go.release(3)
        wait_until(lambda: second.unit is not None)
        assert window.runs.shown is first and session.fold == 1
        assert strip._run.text().startswith(
            "run 1 "
        ) and strip._state.text().startswith("done")
        assert strip._working.isVisible() and strip._working.text().startswith("run 2 ")
        strip.follow_button.click()
        assert window.runs.shown is second and session.plan == second.plan
        assert strip._run.text().startswith("run 2 ") and not strip._working.isVisible()
        go.release(3)
        wait_until(lambda: second.unit is not None and second.unit.fold == 2)
        assert session.fold == 2
        go.release(9)
        wait_until(lambda: not window.runs.busy)
        settle(window)
        assert (
            not strip.follow_button.isVisible()
            and not window.commands["follow"].isEnabled()
        )
        assert (
            not strip.follow_button.isChecked()
            and not window.commands["follow"].isChecked()
        )


def test_the_run_button_says_what_it_runs_and_resumes_what_was_stopped(
    theme: Theme, tmp_path: Path, folds: Path, shelf_folder: Path
) -> None:
    go = Semaphore(1)
    at_the_second_path = held(
        lambda _, event: isinstance(event, UnitStarted) and go.acquire(timeout=10)
    )
    with open_window(theme, tmp_path / "config", folds, at_the_second_path) as window:
        assert said(window) == "Run 2 folds"
        window.session.change("editing", folds=(2,))
        assert said(window) == "Run fold 2"
        window.session.change("editing", folds=())
        window.commands["run"].trigger()
        (record,) = window.runs.records
        wait_until(lambda: record.units_done == 1)
        window.commands["stop"].trigger()
        strip = window.sections.select.strip
        wait_until(lambda: strip._state.text() == "stopping after the current step")
        go.release(9)
        wait_until(lambda: record.state is RunState.CANCELLED)
        settle(window)
        assert said(window) == f"Resume at {record.units_done} of 6 fits"
        window.session.change("editing", seed=3)
        assert said(window) == "Run 2 folds"  # another plan
        look_at(window.session, window.runs, record)
        window.commands["run"].trigger()
        wait_until(lambda: record.state is RunState.DONE)
        settle(window)
        assert len(window.runs.records) == 1 and said(window) == "Run 2 folds"
