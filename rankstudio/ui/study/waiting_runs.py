"""Runs that still wait when the window closes: kept, and offered at the next start."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Slot

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.compare.comparison_runs import ComparisonRuns
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.widgets import Notices

_DELAY_MILLISECONDS = 400


class WaitingRuns(QObject):
    """Keeps the plans of the runs that wait, soon after each change, for a process may be killed.

    A run whose turn has come is in its study, which offers to continue it.

    Parameters
    ----------
    runs : Runs
    comparison : ComparisonRuns
        Has runs that wait for their data, and queues those of the last time.
    settings : Settings
        Where the plans are kept.
    notice : Notices
        Offers them.
    """

    def __init__(
        self,
        runs: Runs,
        comparison: ComparisonRuns,
        settings: Settings,
        notice: Notices,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runs, self._comparison, self._settings, self._notice = runs, comparison, settings, notice
        self._left: tuple[Plan, ...] = ()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY_MILLISECONDS)
        self._timer.timeout.connect(self._keep)
        for signal in (runs.added, runs.changed, runs.removed):
            signal.connect(self._keep_soon)

    @property
    def text(self) -> str:
        """What is offered, as a sentence; "" where nothing is."""
        n = len(self._left)
        if not n:
            return ""
        said = trn("{n} run is still waiting.", "{n} runs are still waiting.", n)
        return said.format(n=n)

    def restore(self) -> None:
        """Read what waited the last time, and offer it."""
        self._left = self._settings.waiting
        self.offer()

    def offer(self) -> None:
        """Offer what waited the last time, unless that is done."""
        if self._left:
            self._notice.say(self.text, "info", tr("Run"), self.run)

    def run(self) -> None:
        """Queue what waited the last time."""
        self._notice.withdraw(self.text)
        plans, self._left = self._left, ()
        if plans:
            self._comparison.start(plans)

    def close(self) -> None:
        """Keep what waits now for the next time, and what was offered and not taken no longer."""
        self._left = ()
        for signal in (self._runs.added, self._runs.changed, self._runs.removed):
            signal.disconnect(self._keep_soon)
        self._timer.stop()
        self._keep()

    @Slot()
    def _keep_soon(self) -> None:
        self._timer.start()

    @Slot()
    def _keep(self) -> None:
        queued = [record.plan for record in self._runs.records if record.state is RunState.QUEUED]
        self._settings.save_waiting([*self._left, *queued, *self._comparison.waiting])
