"""The commands of the Help menu: the guide with the pages of ``docs/``, the log, plug-ins and About."""

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
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QMainWindow,
    QMessageBox,
    QTextBrowser,
    QToolBar,
    QWidget,
)

import rankstudio
from rankstudio.engine.plugins.window_parts import own_pages, window_parts
from rankstudio.engine.support.resources import guide, resource
from rankstudio.engine.support.user_folders import data_folder
from rankstudio.ui.language import tr
from rankstudio.ui.process.crash import CrashReports
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.terms import slug, term_address_of
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Notices
from rankstudio.ui.widgets.layout import named

FIRST_PAGE = "index.md"
_LINE_PERCENT = 135.0
_CODE_PERCENT = 120.0
_PAGE_MARGIN = 28  # pixels
_GAP = 7  # pixels between paragraphs
_TITLE = tr("RankStudio guide")
_PICTURE_CHARACTER = "\ufffc"  # a picture in the text of a Qt document


_LIGHT, _DARK = "-light", "-dark"
"""The ends of the names of a pair of pictures. Pages name the light one."""


class _Pages(QTextBrowser):
    """A browser for the pages of the guide, which scales wide pictures down to its own width.

    Parameters
    ----------
    theme : Theme
        Dark pictures are shown in a dark theme.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def _picture_file(self, name: QUrl) -> Path:
        """Return the file of a picture: in a dark theme the dark one of a pair."""
        file = Path(self.source().resolved(name).toLocalFile())
        dark_file = file.with_stem(file.stem.removesuffix(_LIGHT) + _DARK)
        has_pair = file.stem.endswith(_LIGHT) and dark_file.is_file()
        return dark_file if has_pair and self._theme.dark else file

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Return the content of a page or a picture; Qt calls it for each while it lays out a page.

        ``kind`` is Qt's kind of the resource, and ``name`` the address.
        A picture is scaled down to the available width.
        """
        if isinstance(name, str):
            name = QUrl(name)
        if kind != QTextDocument.ResourceType.ImageResource.value:
            # Pages are texts, which Qt loads itself.
            return super().loadResource(kind, name)
        image = QImage(str(self._picture_file(name)))
        ratio = self.devicePixelRatioF()

        # The scroll bar appears only after the pictures of a long page
        # are there, so its width is always left free, and 2 pixels
        # more.
        bar_width = self.verticalScrollBar().sizeHint().width()
        page_width = self.contentsRect().width() - bar_width - 2 * _PAGE_MARGIN - 2

        # The width in pixels of the screen, of which a logical pixel may have several.
        max_width = round(page_width * ratio)
        if not image.isNull() and image.width() > max_width > 0:
            image = image.scaledToWidth(
                max_width, Qt.TransformationMode.SmoothTransformation
            )
            image.setDevicePixelRatio(ratio)
        return image


def _is_code(block: QTextBlock) -> bool:
    """Return whether a block is a line of code."""
    return block.isValid() and block.blockFormat().nonBreakableLines()


def _is_term(cursor: QTextCursor) -> bool:
    """Return whether a cursor is at a glossary term: in the first column of a table, below the header."""
    table = cursor.currentTable()
    cell = table.cellAt(cursor) if table is not None else None
    return cell is not None and cell.column() == 0 and cell.row() > 0


