"""Runs that wait: kept over the end of the window, offered once, and not queued twice by accident."""

from __future__ import annotations

from pathlib import Path

from waiting import wait_until
from windows import Opened, finish, settle, slowly

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings

REGULARIZATIONS = (1.0,), (2.0,), (4.0,)


def several(window: MainWindow) -> list[Plan]:
    """Return plans that differ in λ."""
    plan = window.session.plan
    return [
        plan.changed(parameters={"regularization": values})
        for values in REGULARIZATIONS
    ]


def test_what_waits_when_the_window_closes_is_offered_once(
    opened: Opened, tmp_path: Path, folds: Path
) -> None:
    config = tmp_path / "config"
    with opened(folds, runner=slowly) as window:
        plans = several(window)
        window.comparison.start(plans)
        wait_until(lambda: window.runs.current is not None)
    assert Settings(config).waiting == tuple(plans[1:])
    with opened() as window:
        window.restore()
        wait_until(lambda: window.session.dataset is not None)
        settle(window)
        assert window.waiting.text
        assert window.waiting.text in window.notice.text()
        before = len(window.runs.records)
        window.notice.newest._buttons[0].click()
        wait_until(lambda: len(window.runs.records) >= before + 2)
        wait_until(lambda: not window.runs.busy)
        done = [
            record.plan for record in window.runs.records if record.result is not None
        ]
        assert set(plans[1:]) <= set(done)
        settle(window)
    assert Settings(config).waiting == ()


def test_an_offer_that_is_not_taken_is_not_made_again(
    opened: Opened, tmp_path: Path, folds: Path
) -> None:
    config = tmp_path / "config"
    with opened(folds) as window:
        Settings(config).save_waiting(several(window))
    with opened() as window:
        window.restore()
        assert window.waiting.text in window.notice.text()
        wait_until(lambda: window.session.dataset is not None)
        settle(window)
    assert Settings(config).waiting == ()


def test_a_damaged_plan_that_waited_is_left_out(tmp_path: Path) -> None:
    settings = Settings(tmp_path)
    settings.save_waiting([Plan("sample"), Plan("sample", "rankrls")])
    (tmp_path / "waiting" / "0000.toml").write_text("method = [")
    assert settings.waiting == (Plan("sample", "rankrls"),)


def test_run_pressed_again_queues_no_twin(opened: Opened, folds: Path) -> None:
    with opened(folds, runner=slowly) as window:
        for _ in range(3):
            window.commands["run"].trigger()
        assert len(window.runs.records) == 1
        window.session.change("editing", parameters={"regularization": (8.0,)})
        window.commands["run"].trigger()
        assert len(window.runs.records) == 2, "another plan waits its turn"
        wait_until(lambda: not window.runs.busy)
        window.commands["run"].trigger()
        assert len(window.runs.records) == 3, "once it is done it can be run again"
        wait_until(lambda: not window.runs.busy)
        settle(window)


def test_the_status_bar_takes_back_that_a_run_is_removed(
    window: MainWindow, questions: list[str]
) -> None:
    finish(window)
    window.sections.compare.panel.removed.emit((1,))
    said = window.status.text()
    window.commands["undo"].trigger()
    settle(window)
    assert [record.key for record in window.runs.records] == [1]
    assert window.status.text() != said
