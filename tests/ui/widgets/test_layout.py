"""Widgets that take the place of others in a scrolling area."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea, QVBoxLayout, QWidget

from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.widgets.layout import fill, show_in


class Painted(QObject):
    """Counts labels that are painted, and keeps those that are painted with less height than they need."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.squeezed = 0, []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.Paint and isinstance(watched, QLabel):
            self.count += 1
            if watched.height() < watched.heightForWidth(watched.width()):
                self.squeezed.append(watched.text())
        return False


def test_no_label_is_painted_before_it_has_its_height(
    stage: object, app: QApplication
) -> None:
    area = QScrollArea()
    area.setWidgetResizable(True)
    stage(area, 200, 120)
    painted = Painted()
    app.installEventFilter(painted)
    try:
        for n_labels in (1, 6, 2, 9):
            page = QWidget()
            labels = [
                PlainLabel(f"{n} more words than a line of it has room for", wraps=True)
                for n in range(n_labels)
            ]
            fill(QVBoxLayout(page), *labels, 1)
            show_in(area, page)
            before = painted.count
            for _ in range(5):
                app.processEvents()
            assert painted.count > before
            assert painted.squeezed == []
    finally:
        app.removeEventFilter(painted)
