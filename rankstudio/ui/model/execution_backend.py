"""The execution backend of the next runs: this window step by step, processes here, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QObject, Signal

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import Event
from rankstudio.engine.support import threads
from rankstudio.ui.model.run_queue import Runner, engine_run
from rankstudio.ui.model.study_store import RunTarget
from rankstudio.ui.process.settings import Settings

LIVE, PROCESSES = "live", "processes"
_KEY, _ADDRESS = "run/crew", "run/scheduler"


class ExecutionBackend(QObject):
    """Remembers which one was chosen. The numbers are the same bit for bit, whoever computes them.

    Parameters
    ----------
    settings : Settings
        Keeps it from one start to the next.
    """

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings

    @property
    def choice(self) -> str:
        """Who it is: "live", "processes", or the address of a scheduler."""
        return self._settings.text(_KEY, LIVE)

    @property
    def address(self) -> str:
        """The scheduler that was chosen last, "" before any."""
        return self._settings.text(_ADDRESS)

    @property
    def n_processes(self) -> int:
        """How many processes would work: one for each processor."""
        return threads.processors()

    def select(self, choice: str) -> None:
        """Choose who carries out the runs that are started from now on."""
        self._settings.set(_KEY, choice)
        if choice not in (LIVE, PROCESSES):
            self._settings.set(_ADDRESS, choice)
        self.changed.emit()

    def runner(self) -> Runner | None:
        """Return what carries out a run by the present choice; None for the window itself."""
        return None if self.choice == LIVE else partial(_run, self.choice, self.n_processes)


def _run(
    choice: str, n_processes: int, plan: Plan, dataset: FoldedDataset, target: RunTarget | None
) -> Iterator[Event]:
    """Carry out a run on workers, which come and go with it."""
    from rankstudio.engine.experiment.execution.executors import (  # noqa: PLC0415 - for the runs' thread alone
        on_cluster,
        on_processes,
    )

    workers = on_processes(n_processes, gently=True) if choice == PROCESSES else on_cluster(choice)
    with workers as executor:
        yield from engine_run(plan, dataset, target, executor)
