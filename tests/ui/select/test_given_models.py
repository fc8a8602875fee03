"""Models of files in the window: opened by command or dropped, named, a run that every page shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from compare_page import run_with
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLineEdit, QPushButton
from waiting import wait_until
from windows import open_window, settle
from wording import naming

from rankstudio.engine.experiment.reports import write_results
from rankstudio.engine.export.models import load_model
from rankstudio.ui.export.items import _portable_model
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.select.given_runs import GivenDialog, model_sources
from rankstudio.ui.style.theme import Theme


def _results(window: MainWindow, folder: Path) -> Path:
    """Run the method of the form, and write its results."""
    run_with(window)
    result = window.runs.records[0].result
    assert result is not None
    write_results(result, folder)
    return folder


def _dialog(window: MainWindow) -> GivenDialog:
    wait_until(lambda: bool(window.findChildren(GivenDialog)))
    return window.findChildren(GivenDialog)[-1]


def _drop(window: MainWindow, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    none = Qt.KeyboardModifier.NoModifier
    entered = QDragEnterEvent(QPoint(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, none)
    QApplication.sendEvent(window, entered)
    assert entered.isAccepted()
    event = QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, none)
    QApplication.sendEvent(window, event)


def _second(window: MainWindow) -> None:
    wait_until(lambda: len(window.runs.records) == 2 and not window.runs.busy)


def test_models_dropped_are_a_run_that_every_page_shows(window: MainWindow, tmp_path: Path) -> None:
    _drop(window, _results(window, tmp_path / "former"))
    dialog = _dialog(window)
    name = dialog.findChild(QLineEdit, "given-name")
    assert name is not None and name.text() == "former"
    name.setText("our model of May")
    button = dialog.findChild(QPushButton, "given-accept")
    assert button is not None
    button.click()
    _second(window)
    first, record = window.runs.records
    assert record.plan.title == "our model of May (model)"
    assert record.result is not None and first.result is not None
    assert record.result.average == pytest.approx(first.result.average, abs=1e-12)
    assert [fold.selected for fold in record.result.folds] == [f.selected for f in first.result.folds]
    look_at(window.session, window.runs, record)
    for page in ("select", "features", "compare", "queries", "report"):
        window.workspace.show_page(page)
        settle(window)
    assert not window.notice.isVisible()
    queries = window.sections.queries
    wait_until(lambda: "read from files" in queries.ablation.table.placeholder)
    form = window.sections.method.form
    window.workspace.show_page("select")
    assert not form.field("select_by").isVisible() and not form.field("rule").isVisible()
    window.session.change("another method", method="rankrls", parameters={})
    assert not window.session.plan.scores and form.field("rule").isVisible()


def test_one_of_the_folds_models_stands_for_all_or_ranks_in_all(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _results(window, tmp_path) / "models" / "fold1.json"
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(path)], ""))
    window.commands["open_model"].trigger()
    dialog = _dialog(window)
    box = dialog.findChild(QComboBox, "given-place")
    assert box is not None and box.count() == 2 and dialog.source() == path.parent
    box.setCurrentIndex(1)
    assert dialog.source() == path and dialog.run_name() == "fold1"
    dialog.accept()
    _second(window)
    assert naming("fold1").search(window.notice.text()) and window.notice.isVisible()
    row = window.sections.compare.panel.rows()[1]
    assert "200 of the 250 queries" in row.note or naming("fold1").search(row.note)
    window.commands["open_model"].trigger()
    dialog = _dialog(window)
    dialog.name.setText(" ")
    button = dialog.findChild(QPushButton, "given-accept")
    assert button is not None and not button.isEnabled()
    dialog.reject()


def test_which_models_files_stand_for(tmp_path: Path) -> None:
    for name in ("fold1.json", "fold2.json", "other.json"):
        (tmp_path / name).write_text("{}")
    one, two, other = (tmp_path / name for name in ("fold1.json", "fold2.json", "other.json"))
    assert [place for place, _ in model_sources([one])] == [tmp_path, one]
    assert [place for place, _ in model_sources([one, two])] == [tmp_path]
    assert [place for place, _ in model_sources([other])] == [other]
    assert [place for place, _ in model_sources([tmp_path])] == [tmp_path]


def test_a_study_brings_it_back(window: MainWindow, tmp_path: Path) -> None:
    window.study_files.save_as(str(tmp_path / "s.rankstudio"))
    wait_until(lambda: window.models.study_store.path == tmp_path / "s.rankstudio")
    place = _results(window, tmp_path / "former")
    window.rankers.read(place / "models", "former")
    _second(window)
    window.study_files.new()
    wait_until(lambda: not window.runs.records)
    for file in (place / "models").iterdir():
        file.unlink()
    window.study_files.open(str(tmp_path / "s.rankstudio"))
    wait_until(lambda: len(window.runs.records) == 2)
    look_at(window.session, window.runs, window.runs.records[1])
    window.workspace.show_page("queries")
    settle(window)
    assert window.runs.records[1].plan.title == "former (model)"


def test_what_is_no_model_is_said(window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "wrong.json").write_text("{}")
    _drop(window, tmp_path / "wrong.json")
    _dialog(window).accept()
    wait_until(window.notice.isVisible)
    assert naming("wrong.json RankStudio").search(window.notice.text())
    assert not window.runs.records


def test_a_model_needs_open_data(theme: Theme, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text("{}")
    with open_window(theme, tmp_path / "config") as window:
        assert not window.commands["open_model"].isEnabled()
        _drop(window, tmp_path / "m.json")
        wait_until(window.notice.isVisible)
        assert naming("model").search(window.notice.text())


def test_it_can_be_exported_saying_where_it_comes_from(window: MainWindow, tmp_path: Path) -> None:
    window.rankers.read(_results(window, tmp_path / "former") / "models" / "fold1.json", "former")
    _second(window)
    look_at(window.session, window.runs, window.runs.records[1])
    window.session.look_at(2)
    wait_until(lambda: window.current.model is not None and window.current.test)
    model = window.current.model
    assert model is not None
    portable = _portable_model(window.session, window.current, model)
    assert "fold" not in portable.origin and portable.origin["given"]["name"] == "former"
    own = load_model(tmp_path / "former" / "models" / "fold1.json")
    assert portable.features == own.features


def test_several_other_files_are_refused(window: MainWindow, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{}")
    _drop(window, tmp_path / "a.json", tmp_path / "b.json")
    wait_until(window.notice.isVisible)
    assert naming("2 fold1.json").search(window.notice.text())
