"""Loss of the shown model when its features are permuted within queries, computed on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

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
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.process.turns import single_shot

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.permutation_importance import PermutationImportance

N_REPEATS = 10
# per document, feature and permutation, for linear models on one core
_SECONDS_PER_VALUE = 3e-7
_MAX_MODELS = 50  # models whose state is kept

_Key = tuple[int, int, str, str]
"""Identities of the model and of the part, measure and convention."""


@dataclass(eq=False)
class _Known:
    """State of the importance of a model on a part.

    The model and the part are kept alive, because the key of the state has their ids,
    which Python would give to other objects later.
    """

    step: Step
    part: RankingDataset
    seed: int
    found: PermutationImportance | None = None
    stopped: bool = False
    read: bool = False  # whether the study was asked for the stored importance


class Importance(QObject):
    """Permutes the features of the shown model, while a view of it is visible.

    Parameters
    ----------
    session, runs, current
        The shown model.
    worker : Worker
        Worker that permutes the features, with other tasks between two steps.
    evidence : Evidence
        Reads and stores the importance in the study.

    Attributes
    ----------
    wanted : callable
        Returns whether a view of the importance is visible.
    """

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
        self.wanted: Callable[[], bool] = lambda: False
        self._models: dict[_Key, _Known] = {}
        self._reading: _Known | None = None
        self._working: _Known | None = None
        self.share = 0.0
        self._latest: PermutationImportance | None = None
        self._work = BackgroundSimulation(
            worker, tr("Permuting features"), "importance", self
        )
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
            signal.connect(self.look)

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
    def _importance(self) -> _Known | None:
        """Importance of the shown model on the shown part and by the shown measure, so far.

        It is made on first use. None if the model was not learned from features, or the
        part has fewer than two queries.
        """
        model = self._current.model
        part = self.part
        if (
            model is None
            or part is None
            or not model.step.learned
            or part.n_queries < 2
        ):
            return None
        key = id(model.step), id(part), self._session.measure, self._session.convention
        if key not in self._models:
            self._models[key] = _Known(model.step, part, model.plan.seed)
            if len(self._models) > _MAX_MODELS:
                del self._models[next(iter(self._models))]  # the oldest one
        return self._models[key]

    @property
    def found(self) -> PermutationImportance | None:
        """The importance found of the shown model."""
        analysis = self._importance
        return analysis.found if analysis is not None else None

    @property
    def progress(self) -> Progress:
        """State of the permutations of the shown model."""
        analysis = self._importance
        if analysis is None:
            return Progress.ABSENT
        if analysis.found is not None:
            return Progress.DONE
        if analysis is self._working:
            return Progress.RUNNING
        return Progress.STOPPED if analysis.stopped else Progress.OFFERED

    @property
    def seconds(self) -> float:
        """Estimated seconds of the permutations; infinity for models without an estimate."""
        analysis = self._importance
        if analysis is None or not analysis.step.linear:
            return inf
        return (
            _SECONDS_PER_VALUE
            * analysis.part.n_documents
            * len(analysis.step.selected)
            * N_REPEATS
        )

    @Slot()
    def look(self) -> None:
        """Follow the shown model; stop a computation for another one."""
        if self._working is not None and self._working is not self._importance:
            self.stop()
        self.changed.emit()
        if self.wanted():
            self._read()
            self._settled.start()

    @Slot()
    def start(self) -> None:
        """Permute the features of the shown model."""
        analysis = self._importance
        if analysis is None or analysis.found is not None:
            return
        analysis.stopped = False
        self._working = analysis
        self.share = 0.0
        self._latest = None
        measure = self._session.measure
        convention = self._session.convention
        self._work.start(
            lambda: _importance_steps(
                analysis.step, analysis.part, measure, convention, analysis.seed
            )
        )
        self.changed.emit()

    @Slot()
    def stop(self) -> None:
        """Stop the permutations."""
        if self._working is not None:
            self._working.stopped = True
            self._working = None
            self._work.stop()
            self.changed.emit()

    @property
    def busy(self) -> bool:
        """Whether features are being permuted, or may be soon."""
        is_waiting = self._settled.isActive() or self._reading is not None
        return self._working is not None or is_waiting

    @Slot()
    def _begin_alone(self) -> None:
        """Begin without being asked, if nothing else runs and the permutations take only a moment."""
        is_idle = (
            self._working is None and self._reading is None and not self._runs.busy
        )
        if not is_idle or not self.wanted():
            return
        if self.progress is Progress.OFFERED and self.seconds <= AT_ONCE_SECONDS:
            self.start()

    @Slot(object)
    def _grow(self, update: tuple[float, PermutationImportance | None]) -> None:
        """Keep the share of the work that is done, and the importance so far."""
        self.share, self._latest = update
        self.changed.emit()

    @Slot()
    def _follow(self) -> None:
        """Keep the importance at the end of the work; without the end, note that it was stopped."""
        if self._working is None or self._work.busy:
            return
        analysis = self._working
        self._working = None
        is_done = self._work.state is SimulationState.DONE

        # `_known` is another one if another model, part or measure is shown by now.
        if self._latest is not None and is_done and analysis is self._importance:
            analysis.found = self._latest
            self._keep(analysis.step, analysis.found)
        else:
            analysis.stopped = True
        self.changed.emit()

    # What the study keeps

    def _place(self) -> Place | None:
        """Return where the study stores the importance of the shown model.

        It is the study, the run, the number of the fold and a name; None if the model
        is not stored in a study.
        """
        location = self._evidence.place()
        if location is None:
            return None
        from rankstudio.plugins.evidence.model_importance import importance_place  # noqa: PLC0415 - brings kernels

        study, run, fold, model = location
        measure = self._session.measure
        name = importance_place(
            self._part_name, measure, self._session.convention, model
        )
        return study, run, fold, name

    @property
    def _part_name(self) -> str:
        """Name of the part on which the importance is measured."""
        return "validation" if self.by_validation else "training"

    def _keep(self, step: Step, importance: PermutationImportance) -> None:
        """Have the study store the importance, if the model is of a stored run."""
        location = self._place()
        if location is None:
            return
        from rankstudio.plugins.evidence.model_importance import MeasuredImportance  # noqa: PLC0415 - brings kernels

        self._evidence.store(
            location,
            MeasuredImportance(
                importance,
                self._part_name,
                self._session.convention,
                len(step.selected),
            ),
        )

    def _read(self) -> None:
        """Read the stored importance of the shown model from its study, in the background, once."""
        analysis = self._importance
        location = self._place()
        if analysis is None or location is None:
            return
        if analysis.found is not None or analysis.read or analysis is self._working:
            return
        analysis.read = True  # once is enough, also if nothing is stored
        self._reading = analysis

        def take(importance: PermutationImportance | None) -> None:
            """Keep the stored importance unless it was computed meanwhile."""
            if self._reading is analysis:
                self._reading = None
            if analysis.found is None:
                analysis.found = importance
            self.look()

        self._evidence.fetch(location, _unpacked_importance, take)


def _importance_steps(
    step: Step, part: RankingDataset, measure: str, convention: str, seed: int
) -> Iterator[tuple[float, PermutationImportance | None]]:
    """Permute the features of a model on the documents of a part.

    Yield the share of the work that is done, and the importance so far, None at first.
    """
    from rankstudio.engine.metrics.names import measure as find_measure  # noqa: PLC0415 - on the worker only
    from rankstudio.plugins.evidence.model_importance import step_importance  # noqa: PLC0415 - on the worker only
    from rankstudio.plugins.evidence.partial_result import PartialResult  # noqa: PLC0415 - on the worker only

    importance = None

    for update in step_importance(
        step, part, find_measure(measure), convention, N_REPEATS, seed
    ):
        if isinstance(update, PartialResult):
            importance = update.found

            # cached here, on the worker, because computing them takes a while
            _ = importance.intervals
        yield update.share, importance


def _unpacked_importance(content: bytes, n_features: int) -> PermutationImportance:
    """Return the stored importance of a model."""
    from rankstudio.plugins.evidence.evidence_codec import unpack_importance  # noqa: PLC0415 - on the worker only

    importance = unpack_importance(content, n_features).found
    # cached here, on the worker, because computing them takes a while
    _ = importance.intervals
    return importance
