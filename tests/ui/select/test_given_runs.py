"""Models and scores of files in the window: opened or dropped, named, a run that every page shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compare_page import run_with
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QPushButton,
)
from waiting import wait_until
from windows import open_window, pages_present, settle
from wording import naming

from rankstudio.engine.experiment.plan.given_files import GivenRanking
from rankstudio.engine.experiment.reports import write_results
from rankstudio.engine.export.models import load_model
from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.ui.export.items import _portable_model
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.page.page import Page
from rankstudio.ui.select.given_runs import GivenDialog, model_sources, scores_path
from rankstudio.ui.style.theme import Theme

prepare = settle


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
    entered = QDragEnterEvent(
        QPoint(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, none
    )
    QApplication.sendEvent(window, entered)
    assert entered.isAccepted()
    event = QDropEvent(
        QPointF(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, none
    )
    QApplication.sendEvent(window, event)


def _second(window: MainWindow) -> None:
    wait_until(lambda: len(window.runs.records) == 2 and not window.runs.busy)


@pytest.mark.thorough
def test_a_study_brings_it_back(window: MainWindow, tmp_path: Path) -> None:
    window.study_files.save_as(str(tmp_path / "s.rankstudio"))
    wait_until(lambda: window.models.study_store.path == tmp_path / "s.rankstudio")
    place = _results(window, tmp_path / "former")
    window.given_models.read(place / "models", "former")
    _second(window)
    window.study_files.new()
    wait_until(lambda: not window.runs.records)
    for file in (place / "models").iterdir():
        file.unlink()
    window.study_files.open(str(tmp_path / "s.rankstudio"))
    wait_until(lambda: len(window.runs.records) == 2)
    look_at(window.session, window.runs, window.runs.records[1])
    (page,) = pages_present(window, "queries") or ["compare"]
    window.workspace.show_page(page)
    settle(window)
    assert window.runs.records[1].plan.title == "former (model)"


def test_a_model_needs_open_data(theme: Theme, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text("{}")
    with open_window(theme, tmp_path / "config") as window:
        assert not window.commands["open_model"].isEnabled()
        _drop(window, tmp_path / "m.json")
        wait_until(window.notice.isVisible)
        assert naming("model").search(window.notice.text())


def test_models_dropped_are_a_run_that_every_page_shows(
    ran: MainWindow, tmp_path: Path
) -> None:
    _drop(ran, _results(ran, tmp_path / "former"))
    dialog = _dialog(ran)
    name = dialog.findChild(QLineEdit, "given-name")
    assert name is not None and name.text() == "former"
    name.setText("our model of May")
    button = dialog.findChild(QPushButton, "given-accept")
    assert button is not None
    button.click()
    _second(ran)
    first, record = ran.runs.records
    assert record.plan.title == "our model of May (model)"
    assert record.result is not None and first.result is not None
    assert record.result.average == pytest.approx(first.result.average, abs=1e-12)
    assert [fold.selected for fold in record.result.folds] == [
        f.selected for f in first.result.folds
    ]
    look_at(ran.session, ran.runs, record)
    for page in pages_present(
        ran, "select", "features", "compare", "queries", "report"
    ):
        ran.workspace.show_page(page)
        settle(ran)
    assert not ran.notice.isVisible()
    queries = ran.sections.find("queries")  # its folder may be absent
    wait_until(
        lambda: (
            queries is None or "read from files" in queries.ablation.table.placeholder
        )
    )
    form = ran.sections.select.method.form
    ran.workspace.show_page("select")
    assert (
        not form.field("select_by").isVisible() and not form.field("rule").isVisible()
    )
    ran.session.change("another method", method="rankrls", parameters={})
    assert (
        ran.session.plan.extension(GivenRanking) is None
        and form.field("rule").isVisible()
    )


def test_one_of_the_folds_models_stands_for_all_or_ranks_in_all(
    ran: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _results(ran, tmp_path) / "models" / "fold1.json"
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(path)], ""))
    ran.commands["open_model"].trigger()
    dialog = _dialog(ran)
    box = dialog.findChild(QComboBox, "given-place")
    assert box is not None and box.count() == 2 and dialog.source() == path.parent
    box.setCurrentIndex(1)
    assert dialog.source() == path and dialog.run_name() == "fold1"
    dialog.accept()
    _second(ran)
    assert naming("fold1").search(ran.notice.text()) and ran.notice.isVisible()
    row = ran.sections.compare.panel.rows()[1]
    assert "200 of the 250 queries" in row.note or naming("fold1").search(row.note)
    ran.commands["open_model"].trigger()
    dialog = _dialog(ran)
    dialog.name.setText(" ")
    button = dialog.findChild(QPushButton, "given-accept")
    assert button is not None and not button.isEnabled()
    dialog.reject()


def test_which_models_files_stand_for(tmp_path: Path) -> None:
    for name in ("fold1.json", "fold2.json", "other.json"):
        (tmp_path / name).write_text("{}")
    one, two, other = (
        tmp_path / name for name in ("fold1.json", "fold2.json", "other.json")
    )
    assert [place for place, _ in model_sources([one])] == [tmp_path, one]
    assert [place for place, _ in model_sources([one, two])] == [tmp_path]
    assert [place for place, _ in model_sources([other])] == [other]
    assert [place for place, _ in model_sources([tmp_path])] == [tmp_path]


def test_what_is_no_model_is_said(ran: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "wrong.json").write_text("{}")
    _drop(ran, tmp_path / "wrong.json")
    _dialog(ran).accept()
    wait_until(ran.notice.isVisible)
    assert naming("wrong.json RankStudio").search(ran.notice.text())
    assert not ran.runs.records


def test_it_can_be_exported_saying_where_it_comes_from(
    ran: MainWindow, tmp_path: Path
) -> None:
    ran.given_models.read(
        _results(ran, tmp_path / "former") / "models" / "fold1.json", "former"
    )
    _second(ran)
    look_at(ran.session, ran.runs, ran.runs.records[1])
    ran.session.show_fold(2)
    wait_until(lambda: ran.current.model is not None and ran.current.test)
    model = ran.current.model
    assert model is not None
    portable = _portable_model(ran.session, ran.current, model)
    assert (
        "fold" not in portable.origin and portable.origin["given"]["name"] == "former"
    )
    own = load_model(tmp_path / "former" / "models" / "fold1.json")
    assert portable.features == own.features


def test_several_other_files_are_refused(ran: MainWindow, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{}")
    _drop(ran, tmp_path / "a.json", tmp_path / "b.json")
    wait_until(ran.notice.isVisible)
    assert naming("2 fold1.json").search(ran.notice.text())


@pytest.mark.thorough
def test_scores_become_a_run_that_every_page_shows(
    ran: MainWindow, tmp_path: Path
) -> None:
    run_with(ran)
    dataset = ran.session.dataset
    assert dataset is not None
    rng = np.random.default_rng(0)
    expected = []
    for fold in dataset.folds:
        place = tmp_path / "neural" / f"Fold{fold.number}"
        place.mkdir(parents=True)
        assert fold.test is not None
        scores = rng.normal(size=fold.test.n_documents)
        np.savetxt(place / "test.scores", scores, fmt="%.17g")
        expected.append(
            evaluate(fold.test.y, scores, fold.test.qid, measures=["MAP"])["MAP"]
        )
    ran.given_scores.read(scores_path(place / "test.scores"))
    wait_until(lambda: len(ran.runs.records) == 2 and not ran.runs.busy)
    record = ran.runs.records[1]
    assert record.plan.title == "neural (given scores)"
    assert record.result is not None and record.result.average["MAP"] == pytest.approx(
        np.mean(expected)
    )
    look_at(ran.session, ran.runs, record)
    for page in pages_present(
        ran, "select", "features", "compare", "queries", "report"
    ):
        ran.workspace.show_page(page)
        settle(ran)
    features_panel = pytest.importorskip(
        "rankstudio.plugins.features.window.features_panel"
    )
    (path, *_) = ran.workspace.findChildren(features_panel.FeaturesPanel)
    assert naming("features path").search(path.table.placeholder)
    ran.session.change("another method", method="rankrls", parameters={})
    assert ran.session.plan.extension(GivenRanking) is None


def test_the_order_of_the_file_becomes_a_run(ran: MainWindow) -> None:
    ran.commands["add_order"].trigger()
    wait_until(lambda: bool(ran.runs.records) and not ran.runs.busy)
    assert ran.runs.records[0].plan.title == "Given order"
    assert ran.runs.records[0].result is not None


def test_the_name_is_asked_for(
    ran: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = ran.session.dataset
    assert dataset is not None
    m = sum(fold.test.n_documents for fold in dataset.folds if fold.test is not None)
    path = tmp_path / "bm25.scores"
    path.write_text("".join(f"{i}\n" for i in range(m)))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    ran.commands["add_scores"].trigger()
    (dialog,) = ran.findChildren(GivenDialog)
    assert dialog.run_name() == "bm25"
    dialog.name.setText(" BM25,  as  indexed ")
    dialog.accept()
    wait_until(lambda: bool(ran.runs.records) and not ran.runs.busy)
    assert ran.runs.records[0].plan.title == "BM25, as indexed (given scores)"


def test_what_does_not_fit_is_said(ran: MainWindow, tmp_path: Path) -> None:
    said: list[str] = []
    ran.given_scores.failed.connect(said.append)
    (tmp_path / "short.txt").write_text("1\n")
    ran.given_scores.read(tmp_path / "short.txt")
    wait_until(lambda: bool(said))
    assert naming("score document").search(said[0]) and not ran.runs.records


def test_a_path_that_was_hidden_is_shown_beside_one_in_its_own_window(
    ran: MainWindow,
) -> None:
    """Another path in sight must not keep that of Select from following when it comes back."""
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    run_with(ran)
    ran.commands["add_order"].trigger()
    wait_until(lambda: len(ran.runs.records) == 2 and not ran.runs.busy)
    learned, given = ran.runs.records
    ran.workspace.show_page("features")
    own, other = ran.sections.features.path, ran.sections.features.features
    ran.findChild(Page, "features-page").pop_out(own)
    look_at(ran.session, ran.runs, given)
    ran.workspace.show_page("select")
    settle(ran)
    assert own.isVisible() and not other.isVisible()
    look_at(ran.session, ran.runs, learned)
    settle(ran)
    assert own.isVisible() and other.isVisible()
    assert (
        [row.feature_id for row in other.table.rows()]
        == [row.feature_id for row in own.table.rows()]
        != []
    )
