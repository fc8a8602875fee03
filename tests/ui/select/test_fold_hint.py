"""Scenarios of data without a validation or test part: the window says where folds are chosen."""

from __future__ import annotations

from pathlib import Path

import pytest
from hands import write
from PySide6.QtWidgets import QPushButton
from waiting import wait_until
from windows import finish, open_window, settle, write_folds
from wording import naming

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Notice

SAID = "has neither a validation part nor a test part. Choose folds in the form, for example 5-fold."


@pytest.fixture
def one_file(tmp_path: Path) -> Path:
    """All there is of some data: a training part."""
    return write_folds(tmp_path / "Small", 1) / "Fold1" / "train.txt"


def _hints(window: MainWindow) -> list[Notice]:
    views = window.sections.compare.views
    return [window.sections.select.curves.hint, views.tests.hint, views.folds.hint]


def _press(bar: Notice) -> None:
    button = bar.findChild(QPushButton, "notice-action")
    assert button is not None
    button.click()


def test_data_of_one_file_lead_to_the_field_of_folds(
    theme: Theme, tmp_path: Path, one_file: Path
) -> None:
    with open_window(theme, tmp_path / "config", one_file) as window:
        assert all(SAID in bar.text() for bar in _hints(window))
        assert window.session.plan.select_by == "criterion"
        field = window.sections.select.method.form.field("protocol")
        for bar in _hints(window):
            window.workspace.show_page("compare")
            _press(bar)
            assert window.workspace.page == "select"
            wait_until(field.editor.view().isVisible)  # the usual folds are listed
            field.editor.hidePopup()
        write(field, "5-fold")
        assert not any(bar.text() for bar in _hints(window))
        # there is a part to choose by now
        assert window.session.plan.select_by == "MAP"
        wait_until(
            lambda: (
                len(window.session.dataset.folds) == 5 and not window.models.loader.busy
            )
        )  # type: ignore[union-attr]
        assert not any(bar.text() for bar in _hints(window))
        window.commands["undo"].trigger()
        assert window.session.plan.select_by == "criterion"
        wait_until(lambda: all(SAID in bar.text() for bar in _hints(window)))
        settle(window)


def test_nothing_is_sealed_where_there_is_no_test_part(
    theme: Theme, tmp_path: Path, one_file: Path
) -> None:
    """Catches advice to open the seal of a test part that the data do not have."""
    with open_window(theme, tmp_path / "config", one_file) as window:
        window.session.seal(True)
        finish(window)
        settle(window)
        assert window.current.model is not None and window.current.untested == ""


def test_who_leaves_each_query_out_is_told_nothing(
    theme: Theme, tmp_path: Path, one_file: Path
) -> None:
    with open_window(theme, tmp_path / "config", one_file) as window:
        write(window.sections.select.method.form.field("protocol"), "leave-query-out")
        assert not any(bar.text() for bar in _hints(window))
        assert window.session.plan.select_by == "criterion"
        wait_until(
            lambda: window.session.data_match_plan and not window.models.loader.busy
        )
        settle(window)


def test_opened_data_are_told_of_once_where_the_part_is_lacking(
    theme: Theme, tmp_path: Path, one_file: Path
) -> None:
    with open_window(theme, tmp_path / "config", tmp_path / "Small") as window:
        assert window.notice.text() == ""
        assert not any(bar.text() for bar in _hints(window))
        window.workspace.show_page("data")
        before = window.session.dataset
        window.open_path(str(one_file))
        wait_until(lambda: window.session.dataset is not before)
        assert window.notice.text() == ""
        assert all(SAID in bar.text() for bar in _hints(window))
        settle(window)


def test_a_hint_that_is_closed_stays_closed(
    theme: Theme, tmp_path: Path, one_file: Path
) -> None:
    with open_window(theme, tmp_path / "config", one_file) as window:
        bar = window.sections.select.curves.hint
        bar.dismiss()
        window.session.change("the seed", seed=3)
        assert bar.text() == ""
        settle(window)


def test_inner_folds_validate_and_only_the_test_part_is_lacking(
    theme: Theme, tmp_path: Path, one_file: Path
) -> None:
    with open_window(theme, tmp_path / "config", one_file) as window:
        write(window.sections.select.method.form.field("protocol"), "nested 3-fold")
        curves, tests, folds = _hints(window)
        assert curves.text() == ""
        assert tests.text() == folds.text()
        assert naming("test folds").search(tests.text())
        wait_until(
            lambda: window.session.data_match_plan and not window.models.loader.busy
        )
        settle(window)


def test_a_run_that_measured_nothing_is_shown_on_compare(
    theme: Theme, tmp_path: Path, one_file: Path
) -> None:
    with open_window(theme, tmp_path / "config", one_file) as window:
        finish(window)
        window.workspace.show_page("compare")
        for view in ("tests", "folds", "pareto"):
            window.sections.compare.views.show_view(view)
            settle(window)
        assert window.sections.compare.curves.plot.is_empty()
        assert window.notice.text() == ""


def test_who_comes_back_to_data_without_validation_chooses_by_the_criterion_again(
    theme: Theme, tmp_path: Path, one_file: Path
) -> None:
    with open_window(theme, tmp_path / "config", one_file) as window:
        field = window.sections.select.method.form.field("protocol")
        before = window.session.dataset
        write(field, "5-fold")
        wait_until(
            lambda: (
                window.session.dataset is not before and not window.models.loader.busy
            )
        )
        assert window.session.plan.select_by == "MAP"
        window.session.change("the rule", rule="one-se")
        write(field, "given")
        assert (window.session.plan.select_by, window.session.plan.rule) == (
            "criterion",
            "best",
        )
        wait_until(
            lambda: window.session.data_match_plan and not window.models.loader.busy
        )
        window.commands["undo"].trigger()
        assert (window.session.plan.select_by, window.session.plan.rule) == (
            "MAP",
            "one-se",
        )
        wait_until(
            lambda: window.session.data_match_plan and not window.models.loader.busy
        )
        settle(window)
