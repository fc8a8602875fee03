"""The dialog of figures: a preview that follows, what is copied, and files as of the terminal."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QToolButton
from waiting import wait_until
from windows import finish, open_window, settle, write_folds

from rankstudio.cli import main
from rankstudio.engine.export.figures.style import style_of
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    MapFigure,
    Series,
)
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.export.figure_dialog import FigureDialog
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.plots import Plot
from rankstudio.ui.plots.base import LABELS
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Question


def figures() -> tuple[CurvesFigure | MapFigure, ...]:
    line = Series("λ = 1", (1.0, 2.0), (0.4, 0.5))
    axes = FigureAxis("k", whole=True), FigureAxis("validation MAP")
    cells = ((0.1, 0.2),)
    return (
        CurvesFigure("data-curves", "Curves", "Data: λ.", *axes, (line,)),
        MapFigure(
            "data-map",
            "Map",
            "Cells.",
            ("1",),
            ("1", "2"),
            cells,
            "λ",
            "k",
            FigureAxis("MAP"),
        ),
    )


@pytest.fixture
def dialog(app, theme, tmp_path):
    worker = Worker("figures")
    made = FigureDialog(figures(), tmp_path, worker)
    made.show()
    yield made
    made.close()
    worker.close()
    made.deleteLater()


def test_the_preview_follows_width_text_and_colours(dialog):
    wait_until(lambda: not dialog.preview.pixmap().isNull())
    seen = [dialog.preview.pixmap().toImage()]
    for change in (
        lambda: dialog.width_box.setCurrentIndex(2),
        lambda: dialog.font_size.setValue(30.0),
        lambda: dialog.colors.select("print") or dialog.colors.chosen.emit("print"),
        lambda: dialog.figure_box.setCurrentIndex(1),
    ):
        change()
        wait_until(lambda: dialog.preview.pixmap().toImage() != seen[-1])
        seen.append(dialog.preview.pixmap().toImage())
    assert dialog.style_chosen.font == 30.0
    assert dialog.style_chosen.width == pytest.approx(254 / 25.4 * 72)
    assert [
        dialog.format_box.itemData(i) for i in range(dialog.format_box.count())
    ] == [*LABELS]
    dialog.width_box.setCurrentIndex(4)
    dialog.millimetres.setValue(120.0)
    assert dialog.style_chosen.width == pytest.approx(120 / 25.4 * 72)


def test_the_clipboard_has_picture_and_caption(dialog):
    dialog.caption.setPlainText("Mine.")
    dialog.copy_button.click()
    wait_until(lambda: "copied" in dialog.message.text())
    data = QGuiApplication.clipboard().mimeData()
    assert data.text() == "Curves\n\nMine.\n"
    assert QGuiApplication.clipboard().image().width() == 1003
    assert b"validation MAP" in bytes(data.data("image/svg+xml").data())


def test_a_figure_is_saved_with_its_caption_and_errors_are_said(
    dialog, tmp_path, monkeypatch
):
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "mine"), "")
    )
    dialog.save_button.click()
    wait_until(lambda: "Written" in dialog.message.text())
    assert (tmp_path / "mine.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "Curves\n\nData: λ.\n"
    dialog.width_box.setCurrentIndex(1)
    before = (tmp_path / "mine.pdf").read_bytes()
    dialog.save_button.click()
    assert "already exists" in dialog.message.text()
    assert (tmp_path / "mine.pdf").read_bytes() == before
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "no" / "a.pdf"), "")
    )
    dialog.save_button.click()
    wait_until(lambda: "could not be written" in dialog.message.text())
    assert dialog.isVisible()


def test_a_closed_dialog_shows_nothing_that_is_painted_later(dialog):
    wait_until(lambda: not dialog.preview.pixmap().isNull())
    dialog.copy_button.click()
    dialog.close()
    QGuiApplication.clipboard().setText("before")
    wait_until(lambda: not dialog._worker.jobs)
    assert QGuiApplication.clipboard().text() == "before"


def test_a_dialog_that_goes_takes_its_painting_along(app, theme, tmp_path):
    """What was painted came to a preview that was gone: "C++ object already deleted"."""
    worker, may_paint = Worker("figures"), threading.Event()
    worker.task("Waiting", may_paint.wait)
    for is_closed in (True, False):
        made = FigureDialog(figures(), tmp_path, worker)
        made.show()
        made._draw()
        made.copy_button.click()
        made.paint("all", lambda: None, lambda _, made=made: made.say("all"))
        made.millimetres.setValue(100.0)  # which is painted in a moment
        if is_closed:
            made.close()
            assert not made._draw_timer.isActive()
        shiboken6.delete(made)
    may_paint.set()
    wait_until(lambda: not worker.jobs)
    worker.close()


@pytest.mark.ability("features")
def test_every_plot_of_the_window_can_be_printed(
    window: MainWindow, tmp_path: Path, monkeypatch
) -> None:
    finish(window)
    shown: list[str] = []
    monkeypatch.setattr(
        FigureDialog, "exec", lambda self: shown.append(self.figure.title)
    )
    window.commands["figures"].trigger()
    assert shown
    plots = [plot for plot in window.findChildren(Plot) if not plot.is_empty()]
    # candidates, criterion, validation; the inspector's may still be on its way
    assert len(plots) >= 3
    for plot in plots:
        figure = plot.figure()
        assert not figure.empty
        assert figure.table()[1]
    validation = window.sections.select.curves.validation_plot
    alone = window.findChild(Plot, "alone-plot")
    window.workspace.show_page("data")
    wait_until(lambda: not alone.is_empty())
    alone.figureAsked.emit()
    assert shown[-1].startswith("Single features")
    window.workspace.show_page("select")
    validation.figureAsked.emit()
    assert shown[-1].endswith(validation.axes.title)
    button = window.sections.select.curves.findChild(QToolButton, "figure-button")
    assert button.isVisible()
    button.click()
    assert shown[-1].endswith(window.sections.select.curves.criterion_plot.axes.title)
    dialog = window.export_controller.figure_dialog(validation)
    assert dialog is not None
    assert (
        "Greedy RankRLS" in dialog.figure.caption
        and "RankStudio" in dialog.figure.caption
    )
    dialog.deleteLater()


@pytest.mark.thorough
def test_all_figures_of_the_study_are_those_of_the_terminal(
    theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))
    monkeypatch.setattr(Question, "ask", lambda *_: True)
    here, there = tmp_path / "window", tmp_path / "terminal"
    with open_window(
        theme, tmp_path / "config", write_folds(tmp_path / "Small")
    ) as window:
        finish(window)
        settle(window)
        study = window.models.study_store.path
        assert study is not None
        dialog = window.export_controller.figure_dialog()
        assert dialog is not None
        for name in ("png", "pdf"):
            dialog.say("")
            style = style_of("page", colors="print")
            window.export_controller.save_all(dialog, style, name, 100.0, here)
            wait_until(lambda: "figures are in" in dialog.message.text())
        dialog.deleteLater()
    asked = [
        "--width",
        "page",
        "--colors",
        "print",
        "--to",
        "png,pdf",
        "--dpi",
        "100",
        "--out",
        str(there),
    ]
    assert main(["figures", str(study), *asked]) == 0
    files = sorted(path.name for path in there.iterdir())
    assert files == sorted(path.name for path in here.iterdir())
    for name in files:
        assert (here / name).read_bytes() == (there / name).read_bytes(), name
