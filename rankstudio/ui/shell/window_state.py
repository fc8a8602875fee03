"""State of the window, kept for the next start: soon after each change, for a process may be killed."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtWidgets import QMainWindow

from rankstudio.engine.errors import RankStudioError
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.process.turns import single_shot
from rankstudio.ui.shell.workspace import Workspace
from rankstudio.ui.style.theme import Theme

_TITLE_BAR = 36  # of the desktop's, in logical pixels, about
_DELAY_MILLISECONDS = 400


class WindowState(Controller):
    """Keeps geometry, layout, theme, data, plan and the run that is shown.

    Parameters
    ----------
    window : QMainWindow
    workspace : Workspace
    models, theme, settings
    """

    saved = Signal()

    def __init__(
        self, window: QMainWindow, workspace: Workspace, models: Models, theme: Theme, settings: Settings
    ) -> None:
        super().__init__(window)
        self._window = window
        self._workspace = workspace
        self._session = models.session
        self._runs = models.runs
        self._theme = theme
        self._settings = settings
        self._worker = models.task_worker
        self._told_of_failure = False
        self._timer = single_shot(_DELAY_MILLISECONDS, self._save_aside, self)
        for signal in (self._runs.shownChanged, self._session.planChanged, theme.changed):
            signal.connect(self._save_soon)

    def restore(self) -> None:
        """Give the window its size and layout of the last time."""
        window = self._window
        room = window.screen().availableSize() - QSize(0, _TITLE_BAR)
        window.setMinimumSize(QSize(960, 600).boundedTo(room))
        window.resize(QSize(1440, 900).boundedTo(room))
        geometry = self._settings.bytes("window/geometry")
        if geometry is not None:
            window.restoreGeometry(geometry)
        self._workspace.restore(self._settings)

    def save(self) -> None:
        """Keep everything now, and wait for the disk."""
        self._timer.stop()
        self._note()
        try:
            if self._session.dataset is not None:
                self._settings.save_plan(self._session.plan)
                self._tell_of_success()
        except RankStudioError as error:
            self._tell_of_failure(str(error))
        self._settings.sync()

    @Slot()
    def _save_aside(self) -> None:
        """Keep everything; nothing here waits for the disk, which may be on a network."""
        self._note()
        if self._session.dataset is not None:
            self._worker.task(
                tr("Saving the plan"),
                self._settings.save_plan,
                self._session.plan,
                on_done=lambda _: self._tell_of_success(),
                on_error=self._tell_of_failure,
                slot="plan",
            )

    def _note(self) -> None:
        settings = self._settings
        session = self._session
        settings.set("window/geometry", self._window.saveGeometry())
        settings.set("window/theme", self._theme.mode)
        settings.set("window/text-size", self._theme.text_size)
        self._workspace.save(settings)
        settings.set("study/data", session.plan.data if session.dataset else None)
        record = self._runs.shown
        settings.set("study/shown", record.stored.id if record is not None and record.stored else None)

    def _tell_of_success(self) -> None:
        self._told_of_failure = False
        self.saved.emit()

    def _tell_of_failure(self, text: str) -> None:
        """Say once that nothing can be kept."""
        if not self._told_of_failure:
            self.failed.emit(text)
        self._told_of_failure = True

    @Slot()
    def _save_soon(self) -> None:
        if self._window.isVisible():
            self._timer.start()
