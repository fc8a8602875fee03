"""A page of the window: panels between splitters, any of which can have the whole page."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from rankstudio.ui.process.settings import Settings
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import Panel
from rankstudio.ui.widgets.table import TableView

GAP = 8
"""Between panels, in logical pixels."""

_MOST = 1 << 16  # pixels: what is more was damaged


class Page(QWidget):
    """Panels between splitters; a double click on a panel's header gives it the whole page, or takes it back.

    Parameters
    ----------
    name : str
        For the program, its tests and the settings.
    content : QSplitter
        See `row` and `column`.
    foot : QWidget, optional
        A line at the bottom, which stays when a panel has the page.
    """

    def __init__(self, name: str, content: QSplitter, foot: QWidget | None = None) -> None:
        super().__init__()
        named(self, f"{name}-page", role="ground")
        self._content = content
        self._alone: Panel | None = None
        self._hidden: list[QWidget] = []
        self._sizes: dict[QSplitter, list[int]] = {}
        lines = [(content, 1)] if foot is None else [(content, 1), foot]
        fill(QVBoxLayout(self), *lines, margins=(GAP, GAP, GAP, GAP), spacing=GAP)
        for panel in content.findChildren(Panel):
            panel.headerDoubleClicked.connect(self._toggle)

    @property
    def maximised(self) -> Panel | None:
        """The panel that has the whole page; None where they share it."""
        return self._alone

    def maximise(self, panel: Panel) -> None:
        """Give a panel the whole page."""
        self.restore_panels()
        self._alone = panel
        self._sizes = {splitter: splitter.sizes() for splitter in self._splitters()}
        for splitter in self._splitters():
            if splitter.isAncestorOf(panel):
                beside = (splitter.widget(position) for position in range(splitter.count()))
                others = (other for other in beside if other not in (None, panel) and not other.isHidden())
                self._hidden += [other for other in others if not other.isAncestorOf(panel)]
        for other in self._hidden:
            other.hide()

    def restore_panels(self) -> None:
        """Let all panels share the page again."""
        for other in self._hidden:
            other.show()
        for splitter, sizes in self._sizes.items():
            splitter.setSizes(sizes)
        self._hidden, self._sizes, self._alone = [], {}, None

    def save(self, settings: Settings) -> None:
        """Remember the sizes, and the widths of columns."""
        for table in self.findChildren(TableView):
            settings.set(f"columns/{table.objectName()}", table.widths.as_text() or None)
        if self._alone is None:
            for splitter in self._splitters():
                sizes = " ".join(map(str, splitter.sizes()))
                settings.set(f"sizes/{splitter.objectName()}", sizes)

    def restore(self, settings: Settings) -> None:
        """Take the sizes of the last time."""
        for table in self.findChildren(TableView):
            table.restore_widths(settings.text(f"columns/{table.objectName()}"))
        for splitter in self._splitters():
            text = settings.text(f"sizes/{splitter.objectName()}")
            sizes = [int(size) for size in text.split() if size.isdecimal() and int(size) <= _MOST]
            if len(sizes) == splitter.count() and any(sizes):
                splitter.setSizes(sizes)

    def _splitters(self) -> list[QSplitter]:
        return [self._content, *self._content.findChildren(QSplitter)]

    @Slot()
    def _toggle(self) -> None:
        panel = self.sender()
        if panel is self._alone:
            self.restore_panels()
        elif isinstance(panel, Panel):
            self.maximise(panel)


def row(name: str, widgets: Sequence[QWidget], stretch: Sequence[int], sizes: Sequence[int]) -> QSplitter:
    """Return widgets side by side, with handles between them.

    Parameters
    ----------
    name : str
        Under which its sizes are remembered.
    widgets : sequence of QWidget
    stretch : sequence of int
        How they share what there is more than `sizes`.
    sizes : sequence of int
        In pixels, at first.
    """
    return _splitter(name, Qt.Orientation.Horizontal, widgets, stretch, sizes)


def column(name: str, widgets: Sequence[QWidget], stretch: Sequence[int], sizes: Sequence[int]) -> QSplitter:
    """Return widgets under each other, as `row` has them side by side."""
    return _splitter(name, Qt.Orientation.Vertical, widgets, stretch, sizes)


def _splitter(
    name: str,
    orientation: Qt.Orientation,
    widgets: Sequence[QWidget],
    stretch: Sequence[int],
    sizes: Sequence[int],
) -> QSplitter:
    splitter = QSplitter(orientation)
    splitter.setObjectName(name)
    splitter.setHandleWidth(GAP)
    splitter.setChildrenCollapsible(False)
    for position, widget in enumerate(widgets):
        splitter.addWidget(widget)
        splitter.setStretchFactor(position, stretch[position])
    splitter.setSizes(list(sizes))
    return splitter
