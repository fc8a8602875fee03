"""What the user calls runs and says of them: names, notes and tags, kept in the study, with undo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.experiment.storage.study_contents import RunLabel
from rankstudio.ui.compare.runs_panel import RunsPanel
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import LastingChange
from rankstudio.ui.page.controller import Controller


class RunLabels(Controller):
    """Takes what is written into the table of runs into their records and the study.

    Parameters
    ----------
    models : Models
    panel : RunsPanel
    """

    def __init__(self, models: Models, panel: RunsPanel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._models = models
        panel.written.connect(self._write)
        panel.hiddenAsked.connect(self._hide)
        models.runs.storageBegan.connect(self._store_named)
        models.runs.cleared.connect(self._forget)

    @Slot(int, str, str)
    def _write(self, key: int, what: str, text: str) -> None:
        record, text = self._models.runs.record(key), " ".join(text.split())
        if what == "tags":
            tags = tuple(dict.fromkeys(tag.strip() for tag in text.split(",") if tag.strip()))
            label = replace(record.label, tags=tags)
        elif what == "note":
            label = replace(record.label, note=text)
        else:
            label = replace(record.label, name="" if text == record.plan.title else text)
        if label != record.label and self._may_write(record):
            self._models.session.undo.push(_Relabelling(self._relabel, record, label, what))

    @Slot(int)
    def _hide(self, key: int) -> None:
        """Hide a run, which is not compared then, or show it again."""
        record = self._models.runs.record(key)
        self._models.marks.tick(key, record.label.hidden)
        self._relabel(record, replace(record.label, hidden=not record.label.hidden))

    def _relabel(self, record: RunRecord, label: RunLabel) -> None:
        if label != record.label and self._may_write(record):
            record.label = label
            self._models.runs.changed.emit(record)
            self._models.runs.labelled.emit(record)
            self._store(record)

    def _may_write(self, record: RunRecord) -> bool:
        """Tell whether the study takes what is said of a run; say so where it does not."""
        study = self._models.study_store.study
        refused = study is not None and study.read_only and record.stored is not None
        if study is not None and refused:
            self.failed.emit(tr("{path}: this study is read-only.").format(path=study.path))
        return not refused

    @Slot()
    def _forget(self) -> None:
        """Let nothing be undone any more that was written of runs of a study that is closed."""
        undo = self._models.session.undo
        if any(isinstance(undo.command(i), _Relabelling) for i in range(undo.count())):
            undo.clear()

    @Slot(object)
    def _store_named(self, record: RunRecord) -> None:
        """Note what was written before the study knew the run."""
        if record.label != RunLabel():
            self._store(record)

    def _store(self, record: RunRecord) -> None:
        """Note it in the study; a run that has not begun is not there yet."""
        store, key = self._models.study_store, record.stored
        if store.study is not None and key is not None:
            store.label(store.study, key, record.label)
            self._models.task_worker.task(
                tr("Storing the name of run {key}").format(key=record.key),
                store.write_marks,
                on_error=self.failed.emit,
            )


_CHANGED = {
    "note": tr("the note of run {key}"),
    "tags": tr("the tags of run {key}"),
}


class _Relabelling(LastingChange):
    """One name, note or list of tags that was written.

    ``done`` tells that it is the same change again, after other data were opened.
    """

    def __init__(
        self,
        relabel: Callable[[RunRecord, RunLabel], None],
        record: RunRecord,
        label: RunLabel,
        what: str,
        before: RunLabel | None = None,
    ) -> None:
        super().__init__(_CHANGED.get(what, tr("the name of run {key}")).format(key=record.key))
        self._relabel, self._record, self._what = relabel, record, what
        self._before, self._after = record.label if before is None else before, label
        self._done = before is not None

    def again(self) -> _Relabelling:
        return _Relabelling(self._relabel, self._record, self._after, self._what, self._before)

    def redo(self) -> None:
        if not self._done:
            self._relabel(self._record, self._after)
        self._done = False

    def undo(self) -> None:
        self._relabel(self._record, self._before)
