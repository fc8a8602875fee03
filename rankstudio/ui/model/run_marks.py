"""Which runs are compared: those that are ticked, against which of them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.ui.model.run_queue import Runs


class RunMarks(QObject):
    """The ticks of the runs, and the reference. A new run is ticked.

    Parameters
    ----------
    runs : Runs
    """

    changed = Signal()
    """Other runs are ticked, or there is another reference."""

    def __init__(self, runs: Runs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._unticked: frozenset[int] = frozenset()
        self._reference: int | None = None
        runs.removed.connect(self._forget)
        runs.cleared.connect(self._forget_all)

    @property
    def reference(self) -> int | None:
        """Number of the run that the others are compared with; None for the best one."""
        return self._reference

    def is_ticked(self, key: int) -> bool:
        """Tell whether a run is compared."""
        return key not in self._unticked

    def tick(self, key: int, on: bool) -> None:
        """Compare a run, or leave it out; the reference can not be left out."""
        unticked = self._unticked - {key} if on or key == self._reference else self._unticked | {key}
        if unticked != self._unticked:
            self._unticked = unticked
            self.changed.emit()

    def refer_to(self, key: int | None) -> None:
        """Compare with another run, which is ticked then; None for the best one."""
        if key != self._reference:
            self._reference = key
            self._unticked -= {key} if key is not None else set()
            self.changed.emit()

    @Slot(int)
    def _forget(self, key: int) -> None:
        if self._reference == key:
            self.refer_to(None)

    @Slot()
    def _forget_all(self) -> None:
        self._unticked, self._reference = frozenset(), None
        self.changed.emit()
