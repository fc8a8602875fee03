"""Whole scenarios at both ends of a session: opening data, and what is there at the next start."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from hands import drop
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QSplitter
from waiting import wait_until
from windows import Opened, press_keys, settle, write_folds
from wording import naming

from rankstudio.engine.data import folders
from rankstudio.engine.errors import Cancelled
from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.engine.experiment.plan.toml import save_plan
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme

# Opening


def test_an_empty_start_offers_three_ways_to_begin(empty: MainWindow) -> None:
    assert empty.welcome.isVisible()
    assert not empty.workspace.isVisible()
    assert not empty.commands["run"].isEnabled()
    assert empty.windowTitle() == "RankStudio"


def test_a_folder_dropped_opens_with_its_folds(empty: MainWindow, folds: Path) -> None:
    drop(empty, folds)
    wait_until(empty.workspace.isVisible)
    dataset = empty.session.dataset
    assert [fold.number for fold in dataset.folds] == [1, 2]
    assert empty.session.fold == 1
    assert empty.windowTitle() == "Small – RankStudio"
    wait_until(empty.loading.isHidden)
    assert Settings(empty._settings.folder).recent == (str(folds),)
    wait_until(lambda: empty.sections.data.panel.has_summary(1))


def test_the_parts_of_a_fold_dropped_together_open_as_one(
    empty: MainWindow, folds: Path
) -> None:
    drop(empty, *sorted((folds / "Fold2").iterdir()))
    wait_until(lambda: empty.session.dataset is not None)
    [fold] = empty.session.dataset.folds
    assert (fold.number, list(fold.parts)) == (2, ["train", "vali", "test"])
    drop(empty, folds / "Fold1" / "train.txt", folds / "Fold2" / "test.txt")
    assert naming("fold parts").search(empty.notice.text())
    settle(empty)


def test_the_sample_opens_from_the_welcome_page(empty: MainWindow) -> None:
    button = next(b for b in empty.welcome.findChildren(type(empty.toolbar.measure_button))
                  if b.objectName() == "welcome-sample")  # fmt: skip
    button.click()
    wait_until(lambda: empty.session.dataset is not None)
    assert empty.session.plan.data == SAMPLE
    assert empty._settings.recent == ()


def test_a_bad_file_leaves_everything_as_it_is(
    window: MainWindow, tmp_path: Path
) -> None:
    before, plan = window.session.dataset, window.session.plan
    bad = tmp_path / "bad.txt"
    bad.write_text("2 qid:1 1:0.5\n1 qid:1 1:abc\n")
    window.open_path(str(bad))
    wait_until(window.notice.text)
    assert naming("bad.txt 2").search(window.notice.text())
    assert "abc" in window.notice.text()
    assert window.notice.newest.accessibleName().startswith("error: ")
    assert window.session.dataset is before
    assert window.session.plan == plan
    assert window.loading.isHidden()
    assert window.commands["run"].isEnabled()
    assert str(bad) not in window._settings.recent


def test_the_datasets_of_a_folder_are_offered_by_buttons(
    empty: MainWindow, tmp_path: Path
) -> None:
    places = [write_folds(tmp_path / name, 1) for name in ("Raw", "Scaled")]
    empty.open_path(str(tmp_path))
    wait_until(lambda: empty.notice.newest)
    buttons = {
        button.text(): button
        for button in empty.notice.newest.findChildren(QPushButton)
    }
    assert [*buttons] == ["Raw", "Scaled"]
    buttons["Scaled"].click()
    wait_until(lambda: empty.session.dataset is not None)
    assert Path(empty.session.plan.data) == places[1]
    assert empty.notice.text() == ""


def test_loading_can_be_cancelled(
    window: MainWindow, folds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = threading.Event()

    def endless(path, *, cancelled, progress, **_):  # type: ignore[no-untyped-def]
        progress(30, 100)
        while not cancelled():
            reading.set()
        raise Cancelled("Opening")

    monkeypatch.setattr(folders, "open_dataset", endless)
    before = window.session.dataset
    window.open_path(str(folds / "Fold1"))
    wait_until(lambda: reading.is_set() and window.loading.isVisible())
    window.commands["stop"].trigger()
    wait_until(window.loading.isHidden)
    assert window.session.dataset is before
    assert window.notice.text() == ""


def test_a_plan_opens_with_its_data(
    empty: MainWindow, window: MainWindow, tmp_path: Path
) -> None:
    window.session.toggle("pinned", 2)
    save_plan(window.session.plan, tmp_path / "plan.toml")
    empty.open_path(str(tmp_path / "plan.toml"))
    wait_until(lambda: empty.session.dataset is not None)
    assert empty.session.plan == window.session.plan
    assert empty.sections.select.method.form.values()["pinned"] == (2,)


# State


def test_the_study_comes_back_at_the_next_start(
    opened: Opened, theme: Theme, tmp_path: Path, folds: Path
) -> None:
    config = tmp_path / "config"
    with opened(folds) as window:
        window.session.toggle("banned", 3)
        window.resize(960, 600)
        window.workspace.show_page("data")
        beside = window.findChild(QSplitter, "data-page")
        QApplication.processEvents()
        beside.setSizes([350, 500])
        sizes, plan = beside.sizes(), window.session.plan
        theme.set_mode("dark")
    assert Settings(config).theme == "dark"
    with opened() as window:
        window.open_controller.restore()
        wait_until(lambda: window.session.dataset is not None)
        assert window.session.plan == plan
        assert window.sections.select.method.form.values()["banned"] == (3,)
        QApplication.processEvents()
        assert window.workspace.page == "data"
        assert window.findChild(QSplitter, "data-page").sizes()[0] == sizes[0] == 350


def test_the_study_comes_back_after_the_process_was_killed(
    opened: Opened, window: MainWindow, tmp_path: Path, folds: Path
) -> None:
    window.session.toggle("banned", 3)
    wait_until(lambda: Settings(tmp_path / "config").plan == window.session.plan)
    # not only set
    wait_until(lambda: "[study]" in (tmp_path / "config" / "window.ini").read_text())
    # as they are while the window is open
    shutil.copytree(tmp_path / "config", tmp_path / "killed")
    with opened(config="killed") as again:
        again.open_controller.restore()
        wait_until(lambda: again.session.dataset is not None)
        assert again.session.plan == window.session.plan
        settle(again)


def test_data_that_are_gone_at_the_next_start_are_named(
    opened: Opened, tmp_path: Path
) -> None:
    data = write_folds(tmp_path / "Gone", 1)
    with opened(data):
        pass
    data.rename(tmp_path / "Elsewhere")
    with opened() as window:
        window.open_controller.restore()
        assert naming("Gone").search(window.notice.text())
        assert window.welcome.isVisible()


def test_shortcuts_reach_the_commands(window: MainWindow) -> None:
    window.activateWindow()
    window.workspace.setFocus()
    wait_until(window.isActiveWindow)
    press_keys(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    wait_until(lambda: window.runs.records)
    wait_until(lambda: not window.runs.busy)
    window.activateWindow()
    wait_until(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_F1)
    assert window.help.guide.isVisible()
    assert window.help.guide._browser.toPlainText().startswith("Run a first selection")
    window.help.guide.close()
    settle(window)


def test_every_control_of_the_toolbar_has_a_name_and_a_tooltip(
    window: MainWindow,
) -> None:
    buttons = window.toolbar.findChildren(type(window.toolbar.measure_button))
    named = [b for b in buttons if b.objectName()]
    assert len(named) >= 10
    for button in named:
        assert button.accessibleName() or button.text(), button.objectName()
        assert button.toolTip(), button.objectName()
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus, button.objectName()


def test_how_files_are_read_is_chosen_in_the_menu_and_reads_them_again(
    empty: MainWindow, tmp_path: Path
) -> None:
    file = tmp_path / "nulls.txt"
    lines = [
        f"{r % 3} qid:{r // 4} 1:{'NULL' if r % 5 == 0 else 2 + r % 4} 2:{r}"
        for r in range(40)
    ]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    window = empty
    window.open_path(str(file))
    wait_until(lambda: window.session.dataset is not None)
    assert window.session.dataset.folds[0].train.X[:, 0].min() == 2
    menus = window.commands.submenus

    def choose(name: str, key: str) -> None:
        before = window.session.dataset
        next(a for a in menus[name].actions() if a.data() == key).trigger()
        wait_until(
            lambda: (
                window.session.dataset is not before and not window.models.loader.busy
            )
        )

    choose("missing", "zero")
    assert window.session.plan.missing == "zero"
    assert window.session.dataset.folds[0].train.X[:, 0].min() == 0
    choose("normalize", "query_minmax")
    assert window.session.plan.normalize == "query_minmax"
    assert window.session.dataset.folds[0].train.X.max() == 1
    assert "scaled" in window.sections.data.panel.caption()
    kept = window.session.dataset
    next(a for a in menus["missing"].actions() if a.data() == "refuse").trigger()
    wait_until(lambda: not window.models.loader.busy)
    assert window.session.dataset is kept
    assert window.session.plan.missing == "zero"
    assert "NULL" in window.notice.text()
    checked = [a.data() for a in menus["missing"].actions() if a.isChecked()]
    assert checked == ["zero"]
