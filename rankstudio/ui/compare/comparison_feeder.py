"""What the feeders of the Compare page share: when they look again, and the one task that each waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.ui.background.job import Job
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.compare.comparison_scope import ComparisonScope

Found = TypeVar("Found")


class ComparisonFeeder(QObject):
    """Updates something whenever other runs are compared, or they are compared by something else.

    Parameters
    ----------
    scope : ComparisonScope
        Which runs are compared.
    worker : Worker
        For tasks.
    slot : str
        Of the tasks: of two that wait only the later is carried out.
    """

    failed = Signal(str)

    def __init__(
        self, scope: ComparisonScope, worker: Worker, *, slot: str, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._scope, self._session, self._runs = scope, scope.session, scope.runs
        self._worker, self._slot = worker, slot
        self._shown: tuple[object, ...] = ()
        self._job: Job | None = None
        for signal in (
            self._runs.added,
            self._runs.ended,
            self._runs.shownChanged,
            self._session.measureChanged,
            self._session.datasetChanged,
            scope.marks.changed,
            scope.measured.changed,
        ):
            signal.connect(self.update)

    @Slot()
    def update(self) -> None:
        """Update what is seen, where what it depends on is not what it was."""
        raise NotImplementedError

    def _submit(self, what: str, compute: Callable[[], Found], receive: Callable[[Found], object]) -> None:
        """Have something computed on the worker, and receive it on the window's thread."""
        self._job = self._worker.task(
            what, compute, on_done=receive, on_error=self.failed.emit, slot=self._slot
        )

    def _abandon(self) -> None:
        """Let what was asked for another state come to nothing."""
        if self._job is not None:
            self._job.abandon()
            self._job = None
