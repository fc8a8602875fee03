"""The run that is shown, and those that work and wait, in one line at the bottom of the Select page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from rankstudio.engine.experiment.plan.plan import learned_from
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.style.number_format import time_text
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.style.progress_bar import DeferredProgressBar
from rankstudio.ui.widgets import CoveredNumber, ElidedLabel
from rankstudio.ui.widgets.layout import fill, named

HEIGHT = 38
"""Of the line, in logical pixels."""

_ABOUT_FOLLOW = tr("Show the run and fold that are being computed. Ends when you choose another run or fold.")
_WORKING = (RunState.RUNNING, RunState.PAUSED)
_MOST_WAITING = 5  # of which there are buttons
_BEFORE, _BETWEEN = 8, 4  # logical pixels beside the questions
_WORDS = {
    RunState.DONE: tr("done"),
    RunState.FAILED: tr("failed"),
    RunState.CANCELLED: tr("stopped"),
    RunState.UNFINISHED: tr("interrupted"),
}


class RunStrip(QFrame):
    """The run that is shown, with its progress or outcome; beside it the others that work and wait.

    Attributes
    ----------
    follow, every : QPushButton
        For the run that works to be shown from now on, and for all runs to be seen.
    why, sure, another : QPushButton
        To see why the features of the run were selected, how sure they are, and to compare other methods.
    selected : Signal(int)
        Number of the run that the user wants to see.
    """

    selected = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        named(self, "run-strip", tr("running and waiting runs"), role="panel")
        self.setFixedHeight(HEIGHT)
        self._key: int | None = None
        self._run = named(QPushButton(), "strip-run", role="quiet")
        self._run.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._bar = named(DeferredProgressBar(), "strip-progress", tr("progress of the run"))
        self._bar.setFixedWidth(120)
        self._state = named(ElidedLabel(), "strip-state", role="muted")
        self._covered = CoveredNumber()
        self.why = _link(tr("Why these features?"), "strip-why")
        self.sure = _link(tr("How sure?"), "strip-sure")
        self.another = _link(tr("Compare with another method"), "strip-another")
        self._links = self.why, self.sure, self.another
        self._next = _NextQuestions(*self._links)
        self.follow = named(QPushButton(tr("Follow")), "strip-follow", tip=_ABOUT_FOLLOW, role="quiet")
        self.follow.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.follow.setCheckable(True)
        self._beside = named(PlainLabel(), role="muted")
        self._working = self._chip()
        self._behind = named(PlainLabel(), role="muted")
        self._waiting = [self._chip() for _ in range(_MOST_WAITING)]
        self._more = named(PlainLabel(), role="muted")
        self.every = named(QPushButton(tr("Compare")), "strip-compare", tip=tr("Show all runs"), role="quiet")
        self.every.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row = fill(QHBoxLayout(self), self._run, self._bar, self._state, margins=(8, 0, 8, 0), spacing=8)
        fill(row, self._covered, (self._next, 1))
        fill(row, self._beside, self._working, self._behind, *self._waiting, self._more)
        fill(row, self.follow, self.every)
        self._run.clicked.connect(lambda: self._key is not None and self.selected.emit(self._key))
        self.show_runs(())

    def show_runs(
        self,
        records: Sequence[RunRecord],
        shown: RunRecord | None = None,
        view: Callable[[RunRecord], MeasuredRun] | None = None,
        *,
        sealed: bool = False,
    ) -> None:
        """Show how far the runs are.

        Parameters
        ----------
        records : sequence of RunRecord
        shown : RunRecord or None
            The run that is looked at; where none is, the one that works, else the last one that ended.
        view : callable, optional
            Returns what a run found, as it is measured now.
        sealed : bool
            Whether what was measured on the test part is covered.
        """
        current = next((record for record in records if record.state in _WORKING), None)
        queued = [record for record in records if record.state is RunState.QUEUED and record is not shown]
        ended = (record for record in reversed(records) if record.state.ended)
        shown = shown or current or next(ended, None)
        self._key = shown.key if shown is not None else None
        self._run.setVisible(shown is not None)
        result = shown.result if shown is not None else None
        self._covered.setVisible(sealed and result is not None and any(fold.test for fold in result.folds))
        self.every.setEnabled(bool(records))
        self._next.offer(() if shown is None or current or queued else self._questions(shown))
        self._bar.setVisible(shown is not None and shown.state in _WORKING)
        self.follow.setVisible(current is not None)
        if shown is None:
            self._state.setText(tr("No run yet: choose a method and press Run."))
        else:
            _write(self._run, shown)
            self._bar.set_share(shown.progress)
            found = view(shown).result if view is not None else shown.result
            self._state.setText(_outcome(shown, found) if shown.state.ended else _progress(shown))
        other = current if current is not shown else None
        self._beside.setText(tr("running:") if other is not None else "")
        self._working.setVisible(other is not None)
        if other is not None:
            _write(self._working, other)
            self._working.setText(f"{self._working.text()} · {other.progress:.0%}")
            self._working.setProperty("run", other.key)
        self._behind.setText(tr("waiting:") if queued else "")
        for chip, record in zip(self._waiting, [*queued, *[None] * _MOST_WAITING], strict=False):
            chip.setVisible(record is not None)
            if record is not None:
                _write(chip, record)
                chip.setProperty("run", record.key)
        left = len(queued) - _MOST_WAITING
        self._more.setText(tr("and {left} more").format(left=left) if left > 0 else "")

    def _questions(self, shown: RunRecord) -> tuple[QWidget, ...]:
        """Return the links to what can be asked of a run, the most important first."""
        if shown.state is not RunState.DONE:
            return ()
        entry = shown.plan.entry
        asked = not entry.featureless, entry.selects, True
        return tuple(link for link, applies in zip(self._links, asked, strict=True) if applies)

    def _chip(self) -> QPushButton:
        chip = named(QPushButton(), role="quiet")
        chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        chip.clicked.connect(lambda: self.selected.emit(chip.property("run")))
        return chip


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

    def offer(self, wanted: tuple[QWidget, ...]) -> None:
        """Offer some of the questions, as soon as there is room for them."""
        self._wanted = wanted
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
        seen = set()
        for link in self._wanted:
            room -= _BETWEEN + link.sizeHint().width()
            if room < 0:
                break
            seen.add(link)
        for link in self._links:
            link.setVisible(link in seen)
        self._said.setVisible(bool(seen))


def _link(text: str, name: str) -> QPushButton:
    link = named(QPushButton(text), name, role="link")
    link.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return link


def _write(button: QPushButton, record: RunRecord) -> None:
    text = tr("run {key} {title}").format(key=record.key, title=record.title)
    button.setText(text.replace("&", "&&"))
    button.setToolTip(plain(tr("Show {text} on {name}").format(text=text, name=record.dataset.name)))


def _progress(record: RunRecord) -> str:
    if record.state is RunState.PAUSED:
        return tr("paused")
    if record.state is RunState.QUEUED:
        return tr("waiting")
    where = (
        tr("fold {fold} of {n_folds}").format(fold=record.unit.fold, n_folds=record.n_folds)
        if record.unit and record.n_folds > 1
        else ""
    )
    doing, done = (record.working.what, record.working.share) if record.working else ("", 0.0)
    doing = f"{doing} {100 * done:.0f} %" if done >= 0.01 else doing
    return " · ".join(
        filter(None, (learned_from(record.plan.preferences), where, doing, time_text(record.seconds_left)))
    )


def _outcome(record: RunRecord, found: RunResult | None) -> str:
    word = _WORDS.get(record.state, "")
    if record.state is RunState.CANCELLED and record.n_units:
        return tr("stopped at {done} of {n} fits").format(done=record.units_done, n=record.n_units)
    if record.state is not RunState.DONE or found is None:
        return " · ".join(part for part in (word, record.remark) if part)
    name = found.plan.measures[0]
    average = found.average.get(name)
    where = tr("test") if any(fold.test for fold in found.folds) else tr("validation")
    part = (
        ""
        if average is None
        else trn(
            "{where} {name} {average:.4f}, {n} fold",
            "{where} {name} {average:.4f}, mean over {n} folds",
            record.n_folds,
        ).format(where=where, name=name, average=average, n=record.n_folds)
    )
    on_disk = tr("read from disk") if record.dataset.from_disk else ""
    learned = learned_from(record.plan.preferences)
    return " · ".join(text for text in (word, learned, part, on_disk) if text)
