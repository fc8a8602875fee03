"""The menu of execution backends."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.model.execution_backend import LIVE, PROCESSES, ExecutionBackend
from rankstudio.ui.shell.menus import add_choice

_ASKED = tr(
    "Address of a running dask scheduler, whose workers have RankStudio in this version.\n"
    "For example: tcp://10.0.0.1:8786"
)


class BackendMenu(QObject):
    """Shows the choice, and changes it.

    Parameters
    ----------
    menu : QMenu
        Empty.
    backend : ExecutionBackend
    parent : QWidget
        Over which the dialog opens.
    """

    def __init__(self, menu: QMenu, backend: ExecutionBackend, parent: QWidget) -> None:
        super().__init__(parent)
        self._backend, self._window = backend, parent
        self._group = QActionGroup(self)
        count = backend.n_processes
        processes = (
            tr("&{count} processes of this machine").format(count=count)
            if count > 1
            else tr("A &process of its own")
        )
        live = tr("The curves grow with every feature that is selected.")
        many = tr("Many combinations and folds at a time; the curves arrive one by one, complete.")
        cluster = tr("The workers of a dask scheduler, with the same numbers, bit for bit.")
        self._live = add_choice(menu, self._group, LIVE, tr("This &window, step by step"), live)
        self._processes = add_choice(menu, self._group, PROCESSES, processes, many)
        self._cluster = add_choice(menu, self._group, "", tr("A &cluster…"), cluster)
        for action in self._group.actions():
            action.setStatusTip(action.toolTip())
        self._live.triggered.connect(lambda: backend.select(LIVE))
        self._processes.triggered.connect(lambda: backend.select(PROCESSES))
        self._cluster.triggered.connect(self._ask)
        backend.changed.connect(self._show)
        self._show()

    @Slot()
    def _ask(self) -> None:
        """Ask for the scheduler's address; without an answer all stays as it was."""
        dialog = QInputDialog(self._window)
        dialog.setObjectName("cluster-dialog")
        dialog.setWindowTitle(tr("Run on a cluster"))
        dialog.setLabelText(_ASKED)
        dialog.setTextValue(self._backend.address)
        if dialog.exec() and dialog.textValue().strip():
            self._backend.select(dialog.textValue().strip())
        self._show()

    @Slot()
    def _show(self) -> None:
        choice = self._backend.choice
        chosen = {LIVE: self._live, PROCESSES: self._processes}.get(choice, self._cluster)
        chosen.setChecked(True)
        where = (
            tr("The &cluster at {address}…").format(address=self._backend.address)
            if self._backend.address
            else tr("A &cluster…")
        )
        self._cluster.setText(where)
