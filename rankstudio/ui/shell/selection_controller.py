"""What the line in the toolbar says of session, runs and current model, and what a choice there does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_queue import Runs, look_at
from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.shell.selection_line import Part, SelectionLine
from rankstudio.ui.style.number_format import combination_label

Entries = Sequence[tuple[object, str]]

OPEN = ""
"""The value of the entry that opens something else."""


class SelectionController(QObject):
    """Keeps the line at what is selected.

    Parameters
    ----------
    session, runs, current, settings
        What it shows and changes.
    line : SelectionLine
    """

    openAsked = Signal()
    """The user wants to open something that was not open lately."""
    pathChosen = Signal(str)
    """The user wants to open what was open lately."""
    foldChosen = Signal()
    """The user looks at another fold."""

    def __init__(
        self,
        session: Session,
        runs: Runs,
        current: CurrentModel,
        settings: Settings,
        line: SelectionLine,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._runs, self._current, self._settings = session, runs, current, settings
        self._line = line
        line.picked.connect(self._choose)
        for signal in (current.changed, runs.added, runs.removed, runs.cleared):
            signal.connect(self._show)
        self._show()

    @Slot()
    def _show(self) -> None:
        shown = self._current.shown
        dataset, record, model = shown.dataset, shown.record, shown.model
        if dataset is None:
            self._line.show_parts({})
            return
        parts = {"dataset": Part(dataset.name, self._datasets, self._session.plan.data)}
        if len(dataset.folds) > 1:
            fold = shown.fold.number if shown.fold is not None else None
            parts["fold"] = Part(
                tr("fold {fold}").format(fold=fold) if fold else tr("all folds"), self._folds, fold
            )
        if record is not None:
            text = tr("run {key} {title}").format(key=record.key, title=record.plan.title)
            parts["run"] = Part(text, self._listed_runs, record.key)
        elif self._runs.records:  # of other data, or of these divided otherwise
            parts["run"] = Part(tr("no run"), self._listed_runs)
        if model is not None:
            parts["parameters"] = Part(shown.model_label, self._combinations, model.values)
            if model.path.step_kind is not StepKind.ITERATIONS and len(model.path.steps) > 1:
                word = tr("round") if model.path.step_kind is StepKind.ROUNDS else "k ="
                parts["size"] = Part(f"{word} {model.x_value}", self._sizes, model.x_value)
        self._line.show_parts(parts)

    def _datasets(self) -> Entries:
        recent = [(path, Path(path).name or path) for path in self._settings.recent]
        return [*recent, (OPEN, tr("Open…"))]

    def _folds(self) -> Entries:
        folds = self._session.dataset.folds if self._session.dataset else ()
        return [
            *((fold.number, tr("fold {number}").format(number=fold.number)) for fold in folds),
            (None, tr("all folds")),
        ]

    def _listed_runs(self) -> Entries:
        return [
            (
                r.key,
                tr("run {key} {title} on {name}").format(key=r.key, title=r.plan.title, name=r.dataset.name),
            )
            for r in self._runs.records
        ]

    def _combinations(self) -> Entries:
        record = self._current.shown.record
        axes, known = (record.plan.axes, record.combinations) if record is not None else ((), ())
        return [
            (None, tr("chosen by validation")),
            *((values, combination_label(axes, values)) for values in known),
        ]

    def _sizes(self) -> Entries:
        model = self._current.model
        if model is None:
            return []
        measure = self._session.measure
        values = model.path.validation.get(measure)
        texts = [""] * len(model.path.steps) if values is None else [f"   {measure} {v:.4f}" for v in values]
        places = [int(place) for place in model.path.x_values]
        word = tr("round") if model.path.step_kind is StepKind.ROUNDS else "k ="
        listed = [(place, f"{word} {place}{text}") for place, text in zip(places, texts, strict=True)]
        return [(None, tr("best by validation")), *listed]

    @Slot(str, object)
    def _choose(self, part: str, value: object) -> None:
        model = self._current.model
        if part == "dataset":
            self.openAsked.emit() if value == OPEN else self.pathChosen.emit(str(value))
        elif part == "fold":
            self.foldChosen.emit()
            self._session.look_at(value if isinstance(value, int) else None)
        elif part == "run" and isinstance(value, int):
            look_at(self._session, self._runs, self._runs.record(value))
        elif part == "parameters":
            self._session.select(value if isinstance(value, tuple) else None, None)
        elif part == "size" and model is not None:
            self._session.select(model.values, value if isinstance(value, int) else None)
