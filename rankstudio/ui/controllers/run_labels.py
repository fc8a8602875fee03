"""What the user calls runs and says of them: names, notes and tags, kept in the study."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.experiment.storage.run_index import RunLabel
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.results.runs_panel import RunsPanel


class RunLabels(QObject):
    """Takes what is written into the table of runs into their records and the study.

    Parameters
    ----------
    models : Models
    panel : RunsPanel
    """

    failed = Signal(str)

    def __init__(self, models: Models, panel: RunsPanel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._models = models
        panel.written.connect(self._write)
        panel.hiddenAsked.connect(self._hide)
        models.runs.storageBegan.connect(self._store_named)

    @Slot(int, str, str)
    def _write(self, key: int, what: str, text: str) -> None:
        record, text = self._models.runs.record(key), " ".join(text.split())
        if what == "tags":
            tags = tuple(dict.fromkeys(tag.strip() for tag in text.split(",") if tag.strip()))
            self._relabel(record, replace(record.label, tags=tags))
        elif what == "note":
            self._relabel(record, replace(record.label, note=text))
        else:
            self._relabel(record, replace(record.label, name="" if text == record.plan.title else text))

    @Slot(int)
    def _hide(self, key: int) -> None:
        """Hide a run, which is not compared then, or show it again."""
        record = self._models.runs.record(key)
        self._models.marks.tick(key, record.label.hidden)
        self._relabel(record, replace(record.label, hidden=not record.label.hidden))

    def _relabel(self, record: RunRecord, label: RunLabel) -> None:
        study = self._models.study_store.study
        if study is not None and study.read_only and record.stored is not None:
            self.failed.emit(f"{study.path}: this study may not be written.")
        elif label != record.label:
            record.label = label
            self._models.runs.changed.emit(record)
            self._models.runs.labelled.emit(record)
            self._store(record)

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
                f"Noting what run {record.key} is called", store.write_marks, on_error=self.failed.emit
            )
