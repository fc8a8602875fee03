"""The menu of execution backends, and of the memory that data and runs may take."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support import memory
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.execution_backend import LIVE, PROCESSES
from rankstudio.ui.shell.menus import add_choice

_ASKED = tr(
    "Address of a running dask scheduler whose workers have the same version of RankStudio.\n"
    "For example: tcp://10.0.0.1:8786"
)

_ABOUT_MEMORY = tr("Memory limit for data and runs from now on. Larger data are read from disk as needed.")
_MEMORY = tr(
    "Memory limit for data and runs, for example 2GB or 500MB.\nLeave empty to use half of the "
    "free memory ({free} now).\nLarger data are read from disk as needed; the results are "
    "identical."
)


class BackendMenu(QObject):
    """Shows the choice, and changes it.

    Parameters
    ----------
    menu : QMenu
        Empty.
    models : Models
        Its execution backend and memory budget.
    parent : QWidget
        Over which the dialog opens.
    """

    def __init__(self, menu: QMenu, models: Models, parent: QWidget) -> None:
        super().__init__(parent)
        self._backend, self._memory, self._window = models.backend, models.memory_budget, parent
        backend = self._backend
        self._group = QActionGroup(self)
        count = backend.n_processes
        processes = (
            tr("&{count} processes on this computer").format(count=count)
            if count > 1
            else tr("A separate &process")
        )
        live = tr("The curves grow with every selected feature.")
        many = tr("Several combinations and folds at a time; each curve appears when it is complete.")
        cluster = tr("The workers of a dask scheduler; the results are identical.")
        self._live = add_choice(menu, self._group, LIVE, tr("This &window, step by step"), live)
        self._processes = add_choice(menu, self._group, PROCESSES, processes, many)
        self._cluster = add_choice(menu, self._group, "", tr("A &cluster…"), cluster)
        for action in self._group.actions():
            action.setStatusTip(action.toolTip())
        self._live.triggered.connect(lambda: backend.select(LIVE))
        self._processes.triggered.connect(lambda: backend.select(PROCESSES))
        self._cluster.triggered.connect(self._ask)
        backend.changed.connect(self._show)
        menu.addSeparator()
        self._budget = menu.addAction("")
        self._budget.setObjectName("memory-budget")
        self._budget.setToolTip(_ABOUT_MEMORY)
        self._budget.setStatusTip(_ABOUT_MEMORY)
        self._budget.triggered.connect(lambda _=False: self._ask_memory())
        self._memory.changed.connect(self._show)
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

    def _ask_memory(self, problem: str = "", text: str | None = None) -> None:
        """Ask how much memory may be taken, again where the answer is no size."""
        asked = _MEMORY.format(free=memory.size(memory.available()))
        dialog = QInputDialog(self._window)
        dialog.setObjectName("memory-dialog")
        dialog.setWindowTitle(tr("Memory limit"))
        dialog.setLabelText(f"{asked}\n{problem}" if problem else asked)
        dialog.setTextValue(self._memory.asked if text is None else text)
        if not dialog.exec():
            return
        answer = dialog.textValue().strip()
        try:
            self._memory.ask(answer)
        except ParameterError as error:
            wrong = tr("Expected {expected}, got {got}.").format(expected=error.expected, got=answer)
            self._ask_memory(wrong, answer)

    @Slot()
    def _show(self) -> None:
        size = self._memory.asked or tr("half of the free memory")
        self._budget.setText(tr("&Memory limit: {size}…").format(size=size))
        choice = self._backend.choice
        chosen = {LIVE: self._live, PROCESSES: self._processes}.get(choice, self._cluster)
        chosen.setChecked(True)
        where = (
            tr("The &cluster at {address}…").format(address=self._backend.address)
            if self._backend.address
            else tr("A &cluster…")
        )
        self._cluster.setText(where)
