"""The line at the bottom of the Select page: the shown run, and the other runs that work and wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.preference_source import (
    learned_from,
    preferences_of,
)
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

_FOLLOW_HELP = tr(
    "Show the run and fold that are being computed. Ends when you choose another run or fold."
)
_WORKING_STATES = (RunState.RUNNING, RunState.PAUSED)
_MAX_WAITING_BUTTONS = 5  # number of waiting runs that have buttons
_PIXELS_BEFORE = 8  # logical pixels before the links to questions
_PIXELS_BETWEEN = 4  # logical pixels between two links
_STATE_WORDS = {
    RunState.DONE: tr("done"),
    RunState.FAILED: tr("failed"),
    RunState.CANCELLED: tr("stopped"),
    RunState.UNFINISHED: tr("interrupted"),
}


NO_RUN = tr("No run yet: choose a method and press Run.")
_NO_RUN_HERE = tr("No run on these data yet: choose a method and press Run.")


class RunStrip(QFrame):
    """The line of runs: the shown run with its progress or outcome, and the other runs that work and wait.

    A click on a run shows it. For a finished run, links lead to further
    questions about it.

    Attributes
    ----------
    follow_button, all_runs_button : QPushButton
        Buttons to follow the run that works, and to see all runs.
    tells_why : bool
        Whether the page exists to which the link `why_button` leads.
    tells_how_sure : callable
        Returns whether the page to which the link `sure_button` leads
        has an answer for a run.
    why_button, sure_button, other_method_button : QPushButton
        Links: why these features were selected, how sure the selection
        is, and compare with another method.
    selected : Signal(int)
        The user wants to see a run (its number).
    shown : Signal()
        The progress of the runs was updated.
    """

    selected = Signal(int)
    shown = Signal()

    def __init__(self) -> None:
        super().__init__()
        named(self, "run-strip", tr("running and waiting runs"), role="panel")
        self.setFixedHeight(HEIGHT)

        # The run that is shown: its name, progress and state.
        self._run = named(_RunButton(self.selected), "strip-run")
        self._bar = named(
            DeferredProgressBar(), "strip-progress", tr("progress of the run")
        )
        self._bar.setFixedWidth(120)
        self._state = named(ElidedLabel(), "strip-state", role="muted")
        self._covered = CoveredNumber()

        # The next questions, which are offered when no run works or waits.
        self.why_button = _run_button(tr("Why these features?"), "strip-why")
        self.sure_button = _run_button(tr("How sure?"), "strip-sure")
        self.other_method_button = _run_button(
            tr("Compare with another method"), "strip-another"
        )
        self._next = _NextQuestions(
            self.why_button, self.sure_button, self.other_method_button
        )
        self.follow_button = _run_button(
            tr("Follow"), "strip-follow", "quiet", _FOLLOW_HELP
        )
        self.follow_button.setCheckable(True)

        # Runs other than the one shown: the running one, and the waiting ones.
        self._running_label = named(PlainLabel(), role="muted")
        self._working = _RunButton(self.selected)
        self._waiting_label = named(PlainLabel(), role="muted")
        self._waiting = [_RunButton(self.selected) for _ in range(_MAX_WAITING_BUTTONS)]
        self._more = named(PlainLabel(), role="muted")
        self.all_runs_button = _run_button(
            tr("Compare"), "strip-compare", "quiet", tr("Show all runs")
        )

        # All widgets in one row, from left to right.
        row = fill(
            QHBoxLayout(self),
            self._run,
            self._bar,
            self._state,
            margins=(8, 0, 8, 0),
            spacing=8,
        )
        fill(row, self._covered, (self._next, 1))
        fill(
            row,
            self._running_label,
            self._working,
            self._waiting_label,
            *self._waiting,
            self._more,
        )
        fill(row, self.follow_button, self.all_runs_button)

        # The strip starts without runs.
        self._placeholder = NO_RUN
        self.tells_why = False
        self.tells_how_sure: Callable[[RunRecord], bool] = lambda _: False
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
        """Show the progress of the runs.

        Parameters
        ----------
        records : sequence of RunRecord
            All runs of the window.
        shown_record : RunRecord or None
            The shown run. If it is None, the run on the data in use
            that works or, without one, that ended last is shown; the
            outcome of a run on other data could be mistaken for one on
            these data.
        view : callable, optional
            Returns the results of a run by the measures in use.
        dataset : FoldedDataset or None
            The data in use.
        sealed : callable
            Returns whether the test part of a run is sealed and a click can show it.
        placeholder : str
            Text without a run.
        """
        # If there are runs, but on other data only, the usual
        # placeholder is replaced by one that says so.
        of_dataset = [record for record in records if record.dataset is dataset]
        has_only_other_data = bool(records) and not of_dataset
        self._placeholder = (
            _NO_RUN_HERE
            if placeholder == NO_RUN and has_only_other_data
            else placeholder
        )

        # The run that works, and those that wait.
        current = next(
            (record for record in records if record.state in _WORKING_STATES), None
        )
        queued = [
            record
            for record in records
            if record.state is RunState.QUEUED and record is not shown_record
        ]

        # Without a shown run, the strip shows the run that works on
        # these data, or the latest one that ended.
        ended = (record for record in reversed(of_dataset) if record.state.ended)
        if shown_record is None:
            shown_record = current if current in of_dataset else next(ended, None)
        self._show_one(shown_record, view, sealed=sealed)

        # The next questions are offered when nothing works or waits.
        is_idle = current is None and not queued
        self._next.offer(
            self._questions(shown_record)
            if shown_record is not None and is_idle
            else ()
        )
        self._show_others(current if current is not shown_record else None, queued)
        self.follow_button.setVisible(current is not None)
        self.all_runs_button.setEnabled(bool(records))
        self.shown.emit()

    def _show_one(
        self,
        record: RunRecord | None,
        view: Callable[[RunRecord], MeasuredRun] | None,
        *,
        sealed: Callable[[RunRecord], bool],
    ) -> None:
        """Show a run with its progress or its outcome; None shows the placeholder.

        ``view`` returns the results of a run by the measures in use;
        None for those that the run has stored. ``sealed`` returns
        whether the test part of a run is sealed, which then hides its
        measures behind a button.
        """
        self._run.show_run(record)
        self._bar.setVisible(record is not None and record.state in _WORKING_STATES)
        if record is None:
            self._covered.hide()
            self._state.setText(self._placeholder)
            return
        # `_covered` is the button that shows the measures of a sealed test part.
        result = record.result
        is_tested = result is not None and any(fold.test for fold in result.folds)
        self._covered.setVisible(is_tested and sealed(record))
        self._bar.set_share(record.progress)
        measured_result = view(record).result if view is not None else result
        self._state.setText(
            _outcome_text(record, measured_result)
            if record.state.ended
            else _progress_text(record)
        )

    def _show_others(
        self, working: RunRecord | None, queued: Sequence[RunRecord]
    ) -> None:
        """Show the run that works, if it is not the shown one, and the runs that wait."""
        self._running_label.setText(tr("running:") if working is not None else "")
        self._working.show_run(
            working, f" · {percentage(working.progress)}" if working is not None else ""
        )
        self._waiting_label.setText(tr("waiting:") if queued else "")

        # Buttons without a waiting run get None, and are hidden.
        # `_waiting` has _MAX_WAITING_BUTTONS buttons.
        for button, record in zip_longest(self._waiting, queued[:_MAX_WAITING_BUTTONS]):
            button.show_run(record)
        n_more = len(queued) - _MAX_WAITING_BUTTONS
        self._more.setText(
            tr("and {left} more").format(left=n_more) if n_more > 0 else ""
        )

    def _questions(self, record: RunRecord) -> tuple[QWidget, ...]:
        """Return the links to questions that make sense for a run, the most important first."""
        if record.state is not RunState.DONE:
            return ()
        entry = record.plan.entry
        links = []
        if self.tells_why and not entry.featureless:
            links.append(self.why_button)
        if self.tells_how_sure(record):
            links.append(self.sure_button)
        return (*links, self.other_method_button)


class _RunButton(QPushButton):
    """A button that asks for its run to be shown; hidden without a run."""

    def __init__(self, selected: SignalInstance) -> None:
        super().__init__()
        named(self, role="quiet")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._key = 0
        self.clicked.connect(lambda: selected.emit(self._key))

    def show_run(self, record: RunRecord | None, suffix: str = "") -> None:
        """Show the title of a run, followed by a suffix; hide for None."""
        self.setVisible(record is not None)
        if record is None:
            return
        self._key = record.key
        text = tr("run {key} {title}").format(key=record.key, title=record.title)

        # A single & would underline the next letter.
        self.setText(text.replace("&", "&&") + suffix)
        self.setToolTip(
            plain(
                tr("Show {text} on {name}").format(text=text, name=record.dataset.name)
            )
        )


class _NextQuestions(QWidget):
    """Links to questions about a finished run; as many of them as fit are visible, the first ones first."""

    def __init__(self, *links: QWidget) -> None:
        super().__init__()
        self._links = links
        self._offered: tuple[QWidget, ...] = ()
        self._heading = named(PlainLabel(tr("Next:")), role="muted")
        fill(
            QHBoxLayout(self),
            self._heading,
            *links,
            1,
            margins=(_PIXELS_BEFORE, 0, 0, 0),
            spacing=_PIXELS_BETWEEN,
        )

        # The links only get the width that the text of the outcome leaves.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def offer(self, questions: tuple[QWidget, ...]) -> None:
        """Set the links to offer; those that fit are shown."""
        self._offered = questions
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Return a width of 0; otherwise visible links would keep their width, and never be hidden."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the links that fit."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show the first of the offered links, as many as the width has space for, and hide all others."""
        free_width = self.width() - _PIXELS_BEFORE - self._heading.sizeHint().width()
        fitting = set()
        for link in self._offered:
            free_width -= _PIXELS_BETWEEN + link.sizeHint().width()
            if free_width < 0:
                break
            fitting.add(link)
        for link in self._links:
            link.setVisible(link in fitting)
        self._heading.setVisible(bool(fitting))


