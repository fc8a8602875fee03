"""What the window shows before anything is open: where to drop data, and three ways to begin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from rankstudio.ui.style.icons import pixmap, set_icon
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.elided import ElidedLabel

_WIDTH = 460
_RADIUS = 12


class Welcome(QWidget):
    """A calm page: a place to drop data on, Open, the sample, and what was open lately.

    Parameters
    ----------
    theme : Theme
    """

    openAsked = Signal()
    sampleAsked = Signal()
    recentChosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("welcome")
        self.setProperty("role", "ground")
        self._theme = theme
        self._drop = _DropArea(theme)
        self._drop.openAsked.connect(self.openAsked)
        self._drop.sampleAsked.connect(self.sampleAsked)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        self._recent_title = QLabel("Open again")
        self._recent_title.setProperty("role", "muted")
        column = QVBoxLayout()
        column.setSpacing(8)
        column.addStretch(2)
        column.addWidget(self._drop)
        column.addSpacing(12)
        column.addWidget(self._recent_title)
        column.addLayout(self._recent)
        column.addStretch(3)
        row = QHBoxLayout(self)
        row.addStretch(1)
        row.addLayout(column)
        row.addStretch(1)
        self.set_recent(())

    def set_recent(self, paths: Sequence[str]) -> None:
        """Offer these files and folders."""
        for button in self.findChildren(_RecentButton):
            self._recent.removeWidget(button)
            button.deleteLater()
        for path in paths:
            added = _RecentButton(self._theme, path)
            added.chosen.connect(self.recentChosen)
            self._recent.addWidget(added)
        self._recent_title.setVisible(bool(paths))


class _RecentButton(QPushButton):
    """One recent file: its name, and in muted letters where it is."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, path: str) -> None:
        super().__init__()
        self.setProperty("role", "quiet")
        self.setFixedSize(_WIDTH, 30)
        self.setToolTip(path)
        self.setAccessibleName(f"Open {path}")
        name = QLabel(Path(path).name or path)
        where = ElidedLabel(str(Path(path).parent), Qt.TextElideMode.ElideMiddle)
        where.setProperty("role", "caption")
        where.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for label in (name, where):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._theme, self._icon = theme, QLabel()
        theme.changed.connect(self._restyle)
        self._restyle()
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 8, 0)
        row.setSpacing(8)
        row.addWidget(self._icon)
        row.addWidget(name)
        row.addWidget(where, 1)
        self._path = path
        self.clicked.connect(self._choose)

    @Slot()
    def _restyle(self) -> None:
        self._icon.setPixmap(pixmap("folder", self._theme.colors.muted, ratio=self.devicePixelRatioF()))

    @Slot()
    def _choose(self) -> None:
        self.chosen.emit(self._path)


class _DropArea(QWidget):
    """The dashed field in the middle. The window takes the drops; this says that it does."""

    openAsked = Signal()
    sampleAsked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedWidth(_WIDTH)
        title = QLabel("Drop a LETOR file or a folder of folds here")
        title.setProperty("role", "heading")
        text = QLabel(
            "A folder with Fold1 … Fold5 opens as one dataset; train, validation and test parts are found by "
            "their names.\n\nNew to this? The sample shows within a minute how features are selected."
        )
        text.setProperty("role", "muted")
        text.setWordWrap(True)
        for label in (title, text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(36, 36, 36, 32)
        column.setSpacing(12)
        column.addWidget(title)
        column.addWidget(text)
        column.addSpacing(8)
        column.addLayout(self._buttons())
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the dashed frame."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(self._theme.colors.q("line_hover"), 1.5)
        pen.setDashPattern([4, 4])
        painter.setPen(pen)
        painter.setBrush(self._theme.colors.q("panel"))
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -2, -2), _RADIUS, _RADIUS)

    def _buttons(self) -> QHBoxLayout:
        open_button = QPushButton("Open…")
        open_button.setObjectName("welcome-open")
        sample_button = QPushButton("Open the sample")
        sample_button.setObjectName("welcome-sample")
        sample_button.setProperty("role", "primary")
        set_icon(open_button, self._theme, "open")
        set_icon(sample_button, self._theme, "sample", "on_accent")
        open_button.clicked.connect(self.openAsked)
        sample_button.clicked.connect(self.sampleAsked)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(open_button)
        row.addWidget(sample_button)
        row.addStretch(1)
        return row
