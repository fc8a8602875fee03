"""Files that a user drops onto a window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl, qVersion
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget


def drop(window: QWidget, *paths: Path) -> None:
    """Drag files over a window, and let go."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    rest = Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    newer = tuple(map(int, qVersion().split("."))) >= (6, 12)  # which warns of whole numbers
    place = QPointF(9, 9) if newer else QPoint(9, 9)
    QApplication.sendEvent(window, QDragEnterEvent(place, *rest))
    QApplication.sendEvent(window, QDropEvent(QPointF(9, 9), *rest))
