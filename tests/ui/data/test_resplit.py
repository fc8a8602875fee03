"""Scenarios of the protocol in the form: the data are divided anew while the window stays usable."""

from __future__ import annotations

from pathlib import Path

import pytest
from hands import write
from waiting import turn, wait_until
from windows import finish, open_window, settle, write_folds

from rankstudio.engine.experiment.reports import results_as_dict
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.runner import run
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme


@pytest.fixture
def folds(tmp_path: Path) -> Path:
    """Small data with all their folds: only those can be dealt anew."""
    return write_folds(tmp_path / "Small", 5)


def divide(window: MainWindow, protocol: str) -> None:
    """Type a protocol, and wait until the data are divided so."""
    before = window.session.dataset
    write(window.sections.select.method.form.field("protocol"), protocol)
    wait_until(
        lambda: window.session.dataset is not before and not window.models.loader.busy
    )


def test_a_protocol_divides_the_data_and_is_what_is_run(window: MainWindow) -> None:
    divide(window, "4-fold")
    assert window.session.plan.protocol == "4-fold"
    assert window.session.dataset is not None
    assert len(window.session.dataset.folds) == 4
    assert window.session.fold == 1
    wait_until(lambda: window.sections.data.panel.has_summary(1))
    finish(window)
    [record] = window.runs.records
    assert sorted(record.folds) == [1, 2, 3, 4]
    assert record.result is not None
    *_, last = run(window.session.plan)
    assert isinstance(last, RunFinished)
    assert (
        results_as_dict(last.result)["folds"] == results_as_dict(record.result)["folds"]
    )


def test_a_protocol_is_taken_back_and_done_again(window: MainWindow) -> None:
    finish(window)
    given = window.session.dataset
    window.session.show_fold(2)
    divide(window, "split 60/20/20")
    assert len(window.session.dataset.folds) == 1  # type: ignore[union-attr]
    assert window.session.fold == 1
    assert window.current.model is None
    finish(window)
    split = window.session.dataset
    window.commands["undo"].trigger()
    assert window.session.plan.protocol == "given"
    assert window.session.dataset is given  # a run has them: nothing is read again
    assert window.sections.select.method.form.field("protocol").value == "given"
    window.commands["redo"].trigger()
    assert window.session.plan.protocol == "split 60/20/20"
    assert window.session.dataset is split
    window.sections.compare.panel.selected.emit(1)
    assert window.session.dataset is given
    assert window.session.plan.protocol == "given"
    settle(window)


def test_where_nothing_validates_the_criterion_chooses(window: MainWindow) -> None:
    window.session.change("the rule", rule="one-se")
    divide(window, "leave query out")
    assert window.session.dataset is not None
    assert len(window.session.dataset.folds) > 20
    plan = window.session.plan
    assert (plan.protocol, plan.select_by, plan.rule) == (
        "leave-query-out",
        "criterion",
        "best",
    )
    window.commands["undo"].trigger()
    assert (window.session.plan.select_by, window.session.plan.rule) == (
        "MAP",
        "one-se",
    )
    wait_until(lambda: window.session.data_match_plan)
    settle(window)


def test_what_is_no_protocol_is_explained_below_the_field(window: MainWindow) -> None:
    field, before = (
        window.sections.select.method.form.field("protocol"),
        window.session.dataset,
    )
    write(field, "by the moon")
    assert field.error.text().startswith('folds: expected "given", "5-fold"')
    assert field.error.text().endswith("got 'by the moon'.")
    assert window.session.plan.protocol == "given"
    window.commands["run"].trigger()
    turn(0.05)
    assert window.runs.records == ()
    assert window.session.dataset is before
    write(field, "given")
    assert field.error.text() == ""


def test_data_that_cannot_be_divided_so_are_a_sentence(window: MainWindow) -> None:
    field, before = (
        window.sections.select.method.form.field("protocol"),
        window.session.dataset,
    )
    write(field, "500-fold")
    wait_until(lambda: field.has_error)
    assert window.session.dataset is before
    assert window.notice.text() == field.error.text()
    assert "500" in field.error.text()
    assert not window.commands["run"].isEnabled()
    window.session.change("something else", seed=0, measures=("MAP",))
    turn(0.05)
    assert not window.models.loader.busy  # it is not tried again and again
    assert field.has_error
    window.commands["undo"].trigger()
    window.commands["undo"].trigger()
    assert window.session.plan.protocol == "given"
    assert not field.has_error
    assert window.notice.text() == ""
    assert window.commands["run"].isEnabled()
    settle(window)


def test_a_protocol_comes_back_with_its_runs(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    with open_window(theme, tmp_path / "config", folds) as window:
        divide(window, "3-fold")
        finish(window)
        session, before = str(window.models.study_store.path), window.runs.records[0]
    with open_window(theme, tmp_path / "other", folds) as window:
        window.open_path(session)
        wait_until(
            lambda: window.runs.records and window.runs.records[0].recorded is None
        )
        assert window.session.plan.protocol == "3-fold"
        assert window.session.dataset is window.runs.records[0].dataset
        assert len(window.session.dataset.folds) == 3
        assert set(window.runs.records[0].folds) == set(before.folds)
        settle(window)
