"""The status bar: the present work and its remaining time, seal and last saving; and the bar of loading."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStatusBar

from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.style.number_format import time_text
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.progress_bar import DeferredProgressBar
from rankstudio.ui.widgets import ElidedLabel
from rankstudio.ui.widgets.layout import fill, named

_ABOUT_SEAL = tr(
    "View, Seal test part: results of the test part are hidden until the seal is broken."
)
_ABOUT_MESSAGES = tr("Show recent warnings again.")
_MILLISECONDS = 2000


class StatusBar(QStatusBar):
    """The status bar of the window.

    Parameters
    ----------
    stored : callable
        Returns the time when a result was last stored; None for never.

    Attributes
    ----------
    messages : QPushButton
        Shows the number of kept messages; hidden while there are none.
    """

    def __init__(self, stored: Callable[[], datetime | None] = lambda: None) -> None:
        super().__init__()
        self._stored_at = stored  # returns when a result was last stored
        self._plan_saved_at = datetime.min  # not saved yet
        self.setObjectName("status-bar")
        self.setSizeGripEnabled(False)
        self._preparation = ""  # sentence on code that is being compiled
        self._work = named(ElidedLabel(tr("Ready")), "status-work")  # what is done now
        self._work.setContentsMargins(8, 0, 0, 0)
        self._saved = named(
            PlainLabel(), tip=tr("Time when the plan or a result was last saved.")
        )
        self._workers = named(
            PlainLabel(),
            tip=tr("Threads in use for computations, besides the window's own."),
        )
        self.addWidget(self._work, 1)
        self._seal = named(PlainLabel(), "status-seal", tip=_ABOUT_SEAL)
        self.messages = named(
            QPushButton(), "status-messages", tip=_ABOUT_MESSAGES, role="link"
        )
        self.messages.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.messages.hide()
        self.addPermanentWidget(self.messages)

        # Permanent widgets are at the right, in this order.
        for label in (self._seal, self._saved, self._workers):
            self.addPermanentWidget(label)

        # The time of the last result has no signal, and is read every two seconds.
        self._timer = QTimer(self)
        self._timer.setInterval(_MILLISECONDS)
        self._timer.timeout.connect(self._show_saved)
        self._timer.start()

    def close_down(self) -> None:
        """Stop watching the study."""
        self._timer.stop()

    def say(self, text: str) -> None:
        """Show a sentence."""
        self._work.setText(text)

    @Slot(str)
    def hint(self, text: str) -> None:
        """Show a sentence on the widget under the mouse over the present text.

        The text "" hides the sentence again.
        """
        self.showMessage(text)

    def text(self) -> str:
        """Return the text on the present work."""
        return self._work.text()

    def show_preparation(self, sentence: str) -> None:
        """Show a sentence on code that is being compiled.

        The sentence "" is shown as "Ready".
        """
        if sentence or self.text() == self._preparation:
            self.say(sentence or tr("Ready"))
        self._preparation = sentence

    def show_run(self, record: RunRecord | None, waiting: int) -> None:
        """Show the state of a run, and how many others wait (``waiting``).

        Without a run (None), the shown sentence stays.
        """
        if record is not None:
            self.say(run_text(record, waiting))

    def show_workers(self, busy: int) -> None:
        """Show how many threads compute (``busy``); nothing for 0."""
        self._workers.setText(
            trn("{n} worker", "{n} workers", busy).format(n=busy) if busy else ""
        )

    def show_seal(self, text: str) -> None:
        """Show whether the test part is sealed, and how often it was unsealed."""
        self._seal.setText(text)

    @Slot(int)
    def show_messages(self, count: int) -> None:
        """Show how many messages are kept (``count``), on the button that shows them again.

        The button is hidden for 0.
        """
        self.messages.setText(trn("{n} message", "{n} messages", count).format(n=count))
        self.messages.setVisible(bool(count))

    @Slot()
    def show_saved(self) -> None:
        """Show that the plan was saved just now."""
        self._plan_saved_at = datetime.now()
        self._show_saved()

    @Slot()
    def _show_saved(self) -> None:
        """Show when the plan or a result was last saved, if anything was."""
        latest = max(self._plan_saved_at, self._stored_at() or datetime.min)
        if latest > datetime.min:
            self._saved.setText(tr("autosaved {now:%H:%M}").format(now=latest))


class LoadingBar(QFrame):
    """A bar that shows the name of the data being opened and the progress, with a button to cancel."""

    def __init__(self) -> None:
        super().__init__()
        named(self, "loading-bar", role="panel")
        self._text = PlainLabel()
        self._bar = DeferredProgressBar()
        self._bar.setAccessibleName(tr("Progress of reading"))
        self.cancel = named(QPushButton(tr("Cancel")), "cancel-loading")
        fill(
            QHBoxLayout(self),
            self._text,
            (self._bar, 1),
            self.cancel,
            margins=(12, 6, 12, 6),
            spacing=12,
        )
        self.hide()

    @Slot(str)
    def begin(self, name: str) -> None:
        """Show that data of a name are being opened."""
        self._text.setText(tr("Opening {name} …").format(name=name))
        self._bar.set_share(0.0)
        self.show()

    @Slot(float)
    def set_share(self, share: float) -> None:
        """Show the share of the data that is read."""
        self._bar.set_share(share)


def run_text(record: RunRecord, waiting: int) -> str:
    """Return the sentence on the state of a run.

    An example is "Running Greedy RankRLS on MQ2008, fold 3 of 5 · 0:12
    left". ``waiting`` is the number of other runs that wait.
    """
    subject = tr("{title} on {name}").format(
        title=record.title, name=record.dataset.name
    )
    queue_text = (
        f" · {tr('{waiting} waiting').format(waiting=waiting)}" if waiting else ""
    )
    match record.state:
        case RunState.RUNNING | RunState.PAUSED:
            is_running = record.state is RunState.RUNNING
            sentence = tr("Running {what}") if is_running else tr("Paused: {what}")
            if record.unit and record.n_folds > 1:
                subject = tr("{what}, fold {fold} of {n_folds}").format(
                    what=subject, fold=record.unit.fold, n_folds=record.n_folds
                )
            work_text = f", {record.working.what}" if record.working else ""
            remaining = time_text(record.seconds_left) if is_running else ""
            time_left_text = f" · {remaining}" if remaining else ""
            return f"{sentence.format(what=subject)}{work_text}{time_left_text}{queue_text}"
        case RunState.FAILED:
            return tr("{what} failed").format(what=subject)
        case RunState.CANCELLED:
            return tr("{what} stopped; finished results are kept").format(what=subject)
        case RunState.DONE:
            sentence = tr("{what} done in {seconds:.1f} s").format(
                what=subject, seconds=record.clock.seconds
            )
            return sentence + queue_text
        case _:
            return tr("{what} is waiting").format(what=subject)
