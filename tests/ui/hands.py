"""What a user's hands do to fields, plots and windows, and what the eyes read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl, qVersion
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from waiting import wait_until

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.widgets.panel import Disclosure


def type_into(field, text):
    """Write over what stands in a line, and press Enter."""
    field.editor.setFocus()
    field.editor.selectAll()
    QTest.keyClicks(field.editor, text)
    QTest.keyClick(field.editor, Qt.Key.Key_Return)


def unfold(form):
    """Open what is folded under "More options", and return it."""
    folded = [
        fold
        for fold in form.findChildren(Disclosure)
        if fold.isVisible() and not fold.opened
    ]
    for fold in folded:
        QTest.mouseClick(fold.button, Qt.MouseButton.LeftButton)
    return folded


def pick(form, name, key):
    """Choose as a user does, from the field's box."""
    box = form.field(name).editor
    box.setCurrentIndex(box.findData(key))
    box.activated.emit(box.currentIndex())


def write(field, text):
    """Write over what stands in a box that takes any text."""
    field.editor.setFocus()
    line = field.editor.lineEdit()
    line.selectAll()
    QTest.keyClicks(line, text)
    QTest.keyClick(line, Qt.Key.Key_Return)


def fact_texts(facts):
    """Return keys and values of a grid of facts as they are shown, notes included."""
    grid = facts._grid
    cells = [
        [grid.itemAtPosition(i, column) for column in (0, 1)]
        for i in range(grid.rowCount())
    ]
    rows = [[item.widget() for item in row] for row in cells if all(row)]
    return [
        (key.text(), "".join(part.text() for part in value.findChildren(QLabel)))
        for key, value in rows
    ]


def fill_in(form: Any, **values: object) -> None:
    """Type into fields, by the names of their parameters."""
    for name, value in values.items():
        type_into(form.field(name), str(value))


def press(button: object) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def simulate(form: Any, **values: object) -> None:
    """Type into fields, press Start, and wait until all is simulated and shown."""
    fill_in(form, **values)
    press(form.start)
    wait_until(lambda: form.status.text() == "done")


def pixel(plot, key, k):
    return plot.frame().point(k, plot.family[key].value_at(k))


def send(plot, kind, at, button=Qt.MouseButton.LeftButton, held=None):
    held = button if held is None else held
    where = plot.viewport().mapToGlobal(at.toPoint()).toPointF()
    event = QMouseEvent(kind, at, where, button, held, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(plot.viewport(), event)


def choose_on_curve(window: MainWindow, key: object, k: int) -> None:
    """Inspect a point of a curve of the Select page, and choose it."""
    window.sections.select.curves.picked.emit(key, k)
    window.sections.select.curves.confirmed.emit()


def click(plot, at):
    """Click into a plot at a pixel, with the mouse."""
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())


def double_click(plot, at):
    """Click into a plot twice in a row, as the window system tells of it."""
    click(plot, at)
    QTest.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())


def row_at(table, number):
    """Return the middle of a row of a table, in sight, in pixels of its viewport."""
    index = table.model().index(number, 2)
    table.scrollTo(index)
    return table.visualRect(index).center()


def click_row(table, number, *, twice=False):
    """Click on a row of a table with the mouse, or twice in a row."""
    at = row_at(table, number)
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    if twice:
        QTest.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)


def ys(window: MainWindow, key: object, plot: str = "validation") -> np.ndarray:
    """Return the values of a curve as they are drawn."""
    return np.asarray(window.sections.select.curves.plots()[plot].family[key].ys)


def drop(window: QWidget, *paths: Path) -> None:
    """Drag files over a window, and let go."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    rest = (
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    # which warns of whole numbers
    newer = tuple(map(int, qVersion().split("."))) >= (6, 12)
    place = QPointF(9, 9) if newer else QPoint(9, 9)
    QApplication.sendEvent(window, QDragEnterEvent(place, *rest))
    QApplication.sendEvent(window, QDropEvent(QPointF(9, 9), *rest))
