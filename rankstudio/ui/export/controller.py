"""Controller of the export commands: the dialogs for export and figures, and the plan as a file or code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.plan.as_code import as_command, as_python
from rankstudio.engine.experiment.plan.toml import save_plan
from rankstudio.engine.experiment.storage.study_contents import ReportSettings
from rankstudio.engine.export.figures.files import FigureFile, write_figure_files
from rankstudio.ui.export.dialog import ExportDialog
from rankstudio.ui.export.figure_dialog import FigureDialog
from rankstudio.ui.export.items import export_items, plot_figure, plot_figures
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.listed_runs import figures_of, request_of
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.page.model_chips import ChoiceChip
from rankstudio.ui.plots import Plot
from rankstudio.ui.process.files_read import refuse_read
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.shell.sections import Sections
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Question

if TYPE_CHECKING:
    from rankstudio.engine.export.figures.style import FigureStyle


class ExportController(Controller):
    """Carries out the commands that export something to files or the clipboard.

    Parameters
    ----------
    theme : Theme
    models : Models
    sections : Sections
        The pages, whose tables and plots are exported.
    settings : Settings
    parent : QWidget
        Widget over which the dialogs open.
    """

    def __init__(
        self,
        theme: Theme,
        models: Models,
        sections: Sections,
        settings: Settings,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._session = models.session
        self._settings = settings
        self._models = models
        self._sections = sections
        self._window = parent

    def dialog(self) -> ExportDialog:
        """Return the export dialog, with all that can be exported of the chosen model.

        If the user inspects another model than the chosen one, the
        inspection ends. If the model was chosen by hand, a chip in the
        dialog says so; its button goes back to the model that the run
        chose, and the dialog then lists the items of that model.
        """
        self._session.end_inspection()
        folder = self._settings.text("export/folder")
        dialog = ExportDialog(
            self._theme,
            export_items(self._models, self._sections),
            Path(folder) if folder else None,
            self._window,
        )
        choice = ChoiceChip(self._models.current, self._session, dialog.choice, dialog)
        choice.wentBack.connect(
            lambda: dialog.show_items(export_items(self._models, self._sections))
        )
        dialog.saved.connect(self._remember)
        return dialog

    @Slot()
    def show_dialog(self) -> None:
        """Open the export dialog."""
        dialog = self.dialog()
        dialog.exec()
        dialog.deleteLater()

    def figure_dialog(self, plot: Plot | None = None) -> FigureDialog | None:
        """Return the dialog of figures on the chosen model; None if there are no figures.

        The figure of `plot`, which asks for the dialog, is the first
        one, even if the plot is not in the list of exports.
        """
        # Figures are of the chosen model, not of one that is inspected.
        self._session.end_inspection()
        listed_figures = plot_figures(self._models, self._sections)
        figures = [figure for source, figure in listed_figures if source is not plot]
        if plot is not None and not plot.is_empty():
            figures.insert(0, plot_figure(self._models, plot))
        if not figures:
            return None
        folder = self._settings.text("export/folder")
        path = Path(folder) if folder else Path.home()
        dialog = FigureDialog(figures, path, self._models.task_worker, self._window)

        # The folder of a saved file is the one of the next dialog.
        dialog.saved.connect(self._remember)
        dialog.allAsked.connect(partial(self._ask_all, dialog))
        return dialog

    @Slot(object)
    def show_figures(self, plot: Plot | None = None) -> None:
        """Open the dialog of figures, or say that there are none.

        The figure of ``plot``, which asks for the dialog, comes first.
        """
        dialog = self.figure_dialog(plot)
        if dialog is None:
            self.failed.emit(tr("No figures yet: open data and run a method first."))
            return
        dialog.exec()
        dialog.deleteLater()

    @Slot(object, object)
    def paint(
        self, paint: Callable[[], object], show: Callable[[object], object]
    ) -> None:
        """Have the worker call ``paint``, which returns a picture, and then call ``show`` with the picture.

        A failure is reported to the user.
        """
        self._models.task_worker.task(
            tr("Painting the figure"), paint, on_done=show, on_error=self.failed.emit
        )

    def _ask_all(
        self, dialog: FigureDialog, style: FigureStyle, format_name: str, dpi: float
    ) -> None:
        """Ask for a folder, and save all figures of the study in it.

        ``style`` and ``format_name`` are chosen in ``dialog``; ``dpi``
        are dots per inch.
        """
        folder = QFileDialog.getExistingDirectory(
            dialog,
            tr("Save all figures of the study"),
            self._settings.text("export/folder"),
        )
        if folder:  # "" if the user has cancelled
            self.save_all(dialog, style, format_name, dpi, Path(folder))

    def save_all(
        self,
        dialog: FigureDialog,
        style: FigureStyle,
        format_name: str,
        dpi: float,
        folder: Path,
    ) -> None:
        """Have all figures of the study drawn, and write them into a folder, as the terminal command does.

        ``format_name`` is a format of images, such as "pdf", and
        ``dpi`` the dots per inch. The figures are drawn on a worker
        thread. The dialog then reports what was written, or why nothing
        was.
        """

        def write(files: list[FigureFile]) -> None:
            """Write the files once they are drawn, each a pair of path and contents.

            The user is asked before files are replaced. The folder, and
            the dialog that reports the outcome, are parameters of the
            enclosing method.
            """
            existing = [path.name for path, _ in files if path.exists()]
            if not files:
                dialog.say(tr("The study has no finished run yet."), "muted")
            elif not existing or self._may_replace(dialog, existing):
                try:
                    # Called for its error: files that are open here are
                    # not replaced.
                    refuse_read(dialog, [path for path, _ in files])
                    write_figure_files(files)
                except RankStudioError as error:
                    dialog.say(str(error), "error")
                    return

                # `_remember` stores the folder of a file; any name will do.
                self._remember(folder / "figures")

                # Beside each figure is a text file with its caption.
                n = sum(path.suffix != ".txt" for path, _ in files)
                dialog.say(
                    trn(
                        "{n} figure is in {folder}.", "{n} figures are in {folder}.", n
                    ).format(n=n, folder=folder)
                )

        # `paint` has the worker call `figures_of`, and passes the files to `write`.
        dialog.say(tr("Drawing the figures …"), "muted")
        request = request_of(self._models, ReportSettings())
        dialog.paint(
            "all", partial(figures_of, request, format_name, style, dpi, folder), write
        )

    @staticmethod
    def _may_replace(dialog: FigureDialog, names: list[str]) -> bool:
        """Ask whether to replace existing files, by their names; return the answer.

        The question is shown over ``dialog``; it names the first of the files.
        """
        question = tr("{name} and other files already exist. Replace them?").format(
            name=names[0]
        )
        return Question.ask(dialog, tr("Save all figures"), question, tr("&Replace"))

    @Slot()
    def ask_save_plan(self) -> None:
        """Ask for a file, and save the plan in it; report where it is, or why it is not saved."""
        path, _ = QFileDialog.getSaveFileName(
            self._window, tr("Save plan"), "plan.toml", tr("Plans (*.toml)")
        )
        if not path:
            return
        try:
            # Called for its error: files that are open here are not replaced.
            refuse_read(self._window, [path])
            save_plan(self._session.plan, path)
        except RankStudioError as error:
            self.failed.emit(str(error))
        else:
            self.said.emit(tr("The plan is in {path}").format(path=path))

    @Slot()
    def copy_command(self) -> None:
        """Copy the terminal command that repeats the run."""
        QGuiApplication.clipboard().setText(as_command(self._session.plan))
        self.said.emit(tr("The command is on the clipboard"))

    @Slot()
    def copy_python(self) -> None:
        """Copy a Python program that repeats the run."""
        QGuiApplication.clipboard().setText(as_python(self._session.plan))
        self.said.emit(tr("The program is on the clipboard"))

    @Slot(object)
    def _remember(self, path: Path) -> None:
        """Store the folder of a written file, for the next dialog."""
        self._settings.set("export/folder", str(path.parent))