def _run_button(text: str, name: str, role: str = "link", tip: str = "") -> QPushButton:
    """Return a button of the strip, which the Tab key reaches.

    ``name`` is its object name, ``role`` its look in the style sheet,
    and ``tip`` its tooltip.
    """
    button = named(QPushButton(text), name, tip=tip, role=role)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


def _progress_text(record: RunRecord) -> str:
    """Describe the progress of a working run: its fold, its current work and the time left.

    A run that learns from preferences, not from labels, says so first.
    """
    if record.stopping:
        return tr("stopping after the current step")
    if record.state is RunState.PAUSED:
        return tr("paused")
    if record.state is RunState.QUEUED:
        return tr("waiting")
    fold_text = ""
    if record.unit and record.n_folds > 1:
        fold_text = tr("fold {fold} of {n_folds}").format(
            fold=record.unit.fold, n_folds=record.n_folds
        )
    work_text = ""
    if record.working:  # what is being computed, and the share that is done
        share = record.working.share
        work_text = (
            f"{record.working.what} {percentage(share)}"
            if share >= 0.01
            else record.working.what
        )
    learned = learned_from(preferences_of(record.plan))
    texts = (learned, fold_text, work_text, time_text(record.seconds_left))
    return " · ".join(text for text in texts if text)


def _outcome_text(record: RunRecord, result: RunResult | None) -> str:
    """Describe how a run ended, with the mean of its first measure."""
    # A run that did not finish has no measure to show, but may have a remark.
    word = _STATE_WORDS.get(record.state, "")
    if record.state is RunState.CANCELLED and record.n_units:
        return tr("stopped at {done} of {n} fits").format(
            done=record.units_done, n=record.n_units
        )
    if record.state is not RunState.DONE or result is None:
        return " · ".join(part for part in (word, record.remark) if part)

    # The mean of its first measure over the folds.
    name = result.plan.measures[0]
    average = result.average.get(name)
    measure_text = ""
    if average is not None:
        measure_text = trn(
            "{name} {average:.4f} ({part}), {n} fold",
            "{name} {average:.4f} ({part}), mean over {n} folds",
            record.n_folds,
        ).format(name=name, average=average, part=result.part.label, n=record.n_folds)

    # What it learned from, if not from labels, and where its results come from.
    on_disk = tr("read from disk") if record.dataset.from_disk else ""
    learned = learned_from(preferences_of(record.plan))
    return " · ".join(text for text in (word, learned, measure_text, on_disk) if text)
