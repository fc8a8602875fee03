"""How the next runs are carried out: by which backend, and how much memory data and runs may take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QObject, Signal

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import Event
from rankstudio.engine.support import memory, threads
from rankstudio.ui.model.run_queue import Runner, engine_run
from rankstudio.ui.model.study_store import RunTarget
from rankstudio.ui.process.settings import Settings

LIVE = "live"
PROCESSES = "processes"
_BACKEND_KEY = "run/crew"
_SCHEDULER_KEY = "run/scheduler"


class ExecutionBackend(QObject):
    """Remembers the chosen execution backend: the window's process, worker processes or a cluster.

    All backends compute the same numbers, bit for bit.

    Parameters
    ----------
    settings : Settings
        Where the choice is stored.
    """

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings

    @property
    def choice(self) -> str:
        """The backend: "live", "processes", or the address of a scheduler."""
        return self._settings.text(_BACKEND_KEY, LIVE)

    @property
    def address(self) -> str:
        """Address of the scheduler that was chosen last; "" if none was."""
        return self._settings.text(_SCHEDULER_KEY)

    @property
    def n_processes(self) -> int:
        """Number of processes of the backend "processes": one for each processor."""
        return threads.processors()

    def select(self, choice: str) -> None:
        """Choose the backend of the runs that are started from now on.

        ``choice`` is "live", "processes" or the address of a scheduler.
        """
        self._settings.set(_BACKEND_KEY, choice)
        if choice not in (LIVE, PROCESSES):
            self._settings.set(_SCHEDULER_KEY, choice)
        self.changed.emit()

    def runner(self) -> Runner | None:
        """Return the runner of the chosen backend; None for "live", on which the window itself runs plans."""
        return (
            None
            if self.choice == LIVE
            else partial(_run_on_workers, self.choice, self.n_processes)
        )


def _run_on_workers(
    choice: str,
    n_processes: int,
    plan: Plan,
    dataset: FoldedDataset,
    target: RunTarget | None,
) -> Iterator[Event]:
    """Carry out a run on worker processes, which are started before the run and stopped after it.

    ``choice`` is "processes" or the address of a scheduler of a
    cluster. ``target`` is where the study stores the finished parts of
    the run; None stores nothing.
    """
    from rankstudio.engine.experiment.execution.executors import (  # noqa: PLC0415 - for the runs' thread alone
        on_cluster,
        on_processes,
    )

    # Gently: the processes have low priority, so that the window stays quick.
    workers = (
        on_processes(n_processes, gently=True)
        if choice == PROCESSES
        else on_cluster(choice)
    )
    with workers as executor:
        yield from engine_run(plan, dataset, target, executor)


_MEMORY_KEY = "run/memory"


class MemoryBudget(QObject):
    """Limit of the memory for data and runs: stored in the settings, in force through the environment.

    The environment variable reaches all threads and worker processes.
    If it is already set when the program starts, it takes precedence
    over the stored limit until the user chooses another limit.

    Parameters
    ----------
    settings : Settings
        Store the limit from one start of the program to the next.
    """

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._variable_at_start = os.environ.get(memory.VARIABLE)
        if not self._variable_at_start:
            self._set_variable(_valid_size_or_empty(settings.text(_MEMORY_KEY)))

    @property
    def asked(self) -> str:
        """The limit that is in force, such as "4GB"; "" for half of the free memory."""
        return _valid_size_or_empty(os.environ.get(memory.VARIABLE, ""))

    def ask(self, size: str) -> None:
        """Set another limit from now on; "" for half of the free memory.

        Raises
        ------
        ParameterError
            If ``size`` is not a valid size.
        """
        if size:
            memory.n_bytes(size)  # called for its error only
        self._settings.set(_MEMORY_KEY, size or None)
        self._set_variable(size)
        self.changed.emit()

    def close(self) -> None:
        """Restore the environment variable as it was when the program started."""
        self._set_variable(self._variable_at_start or "")

    def _set_variable(self, size: str) -> None:
        """Set the environment variable that threads and worker processes read; remove it for ""."""
        if size:
            os.environ[memory.VARIABLE] = size
        else:
            os.environ.pop(memory.VARIABLE, None)


def _valid_size_or_empty(size: str) -> str:
    """Return a size of memory, or "" if the text is not a valid size."""
    try:
        memory.n_bytes(size)
    except ParameterError:
        return ""
    return size
