"""The current model: the path and the step that the study's choice stands for.

A path that the shown run has is taken from it; any other (a λ between the grid's, a feature pinned after
the run) is computed on the task worker, and only the last one asked for counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from PySide6.QtCore import QObject, Signal

from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.experiment.plan.combinations import Axis
from rankstudio.engine.experiment.plan.left_out_names import plain_name
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import Baseline, PathResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.shard import DOCUMENTS
from rankstudio.ui.background.job import CancelFlag, Ending, Job, Outcome
from rankstudio.ui.background.tasks import FoldCache, LivePath, PathWanted
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.language import tr
from rankstudio.ui.model.measured_runs import MeasuredRuns
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import Session
from rankstudio.ui.style.number_format import combination_label

LIVE: Literal["live"] = "live"
"""Key of the path at the slider's λ, where that is none of the grid's."""

NOT_WHOLE = tr(
    "The study keeps the best model of this path only; to test or export another one, run the plan again."
)
SEALED = tr("The test part is sealed: View, Seal the test part.")
NO_DOCUMENTS = tr("The data are not open, so only the models that the run chose have test measures.")


@dataclass(frozen=True, eq=False)
class SelectedModel:
    """The path that is looked at, and the step on it that is the current model.

    Attributes
    ----------
    key : int or "live"
        The run's combination, or the path computed for the slider.
    values : tuple
        On the plan's axes: λ.
    plan : Plan
        With which it was computed.
    fold : Fold
    path : PathResult
    position : int
        Of the current step in ``path.steps``.
    """

    key: int | str
    values: tuple[Any, ...]
    plan: Plan
    fold: Fold
    path: PathResult
    position: int

    @property
    def step(self) -> Step:
        """The current step."""
        return self.path.steps[self.position]

    @property
    def x_value(self) -> int:
        """Where on the path it stands: how many features it has, or which round it is."""
        return int(self.path.x_values[self.position])


class CurrentModel(QObject):
    """Follows study and runs, and says which model is the current one."""

    changed = Signal()
    """Another model, or none."""
    tested = Signal()
    """The measures on the test part have come."""
    failed = Signal(str)
    """A path could not be computed; a sentence."""

    def __init__(
        self,
        session: Session,
        runs: Runs,
        measured: MeasuredRuns,
        worker: Worker,
        fold_cache: FoldCache,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._runs, self._measured = session, runs, measured
        self._worker, self._fold_cache = worker, fold_cache
        self._live: LivePath | None = None
        self._asked: PathWanted | None = None
        self._job: Job | None = None
        self._model: SelectedModel | None = None
        self._test: dict[str, float] = {}
        self._untested = ""
        for signal in (
            session.datasetChanged,
            session.planChanged,
            session.choiceChanged,
            session.foldChanged,
            session.measureChanged,
            measured.changed,
        ):
            signal.connect(self.refresh)
        runs.shownChanged.connect(self.refresh)

    @property
    def model(self) -> SelectedModel | None:
        """The current model; None before there is one, and while all folds are looked at."""
        return self._model

    @property
    def live(self) -> LivePath | None:
        """The path computed last for the slider, where it still belongs to data, fold and plan."""
        live, asked = self._live, self._asked
        if live is None or asked is None or live.wanted.fold is not asked.fold:
            return None
        return live if live.wanted.plan == asked.plan else None

    @property
    def test(self) -> dict[str, float]:
        """The current model's measures on the test part; empty until they have come."""
        return self._test

    @property
    def untested(self) -> str:
        """Why the current model cannot be tested, as a sentence; "" where it can."""
        return self._untested

    @property
    def values(self) -> tuple[Any, ...]:
        """Where the slider stands: the chosen values, else what the validation chose, else the middle."""
        session = self._session
        axes = session.plan.axes
        chosen = self._chosen_by_validation()
        for values in (session.choice.values, chosen and chosen[0]):
            if values is not None and _on(axes, values):
                return values
        return tuple(axis.values[len(axis.values) // 2] for axis in axes)

    @property
    def baseline(self) -> Baseline | None:
        """The best single feature of the fold that is looked at, where the shown run has found it."""
        record, fold = self._record(), self._session.fold
        if record is None or fold is None:
            return None
        return self._measured.view(record).baselines.get(fold)

    @property
    def drawn(self) -> bool:
        """Whether its path is among the curves: they may show the run of another method than the form's."""
        model, record = self._model, self._record()
        if model is None:
            return False
        shown = record.plan if record is not None else self._session.plan
        return [axis.name for axis in model.plan.axes] == [axis.name for axis in shown.axes]

    def refresh(self) -> None:
        """Find the current model anew; ask for its path where nobody has it."""
        fold = self._session.watched
        found = self._from_run(fold) if fold is not None else None
        if found is not None or fold is None or not self._wants_live():
            self._forget_live()
            self._set(found)
            return
        plan = self._session.plan
        wanted = PathWanted(self._session.measurement(plan).plan(plan), fold, self.values)
        self._ask(wanted)
        found = self._from_live()
        # What is shown stays until the new path is there, rather than flicker, unless it is another fold's.
        if found is not None or self._model is None or self._model.fold is not fold:
            self._set(found)

    def _wants_live(self) -> bool:
        """Tell whether somebody has asked for a path that no run has, by the slider, a pin or a ban."""
        session = self._session
        if not session.plan.live or not session.has_documents:
            return False
        if session.choice.values is not None or self._record() is not None:
            return session.choice.values is not None or self._chosen_by_validation() is not None
        return any(session.plan.parameters.get(name) for name in ("pinned", "banned"))

    def _record(self) -> RunRecord | None:
        """Return the shown run where it is of the open data."""
        record = self._runs.shown
        return record if record is not None and record.dataset is self._session.dataset else None

    def _chosen_by_validation(self) -> tuple[tuple[Any, ...], int] | None:
        """Return values and position of the model that the shown run chose on this fold."""
        record, fold = self._record(), self._session.fold
        if record is None or fold is None:
            return None
        result = self._measured.view(record).folds.get(fold) or record.folds.get(fold)
        if result is None:
            return None
        return result.chosen.unit.values, result.chosen.step.number - 1

    def _from_run(self, fold: Fold) -> SelectedModel | None:
        """Return the model where the shown run has its path."""
        record = self._record()
        if record is None or not record.answers(self._session.plan, self._session.dataset):
            return None
        choice, chosen = self._session.choice, self._chosen_by_validation()
        values = choice.values if choice.values is not None else chosen and chosen[0]
        combination = record.combination_of(values) if values is not None else None
        if combination is None or values is None:
            return None
        measured, place = self._measured.view(record), (fold.number, combination)
        path = measured.paths.get(place) or record.paths.get(place)
        if path is None:
            return None
        by_validation = chosen[1] if chosen is not None and chosen[0] == values else None
        position = path_position(path, choice.place, by_validation, record.plan.select_by)
        return SelectedModel(combination, values, measured.plan, fold, path, position)

    def _from_live(self) -> SelectedModel | None:
        live = self.live
        if live is None:
            return None
        position = path_position(live.path, self._session.choice.place, live.best.number - 1, "")
        wanted = live.wanted
        return SelectedModel(LIVE, wanted.values, wanted.plan, wanted.fold, live.path, position)

    def _ask(self, wanted: PathWanted) -> None:
        asked = self._asked
        if asked and (asked.fold, asked.values, asked.plan) == (wanted.fold, wanted.values, wanted.plan):
            return
        # Where it takes seconds nobody waits for a path that is not wanted any more.
        slow = wanted.fold.train.n_documents > DOCUMENTS
        if asked and self._job and (slow or asked.fold is not wanted.fold or asked.plan != wanted.plan):
            self._job.abandon()
        self._asked = wanted
        at = combination_label(wanted.plan.axes, wanted.values)
        what = tr("Computing the path for {at}").format(at=at) if at else tr("Computing the path")

        def work(cancelled: CancelFlag) -> Iterator[LivePath]:
            yield self._fold_cache.path(wanted, cancelled)

        self._job = self._worker.submit(Job(what, work, on_message=self._take, on_end=self._end, slot="path"))

    def _take(self, live: LivePath) -> None:
        self._live = live
        found = self._from_live()
        if found is not None:  # else it is late: by now a path of the run is shown
            self._set(found)

    def _end(self, outcome: Outcome) -> None:
        if outcome.ending is Ending.FAILED:
            self._set(None)
            self.failed.emit(outcome.text)

    def _forget_live(self) -> None:
        self._asked = self._live = None
        if self._job is not None:
            self._job.abandon()
            self._job = None

    def _set(self, model: SelectedModel | None) -> None:
        self._model = model
        self._test = self._known_test()
        self._untested = "" if model is None or self._test else self._why_untested(model)
        if self._session.sealed:
            self._test, self._untested = {}, SEALED
        if model is not None and model.fold.test is not None and not self._test and not self._untested:

            def handle(measures: dict[str, float]) -> None:
                if self._model is not None and model.step is self._model.step:
                    self._test = measures
                    self.tested.emit()

            given = model.plan, model.fold, model.step
            self._worker.task(
                tr("Testing the model"), self._fold_cache.test, *given, on_done=handle, slot="test"
            )
        self.changed.emit()
        if self._untested or self._test:
            self.tested.emit()

    def _known_test(self) -> dict[str, float]:
        """Return what the run measured of its chosen model, which needs no documents."""
        record, model = self._record(), self._model
        if record is None or model is None:
            return {}
        result = self._measured.view(record).folds.get(model.fold.number)
        return dict(result.test) if result and model and result.chosen.step is model.step else {}

    def _why_untested(self, model: SelectedModel) -> str:
        if not self._session.has_documents:
            return NO_DOCUMENTS
        return "" if model.step.whole else NOT_WHOLE


def _on(axes: Sequence[Axis], values: tuple[Any, ...]) -> bool:
    """Tell whether values are on the axes of a plan: they may have been chosen with another one."""
    return len(values) == len(axes) and all(axis.allows(v) for axis, v in zip(axes, values, strict=True))


def path_position(path: PathResult, place: int | None, best: int | None, select_by: str) -> int:
    """Return the position of the step at a place, else the best one."""
    if path.step_kind is StepKind.ITERATIONS:
        return len(path.steps) - 1
    if place is not None:
        return int(np.abs(path.x_values - place).argmin())
    if best is not None:
        return best
    values = path.validation.get(select_by, path.criterion)
    lower = select_by not in path.validation or not measure(plain_name(select_by)).higher_is_better
    return int(np.where(np.isnan(values), np.inf, values if lower else -values).argmin())
