"""The user's changes of runs, with undo: names, notes, tags and removals, which the study stores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from rankstudio.engine.experiment.storage.study_contents import RunLabel
from rankstudio.ui.compare.runs_panel import RunsPanel
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import Runs, leave
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import NOTHING_CHOSEN, LastingChange, Session
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.process.turns import single_shot
from rankstudio.ui.widgets import Question

_LABEL_REFUSED = tr("{path}: this study is read-only.")
_REMOVAL_REFUSED = tr(
    "{path}: run {key} stays in the list, because this study is read-only."
)

_SETTLED_MILLISECONDS = 400


class RunChanges(Controller):
    """Stores edits in the table of runs and choices of models in the study, and removes runs.

    A removed run leaves the list. The study keeps its results, and
    marks it as removed.

    Parameters
    ----------
    models : Models
    panel : RunsPanel
        The table of runs, in which the user edits.
    parent : QWidget
        Widget over which the question before a removal opens.
    """

    offered = Signal(str, str, object)
    """A message that offers to undo a removal: text, level, and the actions of its buttons by label."""
    withdrawn = Signal(str)
    """A message is out of date and has to be hidden (its text)."""

    def __init__(self, models: Models, panel: RunsPanel, parent: QWidget) -> None:
        super().__init__(parent)
        self._models = models
        self._runs = models.runs
        self._undo = models.session.undo
        self._window = parent
        self._removal_text = ""  # text of the message that offers to undo a removal
        panel.written.connect(self._write)
        panel.hiddenAsked.connect(self._hide)
        self._runs.storageBegan.connect(self._store_named)
        self._runs.marked.connect(self._mark)
        self._runs.cleared.connect(self._forget)
        self._runs.choiceKept.connect(self._store_choice)
        # A timer: the choice of a model is kept once it has not changed
        # for a moment.
        self._settled = single_shot(_SETTLED_MILLISECONDS, self.keep_choice, self)
        models.session.choiceChanged.connect(self._settled.start)
        # Another change withdraws the offer to undo a removal.
        self._undo.indexChanged.connect(self._withdraw)

    @Slot(object)
    def ask_removals(self, records: tuple[RunRecord, ...]) -> None:
        """Remove runs, with one message that undoes all removals.

        If a run is still at work, the user is asked first, as the
        removal stops it.
        """
        n_removed = len([record for record in records if self.ask_removal(record)])
        if n_removed > 1:
            text = trn("{n} run is removed.", "{n} runs are removed.", n_removed)
            self._say_removed(text.format(n=n_removed), n_removed)

    def ask_removal(self, record: RunRecord) -> bool:
        """Remove a run, with undo, and return whether it is removed.

        Ask first if the run has not ended.
        """
        if self._is_refused(record, _REMOVAL_REFUSED):  # by a read-only study
            return False
        if not record.state.ended:
            text = tr(
                "Stop and remove run {key}, {title} on {name}? Completed parts can be restored with Undo."
            )
            text = text.format(
                key=record.key, title=record.title, name=record.dataset.name
            )
            if not Question.ask(self._window, tr("Remove run"), text, tr("&Remove")):
                return False
        self._undo.push(
            _Removal(self._models.session, self._runs, record)
        )  # removes it
        self._say_removed(tr("Run {key} is removed.").format(key=record.key), 1)
        return True

    def _say_removed(self, text: str, n_runs: int) -> None:
        """Report that runs are removed, with a button that restores all of these runs.

        ``text`` is the message. ``n_runs`` is the number of removed
        runs: each removal is one step of the undo stack.
        """
        self._withdraw()
        self._removal_text = text
        undo = partial(self._undo.setIndex, self._undo.index() - n_runs)
        self.offered.emit(text, "info", {tr("Undo"): undo})

    @Slot(int, str, str)
    def _write(self, key: int, description: str, text: str) -> None:
        """Take over a text that the user wrote into a cell.

        ``description`` is the key of the column: "tags", "note" or
        "method". ``key`` is the number of the run.
        """
        record = self._runs.record(key)
        text = " ".join(text.split())  # single spaces
        if description == "tags":
            tags = tuple(
                dict.fromkeys(tag.strip() for tag in text.split(",") if tag.strip())
            )
            label = replace(record.label, tags=tags)
        elif description == "note":
            label = replace(record.label, note=text)
        else:  # "method" is the column of names; the plan's title is no name of its own
            label = replace(
                record.label, name="" if text == record.plan.title else text
            )
        # A read-only study refuses. A pushed command is done at once.
        if label != record.label and not self._is_refused(record, _LABEL_REFUSED):
            self._undo.push(_Relabelling(self._relabel, record, label, description))

    @Slot(int)
    def _hide(self, key: int) -> None:
        """Hide a run and untick it, or show a hidden run again and tick it."""
        record = self._runs.record(key)
        self._models.marks.tick(key, record.label.hidden)
        self._relabel(record, replace(record.label, hidden=not record.label.hidden))

    def _relabel(self, record: RunRecord, label: RunLabel) -> None:
        """Give a run another label, show and store it; refuse it if the study is read-only."""
        if label != record.label and not self._is_refused(record, _LABEL_REFUSED):
            record.label = label
            self._runs.changed.emit(record)
            self._runs.labelled.emit(record)
            self._store_label(record)

    def _is_refused(self, record: RunRecord, reason: str) -> bool:
        """Return whether the study is read-only and contains the run.

        If so, report ``reason`` to the user.
        """
        study = self._models.study_store.study
        if study is None or not study.read_only or record.stored is None:
            return False
        self.failed.emit(reason.format(path=study.path, key=record.key))
        return True

    @Slot()
    def _forget(self) -> None:
        """Clear the undo stack if it contains changes of runs, as the study of these runs is closed."""
        changes = (self._undo.command(i) for i in range(self._undo.count()))
        if any(isinstance(change, _Relabelling | _Removal) for change in changes):
            self._undo.clear()

    @Slot()
    def _withdraw(self) -> None:
        """Withdraw the offer to undo a removal: after another change, it would undo more than the removal."""
        if self._removal_text:
            self.withdrawn.emit(self._removal_text)

    @Slot(object)
    def _store_named(self, record: RunRecord) -> None:
        """Store the label and the choice of a model that the user made before a run was stored.

        Called when the study has begun to store the run.
        """
        if record.label != RunLabel():
            self._store_label(record)
        if record.choice != NOTHING_CHOSEN:
            self._store_choice(record)

    @Slot()
    def keep_choice(self) -> None:
        """Copy the choice of a model to the record of the shown run, by which the study stores it.

        Called soon after a choice, as the process may be killed.
        """
        self._settled.stop()
        leave(self._models.session, self._runs)

    @Slot(object)
    def _store_choice(self, record: RunRecord) -> None:
        """Store which model of a run is chosen, unless no study, or a read-only one, has the run."""
        study = self._models.study_store.study
        key = record.stored  # of the run in the study; None if it is not there
        choice = record.choice
        if study is not None and key is not None and not study.read_only:
            text = tr("Storing the choice of run {key}").format(key=record.key)
            self._store(
                text, partial(study.set_choice, key, choice.values, choice.x_value)
            )

    def _store_label(self, record: RunRecord) -> None:
        """Store the label of a run in the study, unless the study does not contain the run yet."""
        study = self._models.study_store.study
        key = record.stored
        if study is not None and key is not None:
            text = tr("Storing the name of run {key}").format(key=record.key)
            self._store(text, partial(study.set_label, key, record.label))

    @Slot(object, bool)
    def _mark(self, record: RunRecord, removed: bool) -> None:
        """Store in the study whether a run is removed; its results stay there in either case."""
        study = self._models.study_store.study
        key = record.stored  # of the run in the study; None if it is not there
        if study is not None and key is not None:
            text = tr("{removed} run {key}").format(
                removed=tr("Removing") if removed else tr("Restoring"), key=record.key
            )
            self._store(text, partial(study.remove if removed else study.restore, key))

    def _store(self, description: str, write: Callable[[], None]) -> None:
        store = self._models.study_store
        store.note(write)
        self._models.task_worker.task(
            description, store.write_notes, on_error=self.failed.emit
        )


_CHANGE_NAMES = {
    "note": tr("the note of run {key}"),
    "tags": tr("the tags of run {key}"),
}


class _Relabelling(LastingChange):
    """A change of a run's name, note or tags.

    ``before`` is the label before the change if the change is already
    done: the command then repeats an earlier one after other data were
    opened, and its first ``redo`` does nothing.
    """

    def __init__(
        self,
        relabel: Callable[[RunRecord, RunLabel], None],
        record: RunRecord,
        label: RunLabel,
        description: str,
        before: RunLabel | None = None,
    ) -> None:
        # Every other column that can be edited changes the name.
        super().__init__(
            _CHANGE_NAMES.get(description, tr("the name of run {key}")).format(
                key=record.key
            )
        )
        self._relabel = relabel
        self._record = record
        self._description = description
        # A command with a label of ``before`` stands for a change that
        # is in effect already. The undo stack calls redo when a command
        # is pushed: this first redo does nothing then.
        self._label_before = record.label if before is None else before
        self._label_after = label
        self._is_done = before is not None

    def again(self) -> _Relabelling:
        """Return the same change of a run's label as a new command, which is already done.

        When the new command is pushed on the undo stack, nothing
        changes until the user undoes it.
        """
        return _Relabelling(
            self._relabel,
            self._record,
            self._label_after,
            self._description,
            before=self._label_before,
        )

    def redo(self) -> None:
        if not self._is_done:
            self._relabel(self._record, self._label_after)
        self._is_done = False

    def undo(self) -> None:
        self._relabel(self._record, self._label_before)


class _Removal(LastingChange):
    """The command of the undo stack that removes a run from the list.

    ``was_shown`` tells whether the run is shown again after undo.
    """

    def __init__(
        self, session: Session, runs: Runs, record: RunRecord, was_shown: bool = False
    ) -> None:
        super().__init__(tr("removing run {key}").format(key=record.key))
        self._session = session
        self._runs = runs
        self._record = record
        self._was_shown = was_shown

    def again(self) -> _Removal:
        return _Removal(self._session, self._runs, self._record, self._was_shown)

    def redo(self) -> None:
        if self._record in self._runs.records:
            self._was_shown = self._runs.shown is self._record
            self._runs.remove(self._record)

    def undo(self) -> None:
        self._runs.restore(self._record)
        if self._was_shown and self._record.dataset is self._session.dataset:
            self._runs.show(self._record)
