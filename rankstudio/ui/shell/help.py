"""The Help menu: the guide with the pages of ``docs/``, the log, about the program; and a crash report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import (
    QAction,
    QDesktopServices,
    QGuiApplication,
    QImage,
    QKeySequence,
    QShortcut,
    QShowEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QFrame, QLineEdit, QMainWindow, QMessageBox, QTextBrowser, QToolBar, QWidget

import rankstudio
from rankstudio.engine.plugins.window_parts import own_pages, window_parts
from rankstudio.engine.support.resources import guide
from rankstudio.engine.support.user_folders import data_folder
from rankstudio.ui.language import tr
from rankstudio.ui.process.crash import CrashReports
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.terms import place_of, slug
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Notices
from rankstudio.ui.widgets.layout import named

FIRST_PAGE = "index.md"
_LINE_PERCENT = 135.0
_CODE_PERCENT = 120.0
_PAGE_MARGIN = 28  # in pixels
_GAP = 7
_TITLE = tr("RankStudio guide")
_PICTURE_CHARACTER = "\ufffc"  # what stands in a text for a picture


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
        room = round((self.viewport().width() - 2 * _PAGE_MARGIN - 2) * ratio)
        if not image.isNull() and image.width() > room > 0:
            image = image.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation)
            image.setDevicePixelRatio(ratio)
        return image


def _is_code(block: QTextBlock) -> bool:
    """Return whether a block is a line of code."""
    return block.isValid() and block.blockFormat().nonBreakableLines()


def _is_term(cursor: QTextCursor) -> bool:
    """Return whether a place is in the first column of a table, below its head."""
    table = cursor.currentTable()
    cell = table.cellAt(cursor) if table is not None else None
    return cell is not None and cell.column() == 0 and cell.row() > 0


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
        start = pages.index(present) + 1 if present in pages else 0
        for name in (*pages[start:], *pages[:start]):
            if text.lower() in guide(name).read_text(encoding="utf-8").lower():
                self.open(QUrl(name))
                self._browser.moveCursor(QTextCursor.MoveOperation.Start)
                if self._browser.find(text):
                    return
        self._nothing.setText(tr("Nothing found for “{text}”.").format(text=text))

    def _scroll_to(self, fragment: str) -> None:
        """Bring a heading, or the row of a term, to the top of the window; mark the row."""
        block = self._browser.document().begin()
        while fragment and block.isValid():
            cursor = QTextCursor(block)
            cell = _is_term(cursor)
            if (cell or block.blockFormat().headingLevel()) and slug(block.text()) == fragment:
                if cell:
                    cursor.movePosition(cursor.MoveOperation.EndOfBlock, cursor.MoveMode.KeepAnchor)
                    self._browser.setTextCursor(cursor)
                layout = self._browser.document().documentLayout()
                self._browser.verticalScrollBar().setValue(int(layout.blockBoundingRect(block).top()) - _GAP)
                return
            block = block.next()

    def _add_tools(self, theme: Theme) -> None:
        """Add the toolbar with navigation and search."""
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
        self._nothing = named(PlainLabel(), "guide-nothing-found", role="caption")
        self.field.textChanged.connect(lambda: self._nothing.setText(""))
        tools.addWidget(self.field)
        tools.addWidget(self._nothing)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self).activated.connect(self.close)
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
        document.setDocumentMargin(_PAGE_MARGIN)
        cursor = QTextCursor(document)
        cursor.beginEditBlock()  # else each change lays all out anew: half a minute where tables are long
        block = document.begin()
        while block.isValid():
            form = block.blockFormat()
            code = _is_code(block)  # of which each line is a block
            if _PICTURE_CHARACTER not in block.text():
                percent = _CODE_PERCENT if code else _LINE_PERCENT
                form.setLineHeight(percent, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            if block.textList() is None:
                above = code and _is_code(block.previous())
                below = code and _is_code(block.next())
                form.setTopMargin(0 if above else _GAP * (2 if form.headingLevel() else 1))
                form.setBottomMargin(0 if below else _GAP)
            if code:
                form.setLeftMargin(_PAGE_MARGIN)
            cursor.setPosition(block.position())
            cursor.setBlockFormat(form)
            block = block.next()
        cursor.endEditBlock()

    @Slot()
    def _restyle(self) -> None:
        self._browser.reload()


_ABOUT_TEXT = tr(
    "<b>RankStudio {version}</b><p>Feature selection in learning to rank: exact, fast, "
    "and in a window.</p><p>MIT licence.</p>"
).format(version=rankstudio.__version__)


class Help(QObject):
    """Carries the commands of the Help menu out.

    Parameters
    ----------
    theme : Theme
    notice : Notices
        Where messages are shown.
    places : Mapping of str to str
        Places of the guide by the object names of panels.
    parent : QWidget
        The window.

    Attributes
    ----------
    guide : GuideWindow or None
        None before it was opened.
    """

    def __init__(self, theme: Theme, notice: Notices, places: Mapping[str, str], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._notice = notice
        self._window = parent
        self._places = places
        self.guide: GuideWindow | None = None

    @Slot()
    def show_guide(self) -> None:
        """Open the guide where it tells of what has the keyboard's focus, else of the page that is shown."""
        self.open_guide(self._place())

    def open_guide(self, address: str) -> None:
        """Open the guide at a page and heading or term; "" opens it where it was."""
        if self.guide is None:
            self.guide = GuideWindow(self._theme, self._window)
        self.guide.show()
        self.guide.raise_()
        if address:
            self.guide.open(QUrl(address))

    def _place(self) -> str:
        """Return the guide's page and heading on what is shown; "" where nothing is open."""
        widget: QWidget | None = self._window.focusWidget()
        while widget is not None and widget is not self._window:
            if location := place_of(widget):
                return location
            if widget.objectName() in self._places:
                return self._places[widget.objectName()]
            widget = widget.parentWidget()
        for entry in (*own_pages(), *(entry for entry, _ in window_parts().pages)):
            page = self._window.findChild(QWidget, f"{entry.key}-page")
            if page is not None and page.isVisible() and entry.guide:
                return entry.guide
        return ""

    @Slot()
    def show_log(self) -> None:
        """Open the folder of log and crash reports."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(data_folder())))

    @Slot()
    def show_plugins(self) -> None:
        """List the plug-ins."""
        from rankstudio.ui.shell.plugin_list import PluginDialog  # noqa: PLC0415 - the window is there first

        dialog = PluginDialog(self._window)
        dialog.exec()
        dialog.deleteLater()

    @Slot()
    def about(self) -> None:
        """Show version and licence."""
        QMessageBox.about(self._window, tr("About RankStudio"), _ABOUT_TEXT)

    def tell_of_crash(self, reports: CrashReports) -> None:
        """Show that the last time went wrong, and offer to read how."""
        text = tr("RankStudio failed unexpectedly the last time.")

        def copy() -> None:
            QGuiApplication.clipboard().setText(reports.last())
            self._notice.withdraw(text)
            reports.forget()

        def forget(closed: str) -> None:
            if closed == text:
                reports.forget()

        self._notice.say(text, "info", {tr("Copy report"): copy})
        self._notice.closed.connect(forget)
