"""Measures the shown run's models on left-out queries, on demand; the values last while the data are open."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.experiment.plan.left_out_names import left_out_name
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.path_steps import PathSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.metrics.names import OFFERED
from rankstudio.ui.background.simulation import BackgroundSimulation, SimulationState
from rankstudio.ui.background.tasks import FoldCache, PathWanted
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.language import tr
from rankstudio.ui.model.measured_runs import MeasuredRuns
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session

_MAX_MEASURED_PATHS = 1000  # paths

_Wanted = tuple[str, tuple[str, ...]]
"""Key of the convention and names of the measures by which a path is measured."""


@dataclass(frozen=True, eq=False)
class _Measured:
    """The left-out measures of a path, as far as they are computed.

    A path is the sequence of models that a method learns, one per
    number of selected features (or of rounds of a method that learns in
    rounds); each model is a step. A left-out measure of a model is
    measured on queries that are left out of its training.

    Attributes
    ----------
    n_steps : int
        Number of steps of the path.
    values : dict of str to array
        For the name of each measure, such as "leave-query-out MAP", its
        values: one number per step, for the steps measured so far, from
        the first.
    """

    n_steps: int
    values: dict[str, array[float]] = field(default_factory=dict)

    @property
    def n_done(self) -> int:
        """Number of steps measured so far."""
        return max(map(len, self.values.values()), default=0)

    @property
    def whole(self) -> bool:
        """Whether all steps of the path are measured."""
        return self.n_done == self.n_steps


class LeftOutMeasures(QObject):
    """Measures the shown paths on queries left out of training, if the user asks for these measures.

    A path is the sequence of models with 1, 2, … features, or rounds;
    each of them is a step.

    First the chosen path is measured: on the shown fold, or on every
    fold while all folds are shown. If a map or a plot shows all
    combinations, their paths follow. Nothing is measured while a run
    works, as that would slow the run. A run whose plan selects by a
    left-out measure has computed that measure itself; other measures
    and other conventions are computed here.

    Parameters
    ----------
    session, runs, measured, current
        Models of the window: the session, the runs, the runs as they
        are measured now, and the current model. They determine which
        paths are shown, and by which measure.
    worker : Worker
        Measures step by step; other tasks may come between two steps.
    fold_cache : FoldCache
        Has the prepared folds; used on the worker only.
    """

    changed = Signal()
    """Left-out measures are asked for or not, are possible or not, or measuring begins or ends."""
    grew = Signal()
    """More steps have been measured."""
    failed = Signal(str)

    def __init__(
        self,
        session: Session,
        runs: Runs,
        measured: MeasuredRuns,
        current: CurrentModel,
        worker: Worker,
        fold_cache: FoldCache,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._runs = runs
        self._measured = measured
        self._current = current
        self._fold_cache = fold_cache
        # Whether the user asks for the measures, and whether the paths
        # of all combinations are measured, as the heat map needs.
        self._is_asked = False
        self._measures_all = False
        # By the steps of a path, then by how it is measured. The keys
        # are weak: an entry goes with the last reference to its path.
        self._measured_by_steps: WeakKeyDictionary[
            PathSteps, dict[_Wanted, _Measured]
        ] = WeakKeyDictionary()
        # measurements that are not tried again until the user asks for
        # the measures again
        self._failed: list[_Measured] = []
        self._shown_states: list[_Measured] = []  # measurements of the shown paths
        # the path that is being measured, with its measurement
        self._working: tuple[PathResult, _Measured] | None = None
        self._background_work = BackgroundSimulation(
            worker, tr("Measuring left-out queries"), "left_out", self
        )
        self._background_work.grew.connect(self._grow)
        self._background_work.changed.connect(self._follow)
        self._background_work.failed.connect(self._fail)
        # Other data or runs make the values useless; other changes may
        # show other paths.
        for signal in (session.datasetChanged, runs.removed, runs.cleared):
            signal.connect(self._forget)
        for signal in (
            current.changed,
            session.measureChanged,
            runs.added,
            runs.changed,
            runs.ended,
        ):
            signal.connect(self.go_on)

    @property
    def possible(self) -> bool:
        """Whether left-out queries can be measured with the shown plan and the open data."""
        dataset = self._current.shown.dataset
        plan = self._current.shown.plan
        if dataset is None or not self._session.has_documents:
            return False
        # To leave one query out, a training part needs another one.
        return plan.can_leave_out and all(
            fold.train.n_queries > 1 for fold in dataset.folds
        )

    @property
    def is_in_plan(self) -> bool:
        """Whether the shown plan selects by a left-out measure, which is then always drawn."""
        # The run has computed it already.
        return self._current.shown.plan.leaves_out

    @property
    def asked(self) -> bool:
        """Whether the user wants to see the left-out measures."""
        return self._is_asked

    @property
    def shown(self) -> bool:
        """Whether left-out measures are to be drawn."""
        return self.possible and (self._is_asked or self.is_in_plan)

    @property
    def waiting(self) -> bool:
        """Whether left-out measures are to be drawn, but wait until no run works."""
        return self.shown and self._runs.busy

    @property
    def share(self) -> float | None:
        """Share of the shown paths' steps that is measured.

        The share, 0 to 1, is None while nothing is being measured.
        """
        if self._working is None:
            return None
        n_done = sum(state.n_done for state in self._shown_states)
        n_steps = sum(state.n_steps for state in self._shown_states)
        return n_done / n_steps

    @property
    def growing(self) -> tuple[int, bool] | None:
        """The combination whose path is being measured, and whether the path is complete; else None."""
        if self._working is None:
            return None
        path, measured = self._working
        return path.unit.position, measured.whole

    def of(
        self, path: PathResult, *, complete: bool = False
    ) -> Mapping[str, Sequence[float]]:
        """Return the left-out measures of a path: by name, a value for each step measured so far.

        Return an empty mapping while left-out measures are not to be
        drawn; with ``complete``, also as long as a step is not
        measured.
        """
        if not self._measured_by_steps or not self.shown:
            return {}
        # A path may be measured in several ways, by conventions and
        # measures; the one in use counts.
        state = self._measured_by_steps.get(path.steps, {}).get(self._way_of_measuring)
        if state is None or (complete and not state.whole):
            return {}
        return state.values

    @Slot()
    def toggle(self) -> None:
        """Show the left-out measures, or hide them again."""
        self._is_asked = not self._is_asked
        self._failed.clear()
        self.go_on()

    def measure_all(self, is_for_all: bool) -> None:
        """Measure the paths of all combinations after the chosen path, or the chosen path alone."""
        if is_for_all != self._measures_all:
            self._measures_all = is_for_all
            self.go_on()

    @Slot()
    def go_on(self) -> None:
        """Begin to measure the next shown path; stop measuring a path that is no longer shown.

        Only one path is measured at a time. When it is measured, this
        method is called again, until every shown path is measured.
        """
        # No path is measured while a run works, which that would slow
        # down, or while left-out measures are not drawn (`shown`). A
        # request says how a path was learned; the state of a path has
        # its values so far.
        requests = (
            {} if self._runs.busy or not self.shown else dict(self._wanted_paths())
        )
        states = {path: self._measured_of(path) for path in requests}
        self._shown_states = list(states.values())
        if self._working is not None:
            _, measured = self._working
            if measured not in self._shown_states:
                self._working = None
                self._background_work.stop()
        # Paths of which not every step is measured (`whole`), in their order.
        missing = [
            path
            for path, state in states.items()
            if not state.whole and state not in self._failed
        ]
        if missing and self._working is None:
            next_path = missing[0]
            self._start(requests[next_path], next_path, states[next_path])
        self.changed.emit()

    def _start(
        self, request: PathWanted, path: PathResult, measured: _Measured
    ) -> None:
        """Measure a path on left-out queries in the background, from its first step not yet measured.

        ``request`` says how the path was learned; `_grow` adds the
        values to ``measured`` as they arrive.
        """
        # To limit memory, the values of the paths that were measured first are dropped.
        while len(self._measured_by_steps) > _MAX_MEASURED_PATHS:
            del self._measured_by_steps[next(iter(self._measured_by_steps))]
        self._working = path, measured
        # `_names` are the measures; `n_done` steps of the path are measured already.
        arguments = (
            request,
            path,
            self._names,
            self._session.convention,
            measured.n_done,
        )
        self._background_work.start(lambda: self._fold_cache.left_out(*arguments))

    @property
    def _names(self) -> tuple[str, ...]:
        """Names of the measures to compute: those that are offered, and the user's."""
        return tuple(dict.fromkeys((*OFFERED, self._session.measure)))

    @property
    def _way_of_measuring(self) -> _Wanted:
        """The convention and the measures by which paths are measured now."""
        return self._session.convention, self._names

    def _measured_of(self, path: PathResult) -> _Measured:
        """Return the measurement of a path by the shown measures, an empty one if nothing is measured yet."""
        states = self._measured_by_steps.setdefault(path.steps, {})
        return states.setdefault(self._way_of_measuring, _Measured(len(path.steps)))

    def _wanted_paths(self) -> Iterator[tuple[PathResult, PathWanted]]:
        """Yield each shown path that the run did not measure by the shown measure, with its request."""
        name = left_out_name(self._session.measure)
        for plan, fold, path in self._paths():
            if name not in path.validation:
                yield path, PathWanted(plan, fold, path.unit.values)

    def _paths(self) -> Iterator[tuple[Plan, Fold, PathResult]]:
        """Yield the chosen path on the shown fold, or on every fold while all folds are shown.

        If all combinations of parameters are to be measured, yield
        their paths on these folds after it. Each path comes with its
        plan and fold.
        """
        # The path of the chosen model is a live one, computed for the
        # slider, and is yielded itself. Or it belongs to a run, where
        # it is found below by the number of its combination of
        # parameters, which is the key of the model.
        view = self._current.shown
        values = self._session.choice.values
        model = view.model
        record = view.record
        chosen = None  # number of the chosen combination of the run
        # None while all folds are shown
        shown_number = view.fold.number if view.fold is not None else None
        if model is not None:
            if record is None or model.live:
                yield model.plan, model.fold, model.path
            else:
                chosen = int(model.key)
        elif record is not None and values is not None:
            # While all folds are shown there is no model, only the chosen values.
            chosen = record.combination_of(values)
        # Only a run has further paths.
        if record is None:
            return
        # The chosen combination comes first on every fold, then all
        # others if they are wanted. Paths that the run has not finished
        # yet are skipped.
        paths = self._measured.view(record).paths
        folds = [
            fold for fold in record.dataset.folds if shown_number in (None, fold.number)
        ]
        first = [] if chosen is None else [(fold, chosen) for fold in folds]
        n_combinations = len(record.combinations) if self._measures_all else 0
        pairs = [(fold, index) for fold in folds for index in range(n_combinations)]
        # the first pairs are among the others, too
        for fold, combination in dict.fromkeys((*first, *pairs)):
            path = paths.get((fold.number, combination))
            if path is not None:
                yield record.plan, fold, path

    @Slot(object)
    def _grow(self, rows: Sequence[Mapping[str, float]]) -> None:
        """Add the measures of further steps to the path that is being measured.

        ``rows`` has the values of one step each, by the name of the measure.
        """
        if self._working is not None:
            _, measured = self._working
            for row in rows:
                for name, value in row.items():
                    measured.values.setdefault(name, array("d")).append(value)
            self.grew.emit()

    @Slot()
    def _follow(self) -> None:
        """Go on with the next path when one is done."""
        if self._background_work.state is SimulationState.DONE:
            self._working = None
            self.go_on()

    @Slot(str)
    def _fail(self, reason: str) -> None:
        """Report that the path could not be measured, and go on with the next one.

        The failed path is not tried again; ``reason`` is a sentence for the user.
        """
        if self._working is not None:
            _, measured = self._working
            self._failed.append(measured)
        self._working = None
        self.failed.emit(reason)
        self.go_on()

    @Slot()
    def _forget(self) -> None:
        """Drop all values, and begin to measure the paths that are shown now."""
        self._measured_by_steps.clear()
        self.go_on()
