"""A measurement of the shown model on its documents, made in the background while a view of it is visible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.steps import Step
from rankstudio.plugins.evidence.window.evidence import (
    AT_ONCE_SECONDS,
    SETTLED_MILLISECONDS,
    Evidence,
    Place,
    Progress,
)
from rankstudio.ui.background.simulation import BackgroundSimulation, SimulationState
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.selected_model import CurrentModel, SelectedModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.process.turns import single_shot

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.evidence_codec import StoredEvidence

# per document, feature and scored copy of the documents, for linear
# models on one core
SECONDS_PER_VALUE = 3e-7
_MAX_MODELS = 50  # models whose state is kept

_Key = tuple[int, int, tuple[str, ...]]
"""Identities of the model and of the part, and the settings on which the values depend."""


@dataclass(eq=False)
class MeasurementState:
    """State of the measurement of a model on a part of a fold, with the values so far.

    The model and the part are kept alive, because the key of the state
    has their ids, which Python would give to other objects later.
    """

    model: SelectedModel
    step: Step
    part: RankingDataset
    found: Any = None
    stopped: bool = False
    was_read: bool = False  # whether the study was asked for the stored values


class ModelMeasurement(QObject):
    """Measures some values of the shown model, while a view of the values is visible.

    Subclasses say what is measured, by the methods that raise
    NotImplementedError.

    Parameters
    ----------
    session, runs, current
        The shown model.
    worker : Worker
        Worker that measures, with other tasks between two steps.
    evidence : Evidence
        Reads and stores the values in the study.

    Attributes
    ----------
    slot : str
        Slot of the work; see `BackgroundSimulation`.
    is_view_visible : callable
        Returns whether a view of the values is visible.
    """

    slot: ClassVar[str]

    changed = Signal()
    """Another model is shown, or the work begins, ends or is offered."""
    failed = Signal(str)

    def __init__(
        self,
        session: Session,
        runs: Runs,
        current: CurrentModel,
        worker: Worker,
        evidence: Evidence,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._runs = runs
        self._current = current
        self._evidence = evidence

        # replaced by the page that has the view
        self.is_view_visible: Callable[[], bool] = lambda: False
        self._models: dict[_Key, MeasurementState] = {}

        # The model whose stored values are being read, and the one that
        # is being measured: the share that is done, and the values so
        # far.
        self._reading: MeasurementState | None = None
        self._working: MeasurementState | None = None
        self.share = 0.0
        self._latest: Any = None
        self._work = BackgroundSimulation(worker, self._description(), self.slot, self)
        self._work.grew.connect(self._grow)
        self._work.changed.connect(self._follow)
        self._work.failed.connect(self.failed)
        self._settled = single_shot(SETTLED_MILLISECONDS, self._begin_alone, self)
        for signal in (
            session.datasetChanged,
            session.measureChanged,
            current.changed,
            runs.ended,
        ):
            signal.connect(self.follow_selection)

    # What is measured

    def _description(self) -> str:
        """Return the description of the work for the list of tasks."""
        raise NotImplementedError

    def _settings(self) -> tuple[str, ...]:
        """Return the settings of the session on which the values depend."""
        raise NotImplementedError

    def _can_measure(self, step: Step, part: RankingDataset) -> bool:
        """Return whether the values of a model on a part are defined."""
        raise NotImplementedError

    def _n_copies(self, step: Step) -> int:
        """Return how many changed copies of the documents a model scores."""
        raise NotImplementedError

    def _measurement_steps(
        self, model: SelectedModel, part: RankingDataset
    ) -> Callable[[], Iterator[tuple[float, Any]]]:
        """Return the measurement of a model, as a function for the worker.

        ``part`` has the documents. The function returns a generator,
        which yields the share of the work that is done, and the values
        so far.
        """
        raise NotImplementedError

    def _stored_name(self, model_name: str) -> str:
        """Return the key under which a study stores the values of a model."""
        raise NotImplementedError

    def _stored_value(self, step: Step, measurement: Any) -> StoredEvidence:
        """Return the values as a study stores them."""
        raise NotImplementedError

    def _unpack(self, content: bytes, n_features: int) -> Any:
        """Return stored values; called on the worker."""
        raise NotImplementedError

    # State

    @property
    def part(self) -> RankingDataset | None:
        """The documents: the validation part, or the training part if there is no validation part."""
        model = self._current.model
        if model is None or not self._session.has_documents:
            return None
        return model.fold.vali if model.fold.vali is not None else model.fold.train

    @property
    def by_validation(self) -> bool:
        """Whether the documents are those of the validation part."""
        model = self._current.model
        return model is not None and self.part is model.fold.vali

    @property
    def part_name(self) -> str:
        """Name of the part with the documents, as a study stores it."""
        return "validation" if self.by_validation else "training"

    @property
    def _shown_state(self) -> MeasurementState | None:
        """State of the measurement of the shown model; None if the model cannot be measured.

        A new model gets an empty state. If there are too many states,
        the oldest one is forgotten.
        """
        model = self._current.model
        part = self.part
        if (
            model is None
            or part is None
            or not model.step.learned
            or not self._can_measure(model.step, part)
        ):
            return None
        key = id(model.step), id(part), self._settings()
        if key not in self._models:
            self._models[key] = MeasurementState(model, model.step, part)
            if len(self._models) > _MAX_MODELS:
                del self._models[next(iter(self._models))]
        return self._models[key]

    @property
    def found(self) -> Any:
        """The values of the shown model; None if they are not known."""
        state = self._shown_state
        return state.found if state is not None else None

    @property
    def progress(self) -> Progress:
        """State of the measurement of the shown model."""
        state = self._shown_state
        if state is None:
            return Progress.ABSENT
        if state.found is not None:
            return Progress.DONE
        if state is self._working:
            return Progress.RUNNING
        return Progress.STOPPED if state.stopped else Progress.OFFERED

    @property
    def seconds(self) -> float:
        """Estimated seconds of the measurement; infinity for models without an estimate."""
        state = self._shown_state
        if state is None or not state.step.linear:
            return inf
        n_values = state.part.n_documents * self._n_copies(state.step)
        return SECONDS_PER_VALUE * n_values

    @property
    def busy(self) -> bool:
        """Whether the model is being measured, or may be soon."""
        is_waiting = self._settled.isActive() or self._reading is not None
        return self._working is not None or is_waiting

    @Slot()
    def follow_selection(self) -> None:
        """Follow the shown model; stop a computation for another one."""
        if self._working is not None and self._working is not self._shown_state:
            self.stop()
        self.changed.emit()
        if self.is_view_visible():
            self._read()

            # Measure only once no other model was shown for a moment.
            self._settled.start()

    @Slot()
    def start(self) -> None:
        """Measure the shown model."""
        state = self._shown_state
        if state is None or state.found is not None:
            return
        state.stopped = False
        self._working = state
        self.share = 0.0
        self._latest = None
        self._work.start(self._measurement_steps(state.model, state.part))
        self.changed.emit()

    @Slot()
    def stop(self) -> None:
        """Stop the measurement."""
        if self._working is not None:
            self._working.stopped = True
            self._working = None
            self._work.stop()
            self.changed.emit()

    @Slot()
    def _begin_alone(self) -> None:
        """Begin the measurement of the shown model without being asked.

        The measurement begins if nothing else runs, and if it takes
        only a moment.
        """
        is_idle = (
            self._working is None and self._reading is None and not self._runs.busy
        )
        if not is_idle or not self.is_view_visible():
            return
        if self.progress is Progress.OFFERED and self.seconds <= AT_ONCE_SECONDS:
            self.start()

    @Slot(object)
    def _grow(self, update: tuple[float, Any]) -> None:
        self.share, self._latest = update
        self.changed.emit()

    @Slot()
    def _follow(self) -> None:
        """Keep the values once the work has ended, and store them.

        This is called whenever the background work changes. A
        measurement that did not come to its end is marked as stopped.
        """
        if self._working is None or self._work.busy:
            return
        state = self._working
        self._working = None
        is_done = self._work.state is SimulationState.DONE
        if self._latest is not None and is_done and state is self._shown_state:
            state.found = self._latest
            self._keep(state.step, state.found)
        else:
            state.stopped = True
        self.changed.emit()

    # What the study keeps

    def _storage_place(self) -> Place | None:
        """Return where the study stores the values of the shown model; None if it does not."""
        location = self._evidence.storage_place()
        if location is None:
            return None
        study, run, fold, model_name = location
        return study, run, fold, self._stored_name(model_name)

    def _keep(self, step: Step, measurement: Any) -> None:
        """Have the study store the values, if the model is of a stored run."""
        location = self._storage_place()
        if location is not None:
            self._evidence.store(location, self._stored_value(step, measurement))

    def _read(self) -> None:
        """Read the stored values of the shown model from its study, in the background, once."""
        state = self._shown_state
        location = self._storage_place()
        if state is None or location is None:
            return
        if state.found is not None or state.was_read or state is self._working:
            return
        state.was_read = True
        self._reading = state

        def take(measurement: Any) -> None:
            """Keep the stored values, None for none, unless there are values by now."""
            if self._reading is state:
                self._reading = None
            if state.found is None:
                state.found = measurement
            self.follow_selection()

        self._evidence.fetch(location, self._unpack, take)
