"""Everything that a window says."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QTableView,
    QWidget,
)


def texts(window: QWidget) -> Iterator[str]:
    """Yield everything that the widgets of a window say."""
    for widget in (window, *window.findChildren(QWidget)):
        yield from (
            widget.toolTip(),
            widget.accessibleName(),
            widget.windowTitle(),
            widget.statusTip(),
        )
        match widget:
            case QLabel() | QAbstractButton():
                yield widget.text()
            case QGroupBox():
                yield widget.title()
            case QLineEdit():
                yield widget.placeholderText()
            case QComboBox():
                yield from (widget.itemText(i) for i in range(widget.count()))
            case QTableView() if widget.model() is not None:
                model = widget.model()
                for section in range(model.columnCount()):
                    for role in (
                        Qt.ItemDataRole.DisplayRole,
                        Qt.ItemDataRole.ToolTipRole,
                    ):
                        yield str(
                            model.headerData(section, Qt.Orientation.Horizontal, role)
                            or ""
                        )
        if hasattr(widget, "placeholder"):
            yield str(widget.placeholder)
    for action in window.findChildren(QAction):
        yield from (action.text(), action.toolTip(), action.statusTip())
