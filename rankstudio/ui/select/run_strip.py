"""The run that is shown, and those that work and wait, in one line at the bottom of the Select page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.preference_source import learned_from, preferences_of
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.support.number_format import percentage
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.style.number_format import time_text
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.style.progress_bar import DeferredProgressBar
from rankstudio.ui.widgets import CoveredNumber, ElidedLabel
from rankstudio.ui.widgets.layout import fill, named

HEIGHT = 38
"""Height of the line, in logical pixels."""

_FOLLOW_HELP = tr("Show the run and fold that are being computed. Ends when you choose another run or fold.")
_WORKING_STATES = (RunState.RUNNING, RunState.PAUSED)
_MAX_WAITING_BUTTONS = 5  # of which there are buttons
_BEFORE = 8  # logical pixels beside the questions
_BETWEEN = 4
_STATE_WORDS = {
    RunState.DONE: tr("done"),
    RunState.FAILED: tr("failed"),
    RunState.CANCELLED: tr("stopped"),
    RunState.UNFINISHED: tr("interrupted"),
}


NO_RUN = tr("No run yet: choose a method and press Run.")
_NO_RUN_HERE = tr("No run on these data yet: choose a method and press Run.")


class RunStrip(QFrame):
    """The run that is shown, with its progress or outcome; beside it the others that work and wait.

    Attributes
    ----------
    follow, every : QPushButton
        For the run that works to be shown from now on, and for all runs to be seen.
    tells_why, tells_how_sure : bool
        Whether there are pages that say why features were selected, and how sure they are.
    why, sure, another : QPushButton
        To see why the features of the run were selected, how sure they are, and to compare other methods.
    selected : Signal(int)
        Number of the run that the user wants to see.
    shown : Signal()
        How far the runs are was shown anew.
    """

    selected = Signal(int)
    shown = Signal()

    def __init__(self) -> None:
        super().__init__()
        named(self, "run-strip", tr("running and waiting runs"), role="panel")
        self.setFixedHeight(HEIGHT)
        self._run = named(_RunButton(self.selected), "strip-run")
        self._bar = named(DeferredProgressBar(), "strip-progress", tr("progress of the run"))
        self._bar.setFixedWidth(120)
        self._state = named(ElidedLabel(), "strip-state", role="muted")
        self._covered = CoveredNumber()
        self.why = _run_button(tr("Why these features?"), "strip-why")
        self.sure = _run_button(tr("How sure?"), "strip-sure")
        self.another = _run_button(tr("Compare with another method"), "strip-another")
        self._links = self.why, self.sure, self.another
        self._next = _NextQuestions(*self._links)
        self.follow = _run_button(tr("Follow"), "strip-follow", "quiet", _FOLLOW_HELP)
        self.follow.setCheckable(True)
        self._beside = named(PlainLabel(), role="muted")
        self._working = _RunButton(self.selected)
        self._behind = named(PlainLabel(), role="muted")
        self._waiting = [_RunButton(self.selected) for _ in range(_MAX_WAITING_BUTTONS)]
        self._more = named(PlainLabel(), role="muted")
        self.every = _run_button(tr("Compare"), "strip-compare", "quiet", tr("Show all runs"))
        row = fill(QHBoxLayout(self), self._run, self._bar, self._state, margins=(8, 0, 8, 0), spacing=8)
        fill(row, self._covered, (self._next, 1))
        fill(row, self._beside, self._working, self._behind, *self._waiting, self._more)
        fill(row, self.follow, self.every)
        self._nothing = NO_RUN
        self.tells_why = False
        self.tells_how_sure = False
        self.show_runs(())

    def show_runs(
        self,
        records: Sequence[RunRecord],
        shown_record: RunRecord | None = None,
        view: Callable[[RunRecord], MeasuredRun] | None = None,
        *,
        dataset: FoldedDataset | None = None,
        sealed: Callable[[RunRecord], bool] = lambda _: False,
        placeholder: str = NO_RUN,
    ) -> None:
        """Show how far the runs are.

        Parameters
        ----------
        records : sequence of RunRecord
        shown_record : RunRecord or None
            The shown run; where none is, the one that works, else the last one that ended on the
            data in use. The outcome of a run on other data would be taken for theirs.
        view : callable, optional
            Returns what a run found, as it is measured now.
        dataset : FoldedDataset or None
            The data in use.
        sealed : callable
            Returns whether the test part of a run is sealed and a click can show it.
        placeholder : str
            What is said where there is no run.
        """
        of_dataset = [record for record in records if record.dataset is dataset]
        self._nothing = _NO_RUN_HERE if placeholder == NO_RUN and records and not of_dataset else placeholder
        current = next((record for record in records if record.state in _WORKING_STATES), None)
        queued = [
            record for record in records if record.state is RunState.QUEUED and record is not shown_record
        ]
        ended = (record for record in reversed(of_dataset) if record.state.ended)
        shown_record = shown_record or (current if current in of_dataset else None) or next(ended, None)
        self._show_one(shown_record, view, sealed=sealed)
        self._next.offer(() if shown_record is None or current or queued else self._questions(shown_record))
        self._show_others(current if current is not shown_record else None, queued)
        self.follow.setVisible(current is not None)
        self.every.setEnabled(bool(records))
        self.shown.emit()

    def _show_one(
        self,
        record: RunRecord | None,
        view: Callable[[RunRecord], MeasuredRun] | None,
        *,
        sealed: Callable[[RunRecord], bool],
    ) -> None:
        """Show a run with its progress or its outcome."""
        self._run.show_run(record)
        self._bar.setVisible(record is not None and record.state in _WORKING_STATES)
        if record is None:
            self._covered.hide()
            self._state.setText(self._nothing)
            return
        result = record.result
        tested = result is not None and any(fold.test for fold in result.folds)
        self._covered.setVisible(tested and sealed(record))
        self._bar.set_share(record.progress)
        measured_result = view(record).result if view is not None else result
        self._state.setText(
            _outcome_text(record, measured_result) if record.state.ended else _progress_text(record)
        )

    def _show_others(self, working: RunRecord | None, queued: Sequence[RunRecord]) -> None:
        """Show the run that works, where another one is shown, and those that wait."""
        self._beside.setText(tr("running:") if working is not None else "")
        self._working.show_run(working, f" · {percentage(working.progress)}" if working is not None else "")
        self._behind.setText(tr("waiting:") if queued else "")
        for button, record in zip_longest(self._waiting, queued[:_MAX_WAITING_BUTTONS]):
            button.show_run(record)
        n_more = len(queued) - _MAX_WAITING_BUTTONS
        self._more.setText(tr("and {left} more").format(left=n_more) if n_more > 0 else "")

    def _questions(self, record: RunRecord) -> tuple[QWidget, ...]:
        """Return the links to what can be asked of a run, the most important first."""
        if record.state is not RunState.DONE:
            return ()
        entry = record.plan.entry
        applicable = self.tells_why and not entry.featureless, self.tells_how_sure and entry.selects, True
        return tuple(link for link, applies in zip(self._links, applicable, strict=True) if applies)


class _RunButton(QPushButton):
    """Asks for a run to be shown; hidden without one."""

    def __init__(self, selected: SignalInstance) -> None:
        super().__init__()
        named(self, role="quiet")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._key = 0
        self.clicked.connect(lambda: selected.emit(self._key))

    def show_run(self, record: RunRecord | None, suffix: str = "") -> None:
        """Carry the title of a run, and what is said behind it."""
        self.setVisible(record is not None)
        if record is None:
            return
        self._key = record.key
        text = tr("run {key} {title}").format(key=record.key, title=record.title)
        self.setText(text.replace("&", "&&") + suffix)
        self.setToolTip(plain(tr("Show {text} on {name}").format(text=text, name=record.dataset.name)))


class _NextQuestions(QWidget):
    """The questions that a finished run leads to, as links: the first ones where there is no room for all."""

    def __init__(self, *links: QWidget) -> None:
        super().__init__()
        self._links = links
        self._wanted: tuple[QWidget, ...] = ()
        self._said = named(PlainLabel(tr("Next:")), role="muted")
        fill(QHBoxLayout(self), self._said, *links, 1, margins=(_BEFORE, 0, 0, 0), spacing=_BETWEEN)
        # It takes the room that is left and asks for none: the outcome comes first.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def offer(self, questions: tuple[QWidget, ...]) -> None:
        """Offer some of the questions, as soon as there is room for them."""
        self._wanted = questions
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Return a width of 0: a layout asks for the room of what is seen, which would keep it."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the links that fit."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.width() - _BEFORE - self._said.sizeHint().width()
        fitting = set()
        for link in self._wanted:
            room -= _BETWEEN + link.sizeHint().width()
            if room < 0:
                break
            fitting.add(link)
        for link in self._links:
            link.setVisible(link in fitting)
        self._said.setVisible(bool(fitting))


def _run_button(text: str, name: str, role: str = "link", tip: str = "") -> QPushButton:
    button = named(QPushButton(text), name, tip=tip, role=role)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


def _progress_text(record: RunRecord) -> str:
    """Describe the progress of a working run: its fold, its current step and the time left."""
    if record.state is RunState.PAUSED:
        return tr("paused")
    if record.state is RunState.QUEUED:
        return tr("waiting")
    fold_text = (
        tr("fold {fold} of {n_folds}").format(fold=record.unit.fold, n_folds=record.n_folds)
        if record.unit and record.n_folds > 1
        else ""
    )
    work_text, share = (record.working.what, record.working.share) if record.working else ("", 0.0)
    work_text = f"{work_text} {percentage(share)}" if share >= 0.01 else work_text
    return " · ".join(
        filter(
            None,
            (learned_from(preferences_of(record.plan)), fold_text, work_text, time_text(record.seconds_left)),
        )
    )


def _outcome_text(record: RunRecord, result: RunResult | None) -> str:
    """Describe how a run ended, with the mean of its first measure."""
    word = _STATE_WORDS.get(record.state, "")
    if record.state is RunState.CANCELLED and record.n_units:
        return tr("stopped at {done} of {n} fits").format(done=record.units_done, n=record.n_units)
    if record.state is not RunState.DONE or result is None:
        return " · ".join(part for part in (word, record.remark) if part)
    name = result.plan.measures[0]
    average = result.average.get(name)
    part = (
        ""
        if average is None
        else trn(
            "{name} {average:.4f} ({part}), {n} fold",
            "{name} {average:.4f} ({part}), mean over {n} folds",
            record.n_folds,
        ).format(name=name, average=average, part=result.part.label, n=record.n_folds)
    )
    on_disk = tr("read from disk") if record.dataset.from_disk else ""
    learned = learned_from(preferences_of(record.plan))
    return " · ".join(text for text in (word, learned, part, on_disk) if text)