class GuideWindow(QMainWindow):
    """A window with the user guide: buttons for back, forward and contents, and a search through all pages.

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
        self._browser = named(_Pages(theme), "guide-page", tr("Page of the guide"))
        self._browser.setSearchPaths([str(guide())])

        # Links are opened here, as only some of them lead to pages.
        self._browser.setOpenLinks(False)
        self._browser.anchorClicked.connect(self.open)
        self._browser.setFrameShape(QFrame.Shape.NoFrame)
        self._browser.setStyleSheet(
            "QTextBrowser, QTextBrowser:focus { border: none; border-radius: 0; }"
        )
        self._browser.sourceChanged.connect(self._space_out)
        self.setCentralWidget(self._browser)
        self._add_tools(theme)
        theme.changed.connect(self._restyle)

    def showEvent(self, event: QShowEvent) -> None:
        """Open the first page, now that the width for its pictures is known."""
        super().showEvent(event)
        if self._browser.source().isEmpty():
            self.open(QUrl(FIRST_PAGE))

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        """Show a page of the guide, scrolled to what the part of the address after # names.

        The part after # names a heading or a term of the glossary. An
        address with nothing before the # is on the shown page. Web and
        mail addresses open in other programs. For a page that does not
        exist, a message is shown.
        """
        if url.scheme() in ("http", "https", "mailto"):
            QDesktopServices.openUrl(url)
        elif not url.path():
            self._scroll_to(url.fragment())
        elif guide(url.path()).is_file():
            self._browser.setSource(QUrl.fromLocalFile(str(guide(url.path()))))
            self._scroll_to(url.fragment())
        else:
            self._browser.setMarkdown(
                tr("# Not found\n\nThe guide has no page *{name}*.").format(
                    name=Path(url.path()).name
                )
            )

    @Slot()
    def find_next(self) -> None:
        """Select the next occurrence of the typed text.

        The rest of the shown page is searched first, then the later
        pages, then the earlier pages, and last the beginning of the
        shown page. A message says if the text does not occur.
        """
        # `find` goes on from the present selection, and returns whether
        # it has found the text on the rest of this page.
        text = self.field.text().strip()
        if not text or self._browser.find(text):
            return
        pages = sorted(path.name for path in guide().glob("*.md"))
        current_page = Path(self._browser.source().path()).name
        start = pages.index(current_page) + 1 if current_page in pages else 0
        for name in (*pages[start:], *pages[:start]):
            # The file has marks of Markdown as well, so that the text
            # that it contains may not be on the shown page.
            if text.lower() in guide(name).read_text(encoding="utf-8").lower():
                self.open(QUrl(name))
                self._browser.moveCursor(QTextCursor.MoveOperation.Start)
                if self._browser.find(text):
                    return
        self._search_message.setText(
            tr("Nothing found for “{text}”.").format(text=text)
        )

    def _scroll_to(self, fragment: str) -> None:
        """Scroll to a heading, or to a term of the glossary, which is also selected.

        ``fragment`` is the text of the heading or term as in an
        address, in lower case with hyphens. For "" and for a text that
        the page does not have, nothing is done.
        """
        block = self._browser.document().begin()

        # A block of a Qt document is a paragraph, heading or line of code.
        while fragment and block.isValid():
            cursor = QTextCursor(block)
            is_term = _is_term(cursor)
            is_heading = bool(block.blockFormat().headingLevel())
            if (is_term or is_heading) and slug(block.text()) == fragment:
                if is_term:
                    cursor.movePosition(
                        cursor.MoveOperation.EndOfBlock, cursor.MoveMode.KeepAnchor
                    )
                    self._browser.setTextCursor(cursor)
                layout = self._browser.document().documentLayout()
                self._browser.verticalScrollBar().setValue(
                    int(layout.blockBoundingRect(block).top()) - _GAP
                )
                return
            block = block.next()

    def _add_tools(self, theme: Theme) -> None:
        """Add the toolbar with navigation and search."""
        tools = named(QToolBar(tr("Pages"), self), "guide-tools")
        tools.setMovable(False)
        entries = (
            (
                tr("Back"),
                "chevron-left",
                QKeySequence.StandardKey.Back,
                self._browser.backward,
            ),
            (
                tr("Forward"),
                "chevron-right",
                QKeySequence.StandardKey.Forward,
                self._browser.forward,
            ),
            (
                tr("Contents"),
                "help",
                QKeySequence("Alt+Home"),
                lambda: self.open(QUrl(FIRST_PAGE)),
            ),
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
        self._search_message = named(
            PlainLabel(), "guide-nothing-found", role="caption"
        )
        self.field.textChanged.connect(lambda: self._search_message.setText(""))
        tools.addWidget(self.field)
        tools.addWidget(self._search_message)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self).activated.connect(self.close)

        # Ctrl+F and F3, or what the desktop has instead.
        for keys in (QKeySequence.StandardKey.Find, QKeySequence.StandardKey.FindNext):
            QShortcut(QKeySequence(keys), self).activated.connect(self._focus_search)
        self.addToolBar(tools)

    @Slot()
    def _focus_search(self) -> None:
        """Give the focus to the search field.

        If the field already has the focus, find the next occurrence of
        its text.
        """
        if self.field.hasFocus():
            self.find_next()
        self.field.setFocus()
        self.field.selectAll()

    @Slot()
    def _space_out(self) -> None:
        """Set the line heights and margins of the page, which Markdown does not define."""
        document = self._browser.document()
        document.setDocumentMargin(_PAGE_MARGIN)
        cursor = QTextCursor(document)

        # Without an edit block, each change lays out the whole page,
        # which takes half a minute if tables are long.
        cursor.beginEditBlock()
        block = document.begin()
        while block.isValid():
            block_format = block.blockFormat()

            # Each line of code is a block, with no space between it and the next line.
            is_code = _is_code(block)

            # Greater line heights would leave a gap above a picture.
            if _PICTURE_CHARACTER not in block.text():
                percent = _CODE_PERCENT if is_code else _LINE_PERCENT
                block_format.setLineHeight(
                    percent, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
                )

            # Entries of lists keep the margins that Qt gives them.
            if block.textList() is None:
                continues_code = is_code and _is_code(block.previous())
                code_continues = is_code and _is_code(block.next())
                space_above = 2 * _GAP if block_format.headingLevel() else _GAP
                block_format.setTopMargin(0 if continues_code else space_above)
                block_format.setBottomMargin(0 if code_continues else _GAP)
            if is_code:
                block_format.setLeftMargin(_PAGE_MARGIN)
            cursor.setPosition(block.position())
            cursor.setBlockFormat(block_format)
            block = block.next()
        cursor.endEditBlock()

    @Slot()
    def _restyle(self) -> None:
        """Show the page again, with the pictures of the present theme."""
        self._browser.reload()


_ABOUT_TEXT = tr(
    "<b>RankStudio {version}</b><p>Feature selection in learning to rank: exact, fast, "
    "and in a window.</p><p>MIT licence.</p>"
).format(version=rankstudio.__version__)


class Help(QObject):
    """Carries out the commands of the Help menu, and offers a crash report after a crash.

    Parameters
    ----------
    theme : Theme
    notice : Notices
        Shows messages.
    places : Mapping of str to str
        Page and heading of the guide for each panel, by the panel's
        object name.
    parent : QWidget
        The window.

    Attributes
    ----------
    guide : GuideWindow or None
        None before the guide was opened.
    """

    def __init__(
        self, theme: Theme, notice: Notices, places: Mapping[str, str], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._notice = notice
        self._window = parent

        # The addresses in the guide on panels, by the object names of the panels.
        self._addresses = places
        self.guide: GuideWindow | None = None

    @Slot()
    def show_guide(self) -> None:
        """Open the guide at the section on the widget with the focus, or else on the shown page."""
        self.open_guide(self._address_of_focus())

    def open_guide(self, address: str) -> None:
        """Open the guide at an address such as "choose-k.md#read-the-curves": a page, a heading or term.

        The address "" opens the guide at its last position.
        """
        if self.guide is None:
            self.guide = GuideWindow(self._theme, self._window)
        self.guide.show()
        self.guide.raise_()
        if address:
            self.guide.open(QUrl(address))

    def _address_of_focus(self) -> str:
        """Return the address in the guide for the focused widget, or else for the shown page.

        Return "" if the guide says nothing on either.
        """
        # The widget itself, or the nearest one around it that has an address.
        widget: QWidget | None = self._window.focusWidget()
        while widget is not None and widget is not self._window:
            # A label of a term of the glossary, or its field, has its
            # own address.
            if location := term_address_of(widget):
                return location
            if widget.objectName() in self._addresses:
                return self._addresses[widget.objectName()]
            widget = widget.parentWidget()

        # Pages of the window, then those of plug-ins.
        for entry in (*own_pages(), *(entry for entry, _ in window_parts().pages)):
            page = self._window.findChild(QWidget, f"{entry.key}-page")
            if page is not None and page.isVisible() and entry.guide:
                return entry.guide
        return ""

    @Slot()
    def show_log(self) -> None:
        """Open the folder of the log and the crash reports."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(data_folder())))

    @Slot()
    def show_plugins(self) -> None:
        """List the plug-ins."""
        from rankstudio.ui.shell.plugin_list import PluginDialog  # noqa: PLC0415 - not needed at the start

        dialog = PluginDialog(self._window)
        dialog.exec()
        dialog.deleteLater()

    @Slot()
    def about(self) -> None:
        """Show the version and the license; in a bundle also where its libraries' are."""
        text = _ABOUT_TEXT
        licenses = resource("LICENSES.txt")  # only in a bundle
        if licenses.is_file():
            link = f'<a href="{licenses.as_uri()}">LICENSES.txt</a>'
            text += tr("<p>Licences of the libraries: {file}</p>").format(file=link)
        QMessageBox.about(self._window, tr("About RankStudio"), text)

    def offer_crash_report(self, reports: CrashReports) -> None:
        """Show a message that the program crashed the last time, with a button that copies the report.

        The report is deleted after it is copied, or after the user has
        closed the message.
        """
        text = tr("RankStudio failed unexpectedly the last time.")

        def copy() -> None:
            """Copy the crash report, then delete the report and remove the message `text`."""
            QGuiApplication.clipboard().setText(reports.last())
            self._notice.withdraw(text)
            reports.forget()

        def forget(closed: str) -> None:
            """Delete the report if the message that was closed is `text`, on the crash."""
            if closed == text:
                reports.forget()

        self._notice.say(text, "info", {tr("Copy report"): copy})
        self._notice.closed.connect(forget)
