"""The menu that says who carries out the runs."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from rankstudio.ui.model.execution_backend import LIVE, PROCESSES, Crew

_ASKED = (
    "Address of a running dask scheduler, whose workers have RankStudio in this version.\n"
    "For example: tcp://10.0.0.1:8786"
)


class CrewMenu(QObject):
    """Shows the choice, and changes it.

    Parameters
    ----------
    menu : QMenu
        Empty.
    crew : Crew
    parent : QWidget
        Over which the dialog opens.
    """

    def __init__(self, menu: QMenu, crew: Crew, parent: QWidget) -> None:
        super().__init__(parent)
        self._crew, self._window = crew, parent
        self._group = QActionGroup(self)
        count = crew.n_processes
        processes = f"&{count} processes of this machine" if count > 1 else "A &process of its own"
        self._live = self._add(
            menu, "This &window, step by step", "The curves grow with every feature that is selected."
        )
        self._processes = self._add(
            menu, processes, "Many settings and folds at a time; the curves arrive one by one, complete."
        )
        self._cluster = self._add(
            menu, "A &cluster…", "The workers of a dask scheduler, with the same numbers, bit for bit."
        )
        self._live.triggered.connect(lambda: crew.choose(LIVE))
        self._processes.triggered.connect(lambda: crew.choose(PROCESSES))
        self._cluster.triggered.connect(self._ask)
        crew.changed.connect(self._show)
        self._show()

    def _add(self, menu: QMenu, text: str, help_text: str) -> QAction:
        action = menu.addAction(text)
        action.setCheckable(True)
        action.setToolTip(help_text)
        action.setStatusTip(help_text)
        self._group.addAction(action)
        return action

    @Slot()
    def _ask(self) -> None:
        """Ask for the scheduler's address; without an answer all stays as it was."""
        dialog = QInputDialog(self._window)
        dialog.setObjectName("cluster-dialog")
        dialog.setWindowTitle("Run on a cluster")
        dialog.setLabelText(_ASKED)
        dialog.setTextValue(self._crew.address)
        if dialog.exec() and dialog.textValue().strip():
            self._crew.choose(dialog.textValue().strip())
        self._show()

    @Slot()
    def _show(self) -> None:
        choice = self._crew.choice
        chosen = {LIVE: self._live, PROCESSES: self._processes}.get(choice, self._cluster)
        chosen.setChecked(True)
        where = f"The &cluster at {self._crew.address}…" if self._crew.address else "A &cluster…"
        self._cluster.setText(where)
