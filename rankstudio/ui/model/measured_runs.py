"""The runs as they are measured now: by the measure and the convention in use.

Values that a run measured itself are taken as they are. Other measures
are computed on the task worker from the run's models, and kept. Soon
after a run is done, its models rank the documents and all offered
measures are computed in advance, so that they can be shown at once. All
runs are measured in one task, whose results arrive together, so that a
panel that shows several runs is drawn once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.analysis.measurements.measurement import (
    Measurement,
    without_test,
)
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import (
    Baseline,
    FoldResult,
    PathResult,
    RunResult,
)
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.names import OFFERED
from rankstudio.ui.background.worker import CancelFlag, Ending, Job, Outcome, Worker
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import Session
from rankstudio.ui.model.study_store import StudyStore
from rankstudio.ui.process.turns import single_shot

if TYPE_CHECKING:
    from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement

# Values of measured runs that are kept; the paths in them are the runs'
# own. With more runs than half of this, those of two measurements of
# each run are kept: the tables show all runs, and would request the
# dropped values again and again.
_MAX_MEASURED_RUNS = 400
# the measures of a run wait this long for the measures of other runs
_MAX_SECONDS_TO_COLLECT = 0.3
_MAX_WAIT_SECONDS = 0.05  # ranking in advance delays other tasks by about this time
# after a change of a run, the pages compute their content first
_QUIET_MILLISECONDS = 500


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """Paths and folds of a run, measured in one way; the attributes are those of a :class:`RunRecord`.

    Attributes
    ----------
    plan : Plan
        The plan of the run, with the measures in use.
    paths, folds, baselines : Mapping
        The paths by (fold, combination), the finished folds by number,
        and the best single feature of each fold.
    result : RunResult or None
        The result of the run; None until the run is complete.
    complete : bool
        Whether all results that the run had when it was measured are included.
    """

    plan: Plan
    paths: Mapping[tuple[int, int], PathResult] = field(default_factory=dict)
    folds: Mapping[int, FoldResult] = field(default_factory=dict)
    baselines: Mapping[int, Baseline] = field(default_factory=dict)
    result: RunResult | None = None
    complete: bool = True


@dataclass(frozen=True, eq=False)
class _Request:
    """A request to measure a run.

    Attributes
    ----------
    record : RunRecord
        The run to measure.
    measurement : Measurement
        The convention and measure that are wanted.
    state : tuple
        The state of the run at the time of the request; see `_state_of_record`.
    results : MeasuredRun
        The results that the run had at that time, by its own measures.
    """

    record: RunRecord
    measurement: Measurement
    state: _State
    results: MeasuredRun


class MeasuredRuns(QObject):
    """Measures runs by the measure and convention of the session, each run once per measure and convention.

    Parameters
    ----------
    session : Session
    runs : Runs
    worker : Worker
        The worker of the tasks.
    study_store : StudyStore
        Stores cross-fitted values that an earlier version of RankStudio did not store.
    """

    changed = Signal(object)
    """Runs have been measured anew (tuple of RunRecord)."""
    failed = Signal(str)

    def __init__(
        self,
        session: Session,
        runs: Runs,
        worker: Worker,
        study_store: StudyStore,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._runs = runs
        self._worker = worker
        self._study_store = study_store
        # runs whose cross-fitted values (measures on queries that the
        # choice of the model has not used) this window has stored
        self._runs_with_stored_fits: set[RunRecord] = set()
        # Measured runs by the run itself (another study has other runs
        # of the same numbers) and by how it was measured, with the
        # run's state at that time.
        self._measured_by_record: dict[
            tuple[RunRecord, Measurement], tuple[_State, MeasuredRun]
        ] = {}
        self._requests: dict[RunRecord, _Request] = {}  # requests without an answer yet
        self._engine: Remeasurement | None = None  # measures runs, made when needed
        self.rankings = RunRankings(runs, worker, self._prepare, self)
        runs.removed.connect(self._forget)
        runs.cleared.connect(self._forget_all)

    def view(self, record: RunRecord) -> MeasuredRun:
        """Return a run by the measures in use; have missing values computed in the background.

        A run whose own measures are in use is returned as it is, and so
        is a run without documents, which cannot be measured. If the
        test part is sealed, the run is returned without its measures on
        that part.
        """
        # `measurement.plan` returns the plan with the measures in use,
        # the same object if they are its own. With its own measures, a
        # run needs new values only to hide a sealed test part.
        measurement = self._session.measurement(record.plan, record.dataset)
        plan = measurement.plan(record.plan)
        if plan is record.plan and not measurement.sealed:
            return _unchanged_measures(record)
        # Without documents, no measure is computed; only a test part can be left out.
        has_documents = record.dataset.folds[0].train.n_documents > 0
        if not has_documents and not measurement.sealed:
            return _unchanged_measures(record)
        # Values that were computed for the present state of the run,
        # which changes as results arrive, are returned.
        state = _state_of_record(record)
        key = (record, measurement)
        measured_state, measured = self._measured_by_record.get(
            key, (None, MeasuredRun(plan, complete=False))
        )
        if measured_state == state:
            return measured
        if not has_documents:
            return self._store(key, state, _without_test_part(record))
        # Request missing values: first of this run, then of all others.
        if self._is_new(record, measurement):
            other_runs = (other for other in self._runs.records if other is not record)
            self._request_measures([record, *other_runs])
        # Until they arrive: the values of an earlier state of the run,
        # without a result.
        return MeasuredRun(
            plan,
            measured.paths,
            measured.folds,
            measured.baselines,
            complete=False,
        )

    def measures(self, record: RunRecord) -> bool:
        """Return whether a run has, or can be given, values by the convention in use."""
        is_own_convention = (
            record.plan.convention == self._session.measurement(record.plan).convention
        )
        return is_own_convention or bool(record.dataset.folds[0].train.n_documents)

    def means(
        self,
        runs: Mapping[int, tuple[RunResult, FoldedDataset]],
        name: str,
        *,
        sealed: bool,
    ) -> dict[int, dict[str, float]]:
        """Return the mean of a measure of runs by every convention; to be called on the worker only.

        Parameters
        ----------
        runs : mapping of int to (RunResult, FoldedDataset)
            The result and the data of each run, by the number of the run.
        name : str
            The name of the measure.
        sealed : bool
            Whether the test part is sealed, so that its measures are left out.

        Returns
        -------
        dict
            By the number of the run, the means by the key of the convention.
        """
        engine = self._remeasurement()
        return {
            key: {
                convention: engine.mean(
                    result, dataset, Measurement(convention, name, sealed=sealed)
                )
                for convention in CONVENTIONS
            }
            for key, (result, dataset) in runs.items()
        }

    def _is_new(self, record: RunRecord, measurement: Measurement) -> bool:
        """Return whether a run can and must be measured, and is neither measured nor requested yet."""
        state = _state_of_record(record)
        request = self._requests.get(record)
        # By the measures of its own plan, a run is measured already.
        if measurement.plan(record.plan) is record.plan and not measurement.sealed:
            return False
        # After its revision, the state has the numbers of paths, folds
        # and baselines, and whether there is a result. One of these
        # must not be 0.
        _, *extent = state
        is_measurable = record.dataset.folds[0].train.n_documents > 0 and any(extent)
        measured_state, _ = self._measured_by_record.get(
            (record, measurement), (None, None)
        )
        is_requested = (
            request is not None
            and request.measurement == measurement
            and request.state == state
        )
        return is_measurable and measured_state != state and not is_requested

    def _request_measures(self, records: Sequence[RunRecord]) -> None:
        """Have the worker measure those of the runs that are not measured yet, in this order."""
        # One request for each run that is not measured, with copies of
        # its results so far, as the run may change them while the
        # worker measures.
        requests = []
        for record in records:
            measurement = self._session.measurement(record.plan, record.dataset)
            if self._is_new(record, measurement):
                result = record.result
                run = MeasuredRun(
                    record.plan,
                    dict(record.paths),
                    dict(record.folds),
                    dict(record.baselines),
                    result,
                )
                requests.append(
                    _Request(record, measurement, _state_of_record(record), run)
                )
        self._requests.update((request.record, request) for request in requests)

        def end(outcome: Outcome) -> None:
            if outcome.ending is Ending.FAILED:
                self.failed.emit(outcome.text)

        # One job for all of them. Of two waiting jobs for the same
        # runs, only the later one is carried out.
        keys = " ".join(str(request.record.key) for request in requests)
        self._worker.submit(
            Job(
                tr("Measuring run {key} by {measure}").format(
                    key=keys, measure=self._session.measure
                ),
                lambda cancelled: self._measure_requested(requests, cancelled),
                on_message=self._take,
                on_end=end,
                slot=f"measures of run {keys}",
            )
        )

    def _measure_requested(
        self, requests: Sequence[_Request], cancelled: CancelFlag
    ) -> Iterator[_Answers]:
        """Measure runs on the worker; yield the answers together, or in groups if measuring takes long.

        An answer is a pair of a request and the run measured as it
        asks. If a run cannot be measured, the others are; the last
        failure is raised at the end.
        """
        answers: list[tuple[_Request, MeasuredRun]] = []
        failure: RankStudioError | None = None
        began = time.perf_counter()
        for request in requests:
            if cancelled():
                return
            # A later request for the same run, by another measure, has
            # replaced this one.
            if self._requests.get(request.record) is not request:
                continue
            try:
                answers.append(
                    (
                        request,
                        self._measure(
                            request.record.dataset, request.results, request.measurement
                        ),
                    )
                )
            except RankStudioError as error:  # the other runs are measured all the same
                failure = error
            if time.perf_counter() - began > _MAX_SECONDS_TO_COLLECT and answers:
                yield answers
                answers = []
                began = time.perf_counter()
        if answers:
            yield answers
        if failure is not None:
            raise failure

    def _take(self, answers: _Answers) -> None:
        """Keep the answers to requests that still stand, and emit `changed`.

        An answer is a pair of a request and the run as it asked to be
        measured. A later request for the same run replaces an earlier
        request.
        """
        accepted = [
            (request, measured_run)
            for request, measured_run in answers
            if self._requests.get(request.record) is request
        ]
        for request, measured_run in accepted:
            del self._requests[request.record]
            self._store(
                (request.record, request.measurement), request.state, measured_run
            )
            self._store_fitted(request, measured_run)
        if accepted:
            self.changed.emit(tuple(request.record for request, _ in accepted))

    def _store_fitted(self, request: _Request, measured: MeasuredRun) -> None:
        """Have the study store the cross-fitted values of a run once, if the study has none for this run.

        Studies of earlier versions of RankStudio lack them.
        Cross-fitted values are measured on queries that the choice of
        the model has not used.
        """
        # Only a study that can be written can store the values of a finished run.
        record = request.record
        study = self._study_store.study
        run_result = record.result
        result = measured.result
        if (
            study is None
            or study.read_only
            or record.stored is None
            or run_result is None
            or result is None
        ):
            return
        # The study stores values in the plan's own convention only, and once.
        is_own_convention = request.measurement.convention == record.plan.convention
        if (
            run_result.has_cross_fitted
            or not is_own_convention
            or record in self._runs_with_stored_fits
        ):
            return
        # The study stores them together, so every fold needs all measures of the plan.
        if not all(
            name in fold.cross_fitted
            for fold in result.folds
            for name in record.plan.evaluated
        ):
            return
        # The values are written in the background.
        self._runs_with_stored_fits.add(record)
        text = tr("Storing the cross-fitted values")
        self._study_store.note(
            partial(study.save_cross_fitted, record.stored, result.folds)
        )
        self._worker.task(
            text, self._study_store.write_notes, on_error=self.failed.emit
        )

    def _store(
        self, key: tuple[RunRecord, Measurement], state: _State, measured: MeasuredRun
    ) -> MeasuredRun:
        """Store a measured run in memory and return it; the oldest ones are dropped if there are many.

        ``key`` is the run and how it was measured, and ``state`` the
        number of its results at that time.
        """
        limit = max(_MAX_MEASURED_RUNS, 2 * len(self._runs.records))
        while len(self._measured_by_record) >= limit:
            del self._measured_by_record[next(iter(self._measured_by_record))]
        self._measured_by_record[key] = state, measured
        return measured

    def _measure(
        self, dataset: FoldedDataset, run: MeasuredRun, measurement: Measurement
    ) -> MeasuredRun:
        """Measure the folds, paths and baselines of a run; called on the worker only.

        ``measurement`` is the measure and the convention. A path is the
        sequence of models of one fold and one combination of
        parameters. Return the run with the new values.
        """
        # The folds of the run that are finished, by number (n).
        engine = self._remeasurement()
        parts = {fold.number: fold for fold in dataset.folds}
        plan = run.plan
        folds = {
            n: engine.fold(fold, parts[n], plan, measurement)
            for n, fold in run.folds.items()
        }
        # Paths of finished folds were measured with their fold, just
        # now; those of other folds are measured one by one.
        by_unit = {
            (n, path.unit.position): path
            for n, fold in folds.items()
            for path in fold.paths
        }
        paths = {
            (n, combination): by_unit.get((n, combination))
            or engine.paths([path], parts[n], plan, measurement)[0]
            for (n, combination), path in run.paths.items()
        }
        # Baselines, and the result if the run is finished.
        baselines = {
            n: engine.baseline(baseline, parts[n], plan, measurement)
            for n, baseline in run.baselines.items()
        }
        new_plan = measurement.plan(plan)  # names the measures in use
        # None as long as the run has no result
        result = run.result and _with_folds(run.result, new_plan, folds)
        return MeasuredRun(new_plan, paths, folds, baselines, result)

    def _prepare(self, result: RunResult, dataset: FoldedDataset) -> Iterator[None]:
        """Make a generator that computes all offered measures and conventions of a run in advance.

        The generator is run on the worker, and yields None after each
        step of its work. The results stay in the cache of the
        `Remeasurement`, where later requests find them.
        """
        measurement = self._session.measurement(result.plan, dataset)
        # The user can choose one of these measures, and one of these conventions.
        variants = [replace(measurement, measure=name) for name in OFFERED]
        variants += [replace(measurement, convention=key) for key in CONVENTIONS]

        def work() -> Iterator[None]:  # on the worker
            engine = self._remeasurement()
            yield from engine.rank_models(result, dataset)
            yield from engine.measure_models(result, dataset, variants)

        return work()

    def _remeasurement(self) -> Remeasurement:
        from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement  # noqa: PLC0415 - on the worker only

        self._engine = self._engine or Remeasurement()
        return self._engine

    @Slot(int)
    def _forget(self, key: int) -> None:
        """Drop the measured values and requests of a run that was removed from the list."""
        self._measured_by_record = {
            (record, measurement): cached
            for (record, measurement), cached in self._measured_by_record.items()
            if record.key != key
        }
        self._requests = {
            record: request
            for record, request in self._requests.items()
            if record.key != key
        }

    @Slot()
    def _forget_all(self) -> None:
        self._measured_by_record.clear()
        self._requests.clear()
        self._runs_with_stored_fits.clear()


_State = tuple[int, int, int, int, bool]
"""Revision of a run, its numbers of paths, folds and baselines, and whether it has a result."""

_Answers = Sequence[tuple[_Request, MeasuredRun]]


def _state_of_record(record: RunRecord) -> _State:
    """Return the state of a run's results.

    Measured values are up to date while the state is the same as when
    they were measured. The state consists of the revision of the run,
    its numbers of paths, folds and baselines, and whether it has a
    result.
    """
    extent = (
        len(record.paths),
        len(record.folds),
        len(record.baselines),
        record.result is not None,
    )
    return (record.revision, *extent)


def _unchanged_measures(record: RunRecord) -> MeasuredRun:
    return MeasuredRun(
        record.plan, record.paths, record.folds, record.baselines, record.result
    )


def _without_test_part(record: RunRecord) -> MeasuredRun:
    """Return a run without its measures on the test part, for a run whose documents are not open.

    Without documents nothing can be measured anew, but a sealed test
    part can be hidden.
    """
    folds = {number: without_test(fold) for number, fold in record.folds.items()}
    result = record.result and _with_folds(record.result, record.plan, folds)
    baselines = {number: fold.baseline for number, fold in folds.items()}
    return MeasuredRun(record.plan, record.paths, folds, baselines, result)


def _with_folds(
    result: RunResult, plan: Plan, folds: Mapping[int, FoldResult]
) -> RunResult:
    """Return a result with another plan and with other results of its folds, by their numbers."""
    return replace(
        result,
        plan=plan,
        folds=tuple(folds[fold.fold] for fold in result.folds),
    )


class RunRankings(QObject):
    """Ranks the documents with the models of finished runs in advance, on the task worker.

    Ranking begins when no run works and no run has changed for a while.
    It is done in short tasks, so that tasks that the user asks for can
    come between.

    Parameters
    ----------
    runs : Runs
    worker : Worker
        The worker of the tasks.
    rank_models : callable
        Ranks with the models of a run, one after the other; called on the worker only.
    """

    def __init__(
        self,
        runs: Runs,
        worker: Worker,
        rank_models: Callable[[RunResult, FoldedDataset], Iterator[None]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runs = runs
        self._worker = worker
        self._rank_models = rank_models
        self._begun: set[int] = set()  # numbers of runs whose ranking has begun
        # the work that remains of the ranking of a run
        self._rest: Iterator[None] | None = None
        self._job: Job | None = None
        # Ranking begins once no run has changed for a while.
        self._quiet = single_shot(_QUIET_MILLISECONDS, self.go_on, self)
        for signal in (runs.added, runs.changed, runs.ended):
            signal.connect(self._wait)
        runs.removed.connect(self._forget)
        runs.cleared.connect(self._forget_all)

    @Slot()
    def _wait(self) -> None:
        self._quiet.start()

    @Slot()
    def go_on(self) -> None:
        """Submit the next short task of ranking, if a finished run is not ranked yet and no run works.

        The newest run comes first. The end of the task calls this method again.
        """
        if self._job is not None or self._runs.busy:
            return
        # The rest of the ranking of a run that has begun comes first.
        if self._rest is None:
            record = next(filter(self._is_new, reversed(self._runs.records)), None)
            if record is None:
                return
            self._begun.add(record.key)
            self._rest = self._rankings(record)
        self._job = self._worker.task(
            tr("Ranking the documents"),
            _rank_for_a_moment,
            self._rest,
            on_done=self._take,  # gets the work that remains, None for no more
            # a failure is not reported now, but once the user asks for the measure
            on_error=lambda _: self._take(None),
            slot="rankings",
        )

    def _is_new(self, record: RunRecord) -> bool:
        """Return whether a run is finished, has open documents, and is neither ranked nor being ranked."""
        has_documents = record.dataset.folds[0].train.n_documents > 0
        return (
            has_documents
            and record.result is not None
            and record.key not in self._begun
        )

    def _rankings(self, record: RunRecord) -> Iterator[None]:
        assert record.result is not None  # a new one has a result
        return self._rank_models(record.result, record.dataset)

    def _take(self, rest: Iterator[None] | None) -> None:
        self._job = None
        self._rest = rest
        self.go_on()

    @Slot(int)
    def _forget(self, key: int) -> None:
        self._begun.discard(key)

    @Slot()
    def _forget_all(self) -> None:
        if self._job is not None:
            self._job.abandon()
        self._begun.clear()
        self._job = self._rest = None


def _rank_for_a_moment(rankings: Iterator[None]) -> Iterator[None] | None:
    """Rank for at most about 50 ms; return the remaining work, None if all is done.

    Each item of ``rankings`` is a step of the work, which is done as it is requested.
    """
    until = time.perf_counter() + _MAX_WAIT_SECONDS
    for _ in rankings:
        if time.perf_counter() > until:
            return rankings
    return None
