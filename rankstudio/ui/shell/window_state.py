"""State of the window for the next start, saved shortly after each change, as the process may be killed."""

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

_TITLE_BAR = 36  # approximate height of the desktop's title bar in logical pixels
_DELAY_MILLISECONDS = 400


class WindowState(Controller):
    """Saves and restores geometry and layout of the window, and saves theme, data, plan and the shown run.

    Parameters
    ----------
    window : QMainWindow
    workspace : Workspace
    models, theme, settings
    """

    saved = Signal()

    def __init__(
        self,
        window: QMainWindow,
        workspace: Workspace,
        models: Models,
        theme: Theme,
        settings: Settings,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._workspace = workspace
        self._session = models.session
        self._runs = models.runs
        self._theme = theme
        self._settings = settings
        self._worker = models.task_worker
        self._failure_reported = False

        # Of several changes in a short time, only the last state is saved.
        self._timer = single_shot(_DELAY_MILLISECONDS, self._save_in_background, self)
        for signal in (
            self._runs.shownChanged,
            self._session.planChanged,
            theme.changed,
        ):
            signal.connect(self._save_soon)

    def restore(self) -> None:
        """Give the window the size and layout of the last session.

        Without a last session, the window gets sizes that fit the screen.
        """
        window = self._window

        # The available size contains the title bar of the window.
        available_size = window.screen().availableSize() - QSize(0, _TITLE_BAR)
        window.setMinimumSize(QSize(960, 600).boundedTo(available_size))
        window.resize(QSize(1440, 900).boundedTo(available_size))
        geometry = self._settings.bytes("window/geometry")
        if geometry is not None:
            window.restoreGeometry(geometry)
        self._workspace.restore(self._settings)

    def save(self) -> None:
        """Save all state now, and wait for the disk.

        A plan that cannot be saved is reported to the user.
        """
        self._timer.stop()
        self._save_settings()
        try:
            if self._session.dataset is not None:
                self._settings.save_plan(self._session.plan)
                self._report_success()
        except RankStudioError as error:
            self._report_failure(str(error))
        self._settings.sync()

    @Slot()
    def _save_in_background(self) -> None:
        """Save all state without waiting for the disk, which may be on a network.

        The plan is written on a worker thread.
        """
        self._save_settings()
        if self._session.dataset is not None:
            self._worker.task(
                tr("Saving the plan"),
                self._settings.save_plan,
                self._session.plan,
                on_done=lambda _: self._report_success(),
                on_error=self._report_failure,
                slot="plan",
            )

    def _save_settings(self) -> None:
        """Note in the settings the layout of the window, the data and the shown run; not the plan.

        Without data, or for a run that is not stored, the former
        setting is removed.
        """
        settings = self._settings
        session = self._session
        settings.set("window/geometry", self._window.saveGeometry())
        settings.set("window/theme", self._theme.mode)
        settings.set("window/text-size", self._theme.text_size)
        self._workspace.save(settings)
        settings.set("study/data", session.plan.data if session.dataset else None)
        record = self._runs.shown
        settings.set(
            "study/shown",
            record.stored.id if record is not None and record.stored else None,
        )

    def _report_success(self) -> None:
        """Emit that the plan is saved; a later failure is reported again."""
        self._failure_reported = False
        self.saved.emit()

    def _report_failure(self, text: str) -> None:
        """Report that saving fails, unless the last attempt has failed, too."""
        if not self._failure_reported:
            self.failed.emit(text)
        self._failure_reported = True

    @Slot()
    def _save_soon(self) -> None:
        """Save the state after a short time without changes, while the window is visible."""
        if self._window.isVisible():
            self._timer.start()
