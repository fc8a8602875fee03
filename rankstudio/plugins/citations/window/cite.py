"""The dialog with the references of the finished runs, as BibTeX to copy or to save."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.support.files import write_text
from rankstudio.ui.language import tr
from rankstudio.ui.page.controller import CommandController
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.saving_dialog import SavingDialog

if TYPE_CHECKING:
    from rankstudio.engine.experiment.plan.plan import Plan
    from rankstudio.engine.experiment.results.results import RunResult

_DIALOG_SIZE = (720, 560)


class CiteController(CommandController):
    """Carries out the command *Cite…* of the Help menu."""

    @property
    def possible(self) -> bool:
        """Whether something can be cited: always, because RankStudio can."""
        return True

    @Slot()
    def show(self) -> None:
        """Show the BibTeX entries of all finished runs; without runs, those of the plan in the window's form.

        The entries are made in the background. Then a dialog shows them.
        """
        runs = tuple(
            record.result
            for record in self._models.runs.records
            if record.result is not None and record.result.complete
        )
        self._models.task_worker.task(
            tr("Collecting the references"),
            partial(_texts, runs, self._models.session.plan),
            on_done=self._show_dialog,
            on_error=self.failed.emit,
        )

    def _show_dialog(self, texts: dict[str, str]) -> None:
        """Show the dialog with texts of BibTeX, which have titles as keys."""
        CiteDialog(texts, self._window).open()


class CiteDialog(SavingDialog):
    """A dialog that shows entries of BibTeX, and copies or saves them.

    Parameters
    ----------
    texts : dict of str to str
        BibTeX entries by titles for the user, who chooses one of the titles.
    parent : QWidget, optional
    """

    def __init__(self, texts: dict[str, str], parent: QWidget | None = None) -> None:
        """Show the dialog's contents for some texts of BibTeX, by their titles."""
        super().__init__("cite-dialog", tr("Cite"), Path.home(), parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        # The first file is suggested in the user's home. The entries of
        # each choice, which has the title for the user.
        self._texts = list(texts.values())

        # The runs whose entries are shown.
        self.choice = named(QComboBox(), "cite-runs", tr("Runs to cite"))
        for title in texts:
            self.choice.addItem(title)
        self.view = named(QPlainTextEdit(), "cite-bibtex", tr("References as BibTeX"))
        self.view.setReadOnly(True)
        fixed_font = QFontDatabase.SystemFont.FixedFont
        self.view.setFont(QFontDatabase.systemFont(fixed_font))

        # What can be done with the entries.
        self.copy = named(QPushButton(tr("Copy")), "cite-copy")
        self.save = named(QPushButton(tr("Save…")), "cite-save", role="primary")
        close_button = QPushButton(tr("Close"))
        note = PlainLabel(
            tr("Papers and programs that the runs use, as BibTeX."), wraps=True
        )
        buttons = fill(
            QHBoxLayout(), (self.message, 1), self.copy, self.save, close_button
        )
        column = fill(QVBoxLayout(self), note, self.choice, (self.view, 1), buttons)
        column.setContentsMargins(16, 16, 16, 16)
        self.resize(*_DIALOG_SIZE)

        # The user's choice and commands.
        self.choice.currentIndexChanged.connect(self._show_entries)
        self.copy.clicked.connect(self._copy_entries)
        self.save.clicked.connect(self._ask_and_save)
        close_button.clicked.connect(self.reject)
        self._show_entries(0)

    @Slot(int)
    def _show_entries(self, index: int) -> None:
        """Show the entries of the runs at an index of the choice."""
        self.view.setPlainText(self._texts[index])

    @Slot()
    def _copy_entries(self) -> None:
        QGuiApplication.clipboard().setText(self.view.toPlainText())
        self.say(tr("Copied."))

    @Slot()
    def _ask_and_save(self) -> None:
        """Ask for a file, and save the shown entries there."""
        path = self.ask_path(tr("Save references"), "references", "BibTeX", ".bib")
        if path is not None:
            self.save_to(path)

    def save_to(self, path: Path) -> None:
        """Save the shown entries in a file."""
        if self.write(path, lambda: write_text(path, self.view.toPlainText())):
            self.tell_written(path)


def _texts(runs: tuple[RunResult, ...], plan: Plan) -> dict[str, str]:
    """Return the BibTeX of all runs together and of each run, by titles for the user.

    The result maps a title to a text. Without runs, the only text is
    that of the plan.
    """
    from rankstudio.engine.analysis.references import (  # noqa: PLC0415 - brings numba
        bibtex_of,
        plan_references,
        references_of_runs,
    )

    if not runs:
        return {tr("the plan of the form"): bibtex_of(plan_references(plan))}
    texts = {tr("all finished runs"): bibtex_of(references_of_runs(runs))}
    for number, run in enumerate(runs, start=1):
        title = f"{number} · {run.plan.title} · {run.data_name}"
        texts[title] = bibtex_of(references_of_runs([run]))
    return texts
