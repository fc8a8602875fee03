"""Messages of a run when it ends: why it failed, and cautions on its results."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.experiment.results.results import undecided_notes
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.shell.workspace import Workspace
from rankstudio.ui.widgets import Notices
from rankstudio.ui.widgets.notice import Level

_PAGES = frozenset({"select", "features", "evidence", "queries", "report"})
"""Pages that show one run."""


class RunMessages(QObject):
    """Shows a run's message where the run ends, and from then on beside the run, until the user closes it.

    It goes when another run or a page without it is shown, and comes again with the run: a warning that was
    in sight long enough among the kept messages. In the table of runs it stays. What is only to be noted goes
    by itself when a run begins or another page is shown.

    Parameters
    ----------
    runs : Runs
    pages : Workspace
    notice : Notices
        Where others have messages too, which stay.
    """

    def __init__(self, runs: Runs, pages: Workspace, notice: Notices, parent: QObject) -> None:
        super().__init__(parent)
        self._runs = runs
        self._pages = pages
        self._notice = notice
        self._open: dict[int, tuple[str, Level]] = {}  # by the run's key, those that have not been closed
        self._read: set[int] = set()  # those that went by themselves
        self._told: int | None = None  # the run whose message is shown, or was the last
        self._passing = ""  # what goes when something else is done
        notice.closed.connect(self._close)
        notice.put_by.connect(self._put_by)
        for signal in (runs.shownChanged, runs.added, pages.pageChanged):
            signal.connect(self._pass)
        runs.removed.connect(self._forget)
        for signal in (runs.shownChanged, pages.pageChanged):
            signal.connect(self._follow)

    def tell(self, record: RunRecord) -> None:
        """Show the message of a run that has ended."""
        self._forget(record.key)
        if record.state is RunState.FAILED:
            self._open[record.key] = record.failure, "error"
        elif notes := (*record.notes, *undecided_notes(record.plan, tuple(record.folds.values()))):
            self._open[record.key] = notes[0].what, "warning"
        if record.key in self._open:
            self._say(record.key)

    @Slot(str)
    def note(self, text: str) -> None:
        """Show something that goes by itself when another page is shown or a run begins."""
        self._passing = text
        self._notice.say(text, "info")

    @Slot()
    def _pass(self) -> None:
        if self._passing:
            self._notice.withdraw(self._passing)
        self._passing = ""

    def _say(self, key: int | None) -> None:
        """Show the message of a run in place of another run's."""
        if self._told in self._open:
            self._notice.withdraw(self._open[self._told][0])
        self._told = key
        if key in self._open:
            (self._notice.keep if key in self._read else self._notice.say)(*self._open[key])

    @Slot()
    def _follow(self) -> None:
        """Show the message of the shown run, and none of another run."""
        record = self._runs.shown
        self._say(record.key if record is not None and self._pages.page in _PAGES else None)

    @Slot(int)
    def _forget(self, key: int) -> None:
        if self._told == key:
            self._say(None)
        self._open.pop(key, None)
        self._read.discard(key)

    @Slot(str)
    def _close(self, text: str) -> None:
        """Let a message that was closed not come again."""
        if self._told in self._open and text == self._open[self._told][0]:
            del self._open[self._told]

    @Slot(str)
    def _put_by(self, text: str) -> None:
        """Let a warning that went by itself cover nothing again."""
        if self._told in self._open and text == self._open[self._told][0]:
            self._read.add(self._told)
