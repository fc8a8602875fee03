"""Messages on a run that has ended: why it failed, and warnings on its results."""

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
    """Shows the message of a run when the run ends, and later whenever the run is shown.

    The message is hidden while another run, or a page that shows no
    run, is visible. A message that the user has closed is not shown
    again. A warning that was visible long enough is only added to the
    kept messages when the run is shown again. Texts of :meth:`note` are
    hidden when another page or run is shown, or a run begins.

    Parameters
    ----------
    runs : Runs
    pages : Workspace
        Tells which page is shown.
    notice : Notices
        Shows these messages among others.
    """

    def __init__(
        self, runs: Runs, pages: Workspace, notice: Notices, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._runs = runs
        self._pages = pages
        self._notice = notice

        # Messages that the user has not closed, by the number of the run.
        self._messages: dict[int, tuple[str, Level]] = {}

        # Numbers of runs whose warning has hidden itself.
        self._read_keys: set[int] = set()

        # Number of the run whose message was shown last.
        self._message_key: int | None = None
        self._note_text = ""  # text of the last `note`

        # The user closes a message; a warning hides itself after a while.
        notice.closed.connect(self._close)
        notice.expired.connect(self._mark_read)
        for signal in (runs.shownChanged, runs.added, pages.pageChanged):
            signal.connect(self._hide_note)
        runs.removed.connect(self._forget)
        for signal in (runs.shownChanged, pages.pageChanged):
            signal.connect(self._follow)

    def show_outcome(self, record: RunRecord) -> None:
        """Show the message of a run that has ended.

        The message says why the run failed, or else is the first of the
        run's notes. A run without failure and notes has no message.
        """
        # An earlier end of the same run, which was continued, may have a message.
        self._forget(record.key)
        if record.state is RunState.FAILED:
            self._messages[record.key] = record.failure, "error"
        elif notes := (
            # What the run noted, and notes on folds whose models all rank alike.
            *record.notes,
            *undecided_notes(record.plan, tuple(record.folds.values())),
        ):
            self._messages[record.key] = notes[0].what, "warning"
        if record.key in self._messages:
            self._say(record.key)

    @Slot(str)
    def note(self, text: str) -> None:
        """Show a message that is hidden when another page or run is shown, or a run begins."""
        self._note_text = text
        self._notice.say(text, "info")

    @Slot()
    def _hide_note(self) -> None:
        """Remove the message of the last `note`."""
        if self._note_text:
            self._notice.withdraw(self._note_text)
        self._note_text = ""

    def _say(self, key: int | None) -> None:
        """Show the message of a run, by its number, instead of the last message.

        None, or a run without a message, only removes the last message.
        A warning that the user has seen long enough is not shown again,
        but put into the list of kept messages.
        """
        if self._message_key in self._messages:
            text, _ = self._messages[self._message_key]
            self._notice.withdraw(text)
        self._message_key = key
        if key in self._messages:
            text, level = self._messages[key]
            if key in self._read_keys:
                self._notice.keep(text, level)
            else:
                self._notice.say(text, level)

    @Slot()
    def _follow(self) -> None:
        """Show the message of the shown run, and none of another run."""
        record = self._runs.shown
        self._say(
            record.key if record is not None and self._pages.page in _PAGES else None
        )

    @Slot(int)
    def _forget(self, key: int) -> None:
        """Remove the message of a run, by its number, whether it is shown or not."""
        if self._message_key == key:
            self._say(None)
        self._messages.pop(key, None)
        self._read_keys.discard(key)

    @Slot(str)
    def _close(self, text: str) -> None:
        """Forget a message that the user has closed, if it is the message of a run."""
        if (
            self._message_key in self._messages
            and text == self._messages[self._message_key][0]
        ):
            del self._messages[self._message_key]

    @Slot(str)
    def _mark_read(self, text: str) -> None:
        """Mark a warning that has hidden itself as read, if it is the message of a run."""
        if (
            self._message_key in self._messages
            and text == self._messages[self._message_key][0]
        ):
            self._read_keys.add(self._message_key)
