"""The guide: the pages of ``docs/`` in a window of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import (
    QAction,
    QDesktopServices,
    QImage,
    QKeySequence,
    QShowEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QFrame, QMainWindow, QTextBrowser, QToolBar, QWidget

from rankstudio.engine.support.resources import guide
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import named

FIRST_PAGE = "index.md"
_LINE_PERCENT, _CODE_PERCENT = 135.0, 120.0
_MARGIN, _GAP = 28, 7  # in pixels
_PICTURE = "\ufffc"  # what stands in a text for a picture


class _Pages(QTextBrowser):
    """Shows pages whose pictures are never wider than it is."""

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Return a page or a picture, the latter scaled down to the room there is."""
        if isinstance(name, str):
            name = QUrl(name)
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return super().loadResource(kind, name)
        image = QImage(self.source().resolved(name).toLocalFile())
        ratio = self.devicePixelRatioF()
        room = round((self.viewport().width() - 2 * _MARGIN - 2) * ratio)
        if not image.isNull() and image.width() > room > 0:
            image = image.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation)
            image.setDevicePixelRatio(ratio)
        return image


def _is_code(block: QTextBlock) -> bool:
    """Tell whether a block is a line of code."""
    return block.isValid() and block.blockFormat().nonBreakableLines()


class GuideWindow(QMainWindow):
    """Shows the user guide, with back, forward and home.

    Parameters
    ----------
    theme : Theme
    parent : QWidget, optional
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("guide")
        self.setWindowTitle("RankStudio guide")
        self.resize(760, 720)
        self._browser = named(_Pages(), "guide-page", "Page of the guide")
        self._browser.setSearchPaths([str(guide())])
        self._browser.setOpenLinks(False)
        self._browser.anchorClicked.connect(self.open)
        self._browser.setFrameShape(QFrame.Shape.NoFrame)
        self._browser.setStyleSheet("QTextBrowser, QTextBrowser:focus { border: none; border-radius: 0; }")
        self._browser.sourceChanged.connect(self._space_out)
        self.setCentralWidget(self._browser)
        self._add_tools(theme)
        theme.changed.connect(self._restyle)

    def showEvent(self, event: QShowEvent) -> None:
        """Open the first page when the room for it is known."""
        super().showEvent(event)
        if self._browser.source().isEmpty():
            self.open(QUrl(FIRST_PAGE))

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        """Show a page of the guide; links to elsewhere open in the browser."""
        if url.scheme() in ("http", "https", "mailto"):
            QDesktopServices.openUrl(url)
        elif not url.path():
            self._browser.scrollToAnchor(url.fragment())
        elif guide(url.path()).is_file():
            self._browser.setSource(QUrl.fromLocalFile(str(guide(url.path()))))
        else:
            self._browser.setMarkdown(f"# Not found\n\nThe guide has no page *{Path(url.path()).name}*.")

    def _add_tools(self, theme: Theme) -> None:
        tools = named(QToolBar("Pages", self), "guide-tools")
        tools.setMovable(False)
        entries = (
            ("Back", "chevron-left", QKeySequence.StandardKey.Back, self._browser.backward),
            ("Forward", "chevron-right", QKeySequence.StandardKey.Forward, self._browser.forward),
            ("Contents", "help", QKeySequence("Alt+Home"), lambda: self.open(QUrl(FIRST_PAGE))),
        )
        for text, icon, shortcut, call in entries:
            action = QAction(text, self)
            action.setShortcut(shortcut)
            action.setToolTip(text)
            action.triggered.connect(call)
            set_icon(action, theme, icon)
            tools.addAction(action)
        self.addToolBar(tools)

    @Slot()
    def _space_out(self) -> None:
        """Give the page room between lines and paragraphs, which Markdown leaves to the program."""
        document = self._browser.document()
        document.setDocumentMargin(_MARGIN)
        cursor = QTextCursor(document)
        cursor.beginEditBlock()  # else each change lays all out anew: half a minute where tables are long
        block = document.begin()
        while block.isValid():
            form = block.blockFormat()
            code = _is_code(block)  # of which each line is a block
            if _PICTURE not in block.text():
                percent = _CODE_PERCENT if code else _LINE_PERCENT
                form.setLineHeight(percent, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            if block.textList() is None:
                above, below = code and _is_code(block.previous()), code and _is_code(block.next())
                form.setTopMargin(0 if above else _GAP * (2 if form.headingLevel() else 1))
                form.setBottomMargin(0 if below else _GAP)
            if code:
                form.setLeftMargin(_MARGIN)
            cursor.setPosition(block.position())
            cursor.setBlockFormat(form)
            block = block.next()
        cursor.endEditBlock()

    @Slot()
    def _restyle(self) -> None:
        self._browser.reload()
