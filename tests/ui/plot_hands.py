"""The mouse on a plot of curves, and what is drawn there."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from rankstudio.ui.main_window import MainWindow


def pixel(plot, key, k):
    return plot.frame().point(k, plot.family[key].value_at(k))


def send(plot, kind, at, button=Qt.MouseButton.LeftButton, held=None):
    held = button if held is None else held
    where = plot.viewport().mapToGlobal(at.toPoint()).toPointF()
    event = QMouseEvent(kind, at, where, button, held, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(plot.viewport(), event)


def ys(window: MainWindow, key: object, plot: str = "validation") -> np.ndarray:
    """Return the values of a curve as they are drawn."""
    return np.asarray(window.sections.select.curves.plots()[plot].family[key].ys)
