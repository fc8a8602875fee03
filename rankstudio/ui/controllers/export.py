"""Export: the export dialog, the plan as a file, the run as a command or a program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.plan.as_code import as_command, as_python
from rankstudio.engine.experiment.plan.toml import save_plan
from rankstudio.ui.export.dialog import ExportDialog, ExportItem
from rankstudio.ui.language import tr
from rankstudio.ui.model.session import Session
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme


class ExportController(QObject):
    """Carries the commands out that write something.

    Parameters
    ----------
    theme, session, settings
    items : callable
        Returns what can be exported just now.
    parent : QWidget
        Over which the dialogs open.
    """

    said = Signal(str)
    failed = Signal(str)

    def __init__(
        self,
        theme: Theme,
        session: Session,
        settings: Settings,
        items: Callable[[], tuple[ExportItem, ...]],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._theme, self._session, self._settings, self._items = theme, session, settings, items
        self._window = parent

    def dialog(self) -> ExportDialog:
        """Return the export dialog with what can be exported just now."""
        folder = self._settings.text("export/folder")
        dialog = ExportDialog(self._theme, self._items(), Path(folder) if folder else None, self._window)
        dialog.exported.connect(self._remember)
        return dialog

    @Slot()
    def show_dialog(self) -> None:
        """Open the export dialog."""
        dialog = self.dialog()
        dialog.exec()
        dialog.deleteLater()

    @Slot()
    def ask_save_plan(self) -> None:
        """Ask where to, and save the plan."""
        path, _ = QFileDialog.getSaveFileName(
            self._window, tr("Save plan"), "plan.toml", tr("Plans (*.toml)")
        )
        if not path:
            return
        try:
            save_plan(self._session.plan, path)
        except RankStudioError as error:
            self.failed.emit(str(error))
        else:
            self.said.emit(tr("The plan is in {path}").format(path=path))

    @Slot()
    def copy_command(self) -> None:
        """Copy the command that does the run in a terminal."""
        QGuiApplication.clipboard().setText(as_command(self._session.plan))
        self.said.emit(tr("The command is on the clipboard"))

    @Slot()
    def copy_python(self) -> None:
        """Copy a program that does the run."""
        QGuiApplication.clipboard().setText(as_python(self._session.plan))
        self.said.emit(tr("The program is on the clipboard"))

    @Slot(str, object)
    def _remember(self, _: str, path: Path) -> None:
        self._settings.set("export/folder", str(path.parent))
