"""The page of the window before any data are open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.style.icons import pixmap, set_icon
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import ElidedLabel

_WIDTH = 460
_RADIUS = 12


class Welcome(QWidget):
    """The page before any data are open: a field to drop data on, buttons to open data, and recent paths.

    Parameters
    ----------
    theme : Theme
    """

    recentChosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        named(self, "welcome", role="ground")
        self._theme = theme
        self._recent = fill(QVBoxLayout(), spacing=2)
        self._recent_title = named(PlainLabel(tr("Open recent")), role="muted")
        self.sources = named(
            QPushButton(tr("Where to get data…")), "welcome-sources", role="quiet"
        )

        # Numbers are empty spaces, which get free height in this ratio:
        # 2 above and 3 below, and equal width at both sides.
        column = fill(QVBoxLayout(), 2, _DropArea(theme, self._buttons()), spacing=8)
        column.addWidget(self.sources, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(12)
        fill(column, self._recent_title, self._recent, 3)
        fill(QHBoxLayout(self), 1, column, 1)
        self.set_recent(())

    def set_recent(self, paths: Sequence[str]) -> None:
        """Show a button for each of these recent files and folders, instead of the earlier ones."""
        for button in self.findChildren(_RecentButton):
            self._recent.removeWidget(button)
            button.deleteLater()
        for path in paths:
            added = _RecentButton(self._theme, path)
            added.chosen.connect(self.recentChosen)
            self._recent.addWidget(added)
        self._recent_title.setVisible(bool(paths))

    def _buttons(self) -> QHBoxLayout:
        """Return a centred row with the buttons to open data and the sample."""
        self.open = named(QPushButton(tr("Open…")), "welcome-open")
        self.sample = named(
            QPushButton(tr("Open the sample")), "welcome-sample", role="primary"
        )
        set_icon(self.open, self._theme, "open")
        set_icon(self.sample, self._theme, "sample", "on_accent")
        return fill(QHBoxLayout(), 1, self.open, self.sample, 1, spacing=8)


class _RecentButton(QPushButton):
    """A button that opens a recent path: its name, and its folder in muted letters."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, path: str) -> None:
        super().__init__()
        named(
            self,
            accessible_name=tr("Open {path}").format(path=path),
            tip=path,
            role="quiet",
        ).setFixedSize(_WIDTH, 30)

        # A root such as "/" has no name.
        name = PlainLabel(Path(path).name or path)
        folder = named(
            ElidedLabel(str(Path(path).parent), Qt.TextElideMode.ElideMiddle),
            role="caption",
        )
        folder.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for label in (name, folder):
            # A click on a label has to reach the button.
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._theme = theme
        self._icon = PlainLabel()
        theme.changed.connect(self._restyle)
        self._restyle()
        fill(
            QHBoxLayout(self),
            self._icon,
            name,
            (folder, 1),
            margins=(8, 0, 8, 0),
            spacing=8,
        )
        self.clicked.connect(lambda: self.chosen.emit(path))

    @Slot()
    def _restyle(self) -> None:
        """Draw the icon of a folder in the present colors."""
        self._icon.setPixmap(
            pixmap("folder", self._theme.colors.muted, ratio=self.devicePixelRatioF())
        )


class _DropArea(QWidget):
    """The dashed field that invites to drop data.

    The window itself handles the drops.
    """

    def __init__(self, theme: Theme, buttons: QHBoxLayout) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedWidth(_WIDTH)
        title = named(
            PlainLabel(tr("Drop LETOR text, a table or a folder of folds here")),
            role="heading",
        )
        text = PlainLabel(
            tr(
                "A folder with Fold1 … Fold5 opens as one dataset; train, validation and test "
                "files are found by name. A table (CSV, Parquet, …) has a row per document. Feature logs of "
                "Elasticsearch, OpenSearch, Solr or Vespa open with the judgments next to them."
                "\n\nNew here? The sample shows a finished selection at once."
            )
        )
        named(text, role="muted").setWordWrap(True)
        for label in (title, text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = fill(
            QVBoxLayout(self), title, text, margins=(36, 36, 36, 32), spacing=12
        )
        column.addSpacing(8)
        column.addLayout(buttons)
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
