"""The Help menu: the guide, the log, about the program; and the report of a crash."""

from __future__ import annotations

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget

import rankstudio
from rankstudio.ui.language import tr
from rankstudio.ui.process.crash import CrashReports, data_folder
from rankstudio.ui.shell.guide import GuideWindow
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Notices

_ABOUT = tr(
    "<b>RankStudio {version}</b><p>Feature selection in learning to rank: exact, fast, "
    "and in a window.</p><p>MIT licence.</p>"
).format(version=rankstudio.__version__)

PAGES_OF_THE_WINDOW = {
    "data-page": "open-data.md#the-data-page",
    "select-page": "first-steps.md",
    "features-page": "understand-a-feature.md",
    "compare-page": "compare-methods.md",
    "queries-page": "single-queries.md",
    "report-page": "tables-figures-reports.md#a-report",
    "lab-page": "estimates.md#the-lab-page",
}
"""Places of the guide by the object names of pages."""

PLACES = {
    "method-form": "window.md#forms",
    "curves-panel": "choose-k.md#read-the-curves",
    "heat-view": "choose-k.md#read-the-curves",
    "candidates-view": "understand-a-feature.md#candidates",
    "features-panel": "understand-a-feature.md#path",
    "path-panel": "understand-a-feature.md#path",
    "inspector-panel": "understand-a-feature.md#inspector",
    "profile-panel": "understand-a-feature.md#inspector",
    "why-panel": "understand-a-feature.md#why",
    "alone-panel": "understand-a-feature.md#single-features",
    "substitutes-panel": "understand-a-feature.md#substitutes",
    "runs-panel": "compare-methods.md#runs",
}
"""Places of the guide by the object names of panels."""


class Help(QObject):
    """Carries the commands of the Help menu out.

    Parameters
    ----------
    theme : Theme
    notice : Notices
        Where messages are shown.
    parent : QWidget
        The window.

    Attributes
    ----------
    guide : GuideWindow or None
        None before it was opened.
    """

    def __init__(self, theme: Theme, notice: Notices, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._notice, self._window = theme, notice, parent
        self.guide: GuideWindow | None = None

    @Slot()
    def show_guide(self) -> None:
        """Open the guide where it tells of what has the keyboard's focus, else of the page that is shown."""
        if self.guide is None:
            self.guide = GuideWindow(self._theme, self._window)
        self.guide.show()
        self.guide.raise_()
        place = self._place()
        if place:
            self.guide.open(QUrl(place))

    def _place(self) -> str:
        """Return the guide's page and heading on what is shown; "" where nothing is open."""
        at: QWidget | None = self._window.focusWidget()
        while at is not None and at is not self._window:
            if at.objectName() in PLACES:
                return PLACES[at.objectName()]
            at = at.parentWidget()
        for name, place in PAGES_OF_THE_WINDOW.items():
            page = self._window.findChild(QWidget, name)
            if page is not None and page.isVisible():
                return place
        return ""

    @Slot()
    def show_log(self) -> None:
        """Open the folder of log and crash reports."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(data_folder())))

    @Slot()
    def about(self) -> None:
        """Tell version and licence."""
        QMessageBox.about(self._window, tr("About RankStudio"), _ABOUT)

    def tell_of_crash(self, reports: CrashReports) -> None:
        """Say that the last time went wrong, and offer to read how."""
        text = tr("RankStudio failed unexpectedly the last time.")

        def copy() -> None:
            QGuiApplication.clipboard().setText(reports.last())
            self._notice.withdraw(text)
            reports.forget()

        def forget(closed: str) -> None:
            if closed == text:
                reports.forget()

        self._notice.say(text, "info", tr("Copy report"), copy)
        self._notice.closed.connect(forget)
