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
    QShortcut,
    QShowEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QFrame, QLineEdit, QMainWindow, QTextBrowser, QToolBar, QWidget

from rankstudio.engine.support.resources import guide
from rankstudio.ui.language import tr
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import named

FIRST_PAGE = "index.md"
_LINE_PERCENT, _CODE_PERCENT = 135.0, 120.0
_MARGIN, _GAP = 28, 7  # in pixels
_TITLE = tr("RankStudio guide")
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


def _slug(heading: str) -> str:
    """Return a heading as a link names it: "Who does the work" is "who-does-the-work" there."""
    kept = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
    return kept.strip().replace(" ", "-")


def _is_code(block: QTextBlock) -> bool:
    """Tell whether a block is a line of code."""
    return block.isValid() and block.blockFormat().nonBreakableLines()


class GuideWindow(QMainWindow):
    """Shows the user guide, with back, forward, contents and a search through all of its pages.

    Parameters
    ----------
    theme : Theme
    parent : QWidget, optional
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("guide")
        self.setWindowTitle(_TITLE)
        self.resize(760, 720)
        self._browser = named(_Pages(), "guide-page", tr("Page of the guide"))
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
            self._scroll_to(url.fragment())
        elif guide(url.path()).is_file():
            self._browser.setSource(QUrl.fromLocalFile(str(guide(url.path()))))
            self._scroll_to(url.fragment())
        else:
            self._browser.setMarkdown(
                tr("# Not found\n\nThe guide has no page *{name}*.").format(name=Path(url.path()).name)
            )

    @Slot()
    def find_next(self) -> None:
        """Show the next place of what was typed: on this page, then on the following ones, all around."""
        text = self.field.text().strip()
        if not text or self._browser.find(text):
            return
        pages = sorted(path.name for path in guide().glob("*.md"))
        present = Path(self._browser.source().path()).name
        at = pages.index(present) + 1 if present in pages else 0
        for name in (*pages[at:], *pages[:at]):
            if text.lower() in guide(name).read_text(encoding="utf-8").lower():
                self.open(QUrl(name))
                self._browser.moveCursor(QTextCursor.MoveOperation.Start)
                if self._browser.find(text):
                    return
        self.setWindowTitle(tr("RankStudio guide · nothing found for {text}").format(text=text))

    def _scroll_to(self, fragment: str) -> None:
        """Bring a heading to the top of the window."""
        block = self._browser.document().begin()
        while fragment and block.isValid():
            if block.blockFormat().headingLevel() and _slug(block.text()) == fragment:
                layout = self._browser.document().documentLayout()
                self._browser.verticalScrollBar().setValue(int(layout.blockBoundingRect(block).top()) - _GAP)
                return
            block = block.next()

    def _add_tools(self, theme: Theme) -> None:
        tools = named(QToolBar(tr("Pages"), self), "guide-tools")
        tools.setMovable(False)
        entries = (
            (tr("Back"), "chevron-left", QKeySequence.StandardKey.Back, self._browser.backward),
            (tr("Forward"), "chevron-right", QKeySequence.StandardKey.Forward, self._browser.forward),
            (tr("Contents"), "help", QKeySequence("Alt+Home"), lambda: self.open(QUrl(FIRST_PAGE))),
        )
        for text, icon, shortcut, call in entries:
            action = QAction(text, self)
            action.setShortcut(shortcut)
            action.setToolTip(text)
            action.triggered.connect(call)
            set_icon(action, theme, icon)
            tools.addAction(action)
        self.field = named(QLineEdit(), "guide-search", tr("search in the guide"))
        self.field.setPlaceholderText(tr("Search (Ctrl+F)"))
        self.field.setClearButtonEnabled(True)
        self.field.setMaximumWidth(280)
        self.field.returnPressed.connect(self.find_next)
        self.field.textChanged.connect(lambda: self.setWindowTitle(_TITLE))
        tools.addWidget(self.field)
        for keys in (QKeySequence.StandardKey.Find, QKeySequence.StandardKey.FindNext):
            QShortcut(QKeySequence(keys), self).activated.connect(self._ask)
        self.addToolBar(tools)

    @Slot()
    def _ask(self) -> None:
        """Go to the field; from there to the next place."""
        if self.field.hasFocus():
            self.find_next()
        self.field.setFocus()
        self.field.selectAll()

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
