"""The guide: the pages of ``docs/`` in a window of their own."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QAction, QDesktopServices, QKeySequence
from PySide6.QtWidgets import QMainWindow, QTextBrowser, QToolBar, QWidget

from rankstudio.engine.resources import guide
from rankstudio.ui.icons import set_icon
from rankstudio.ui.theme import Theme

FIRST_PAGE = "index.md"


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
        self._browser = QTextBrowser()
        self._browser.setObjectName("guide-page")
        self._browser.setAccessibleName("Page of the guide")
        self._browser.setSearchPaths([str(guide())])
        self._browser.setOpenLinks(False)
        self._browser.anchorClicked.connect(self.open)
        self._browser.document().setDocumentMargin(24)
        self.setCentralWidget(self._browser)
        self._add_tools(theme)
        theme.changed.connect(self._restyle)
        self.open(QUrl(FIRST_PAGE))

    def page(self) -> str:
        """Return the text of the page that is shown."""
        return self._browser.toPlainText()

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
        tools = QToolBar("Pages", self)
        tools.setObjectName("guide-tools")
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
    def _restyle(self) -> None:
        self._browser.reload()
