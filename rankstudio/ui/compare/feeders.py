"""Decides which finished runs the Compare page compares, and has its contents computed while visible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QObject, Signal, SignalInstance, Slot
from PySide6.QtWidgets import QWidget

from rankstudio.engine.analysis.comparisons.significance import (
    ComparedRun,
    best_run,
    compare_with,
    compared_runs,
)
from rankstudio.engine.analysis.features.selection_stability import selection_stability
from rankstudio.engine.analysis.measurements.conventions import convention_rows
from rankstudio.engine.analysis.tried_models.pareto import ParetoFront, pareto_front_of
from rankstudio.engine.analysis.tried_models.run_costs import costs_of
from rankstudio.engine.analysis.tried_models.run_curves import (
    By,
    RunCurve,
    learning_curves,
    run_curves,
)
from rankstudio.engine.analysis.tried_models.tried_models import Part
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.statistics.paired import PairedComparison
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.compare.curves_view import CurvesView
from rankstudio.ui.compare.folds_view import rows_of
from rankstudio.ui.compare.groups import RunGroup, run_groups
from rankstudio.ui.compare.panel import ResultsPanel
from rankstudio.ui.compare.view import (
    ALL,
    ComparedRuns,
    ContributedComparison,
    ContributedView,
    run_name,
)
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import SEALED
from rankstudio.ui.page.controller import Controller


class ComparisonScope:
    """The ticked runs that are done, as all views of the Compare page see them.

    Parameters
    ----------
    models : Models

    Attributes
    ----------
    session, runs, measured, marks
        The session, all runs, the runs as they are measured now, and
        the ticks of the runs.
    worker : Worker
        Computes the contents of the views.
    """

    def __init__(self, models: Models) -> None:
        self.session = models.session
        self.runs = models.runs
        self.worker = models.task_worker
        self.measured = models.measured
        self.marks = models.marks
        # The groups of the last call, and their key. The key contains
        # ids of results: the measured runs are kept, too, as another
        # object could get the id of one that is deleted.
        self._last_groups: (
            tuple[object, dict[int, MeasuredRun], tuple[RunGroup, ...]] | None
        ) = None

    @property
    def changes(self) -> tuple[SignalInstance, ...]:
        """Signals after which the compared runs, or the measure by which they are compared, may differ."""
        runs = self.runs
        session = self.session
        of_runs = runs.added, runs.ended, runs.shownChanged
        of_measures = session.measureChanged, session.datasetChanged
        return (*of_runs, *of_measures, self.marks.changed, self.measured.changed)

    def finished(self) -> dict[int, RunResult]:
        """Return the results of the finished ticked runs, by number, measured as the user has chosen now."""
        return self._complete_results(lambda record: self.measured.view(record).result)

    def own_results(self) -> dict[int, RunResult]:
        """Return the results of the finished ticked runs, by number, as the runs themselves were measured."""
        return self._complete_results(lambda record: record.result)

    def _complete_results(
        self, result_of: Callable[[RunRecord], RunResult | None]
    ) -> dict[int, RunResult]:
        """Return a result of each ticked run that has one with all its folds, by the run's number."""
        ticked = (
            record for record in self.runs.records if self.marks.is_ticked(record.key)
        )
        by_run = {record.key: result_of(record) for record in ticked}
        return {
            key: result
            for key, result in by_run.items()
            if result is not None and result.complete
        }

    def groups(self) -> tuple[RunGroup, ...]:
        """Return all runs in groups of comparable runs, the groups on the open dataset first."""
        # The groups of the last call are returned as long as the data
        # and all results and plans are the same. Results are compared
        # by their ids, as they are large.
        dataset = self.session.dataset
        first_data = dataset.name if dataset is not None else ""
        measured = {
            record.key: self.measured.view(record) for record in self.runs.records
        }
        states = tuple(
            (number, id(run.result), run.plan) for number, run in measured.items()
        )
        key = first_data, states
        if self._last_groups is not None:
            last_key, _, last_groups = self._last_groups
            if last_key == key:
                return last_groups
        groups = run_groups(self.runs.records, measured, first_data)
        # `measured` keeps the results alive, so that no other result gets their ids.
        self._last_groups = key, measured, groups
        return groups

    def group(self) -> RunGroup | None:
        """Return the group that plots show: that of the shown run, or the first on the open data."""
        dataset = self.session.dataset
        shown_run = self.runs.shown
        if dataset is None:
            return None
        # Only groups on the open data; the shown run may be on other data.
        on_data = {
            record.key
            for record in self.runs.records
            if record.dataset.name == dataset.name
        }
        groups = [group for group in self.groups() if on_data.intersection(group.keys)]
        shown_groups = (
            group
            for group in groups
            if shown_run is not None and shown_run.key in group.keys
        )
        return next(shown_groups, groups[0] if groups else None)

    def members(self, group: RunGroup | None) -> dict[int, RunResult]:
        """Return the results of the finished ticked runs that belong to a group, by their numbers.

        Without a group (None), the result is {}.
        """
        keys = group.measured if group is not None else ()
        return {key: run for key, run in self.finished().items() if key in keys}

    def results_of_shown_group(self) -> dict[int, RunResult]:
        """Return the results, by number, of the finished ticked runs of the shown group of comparable runs."""
        return self.members(self.group())

    def reference(self, group: RunGroup | None) -> int | None:
        """Return the number of the run with which a group is compared.

        The run is the reference that the user has chosen if that is in
        the group, and the best run otherwise. Return None for a group
        that is not ranked.
        """
        runs = self.members(group)
        if group is None or not group.is_ranked:
            return None
        if self.marks.reference in runs:
            return self.marks.reference
        best = best_run(list(runs.values()), self.session.measure)
        return next((key for key, run in runs.items() if run is best), None)

    def titles(self) -> dict[int, str]:
        """Return the titles of the ticked runs in the shown group, by their numbers."""
        return {
            key: self.runs.record(key).title for key in self.results_of_shown_group()
        }


# number of a run, number of its reference, and their measurement
Pair = tuple[int, int, tuple[object, ...]]


class PairedTests(Controller):
    """Has the paired tests of runs computed while their panel is visible, and stores the results.

    Parameters
    ----------
    scope : ComparisonScope
        The runs that are compared, and the measure.
    panel : QWidget
        Panel that shows the tests.

    Attributes
    ----------
    groups : tuple of (RunGroup, tuple of ComparedRun)
        Every group of ranked runs with its compared runs, the reference
        first. Tests are corrected within a group.
    """

    changed = Signal()

    def __init__(
        self, scope: ComparisonScope, panel: QWidget, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._scope = scope
        self._session = scope.session
        self._runs = scope.runs
        # each ranked group with the comparisons of its runs, tested or waiting
        self.groups: tuple[tuple[RunGroup, tuple[ComparedRun, ...]], ...] = ()
        # Finished tests by (run, reference, how both are measured).
        self._tests: dict[Pair, PairedComparison] = {}
        # Each test is a job of its own on the worker. Other jobs, such
        # as the path of models that the slider needs, wait for one test
        # at most. `_next_test` is called if the value of `_key` has
        # changed after one of the signals `on`. Of waiting jobs of one
        # slot, only the last is carried out.
        self._test_demand = OnDemand(
            self,
            scope.worker,
            key=self._key,
            compute=self._next_test,
            failed=self.failed.emit,
            slot="paired tests",
            panel=panel,
            on=scope.changes,
        )
        self._runs.removed.connect(self._forget)
        self._runs.cleared.connect(self._forget_all)

    @property
    def titles(self) -> dict[int, str]:
        """The titles of the ticked runs in the shown group, by their numbers."""
        return self._scope.titles()

    @Slot()
    def update(self) -> None:
        """Have the missing tests of the ticked runs computed, and show those that are done."""
        self._test_demand.update()

    @property
    def rows(self) -> tuple[ComparedRun, ...]:
        """The compared runs of the shown group, the reference first.

        There are none if the group is not ranked.
        """
        shown_group = self._scope.group()
        return next((rows for group, rows in self.groups if group == shown_group), ())

    @property
    def complete(self) -> bool:
        """Whether no test of the shown group is missing."""
        group = self._scope.group()
        is_tested = group is None or not group.is_ranked or bool(self.rows)
        return is_tested and all(row.role != "waiting" for row in self.rows)

    def _key(self) -> Key | None:
        """Return all that decides which paired test is computed next.

        `OnDemand` calls `_next_test` whenever this value has changed.
        The identity of a result changes when its run is measured anew.
        The number of tests changes with each test that is done, so that
        the next one follows.
        """
        runs = self._scope.finished()
        measured = tuple((key, id(run)) for key, run in runs.items())
        groups = self._scope.groups()
        references = tuple(self._scope.reference(group) for group in groups)
        return self._session.measure, groups, references, measured, len(self._tests)

    def _next_test(self) -> Computation | None:
        """Show the finished tests, and return the computation of the next one.

        Tests of the shown group come first. Return None if no test is missing.
        """
        name = self._session.measure
        shown_group = self._scope.group()
        tested: list[tuple[RunGroup, tuple[ComparedRun, ...]]] = []
        # For each test: whether it is of another group than the shown
        # one, its run and its reference.
        waiting: list[tuple[bool, int, int]] = []
        for group in self._scope.groups():
            reference = self._scope.reference(group)
            if reference is None:  # the group is not ranked
                continue
            runs = self._scope.members(group)
            tests = {
                key: self._tests.get(self._pair(key, reference, runs)) for key in runs
            }
            finished = {key: test for key, test in tests.items() if test is not None}
            # A row for each run; one without a finished test has the role "waiting".
            rows = tuple(compared_runs(runs, reference, name, finished))
            tested.append((group, rows))
            waiting += [
                (group != shown_group, row.key, reference)
                for row in rows
                if row.role == "waiting"
            ]
        self.groups = tuple(tested)
        self.changed.emit()
        if not waiting:
            return None
        # False is less than True, so a test of the shown group is the first.
        _, key, reference = min(waiting, key=lambda entry: entry[0])
        runs = self._scope.finished()
        pair = self._pair(key, reference, runs)

        # Called with the result; the update asks for the next test.
        def keep(test: PairedComparison) -> None:
            self._tests[pair] = test
            self._test_demand.update()

        text = tr("Testing run {waiting} against run {reference}").format(
            waiting=key, reference=reference
        )
        return computation(text, keep, compare_with, runs[key], runs[reference], name)

    def _pair(self, key: int, reference: int, runs: Mapping[int, RunResult]) -> Pair:
        """Return the key under which the test of a run against a reference is stored.

        ``key`` and ``reference`` are the numbers of the two runs in
        ``runs``. The returned key contains how both are measured: the
        measure, whether that measure chose their models, their
        conventions, and the part of the data.
        """
        session = self._session
        measurement = session.measure, session.chooses, runs[reference].plan.convention
        return key, reference, (*measurement, runs[key].plan.convention, runs[key].part)

    @Slot(int)
    def _forget(self, key: int) -> None:
        """Forget the tests of a run that was removed, also as the reference of others."""
        self._tests = {
            (run, reference, measurement): test
            for (run, reference, measurement), test in self._tests.items()
            if key not in (run, reference)
        }
        self.update()

    @Slot()
    def _forget_all(self) -> None:
        """Forget all tests: in another study the same numbers belong to other runs."""
        self._test_demand.forget()
        self._tests = {}
        self.groups = ()
        self.changed.emit()
        self.update()


class CurvesFeeder(Controller):
    """Has the curves of the compared runs computed on the task worker, and shows them in the view.

    Parameters
    ----------
    scope : ComparisonScope
        The runs that are compared.
    view : CurvesView
        The panel that shows the curves.
    """

    def __init__(
        self, scope: ComparisonScope, view: CurvesView, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._scope = scope
        self._session = scope.session
        self._runs = scope.runs
        self._view = view
        # Calls `_compare` while the view is visible and the value of
        # `_key` has changed, and carries out the computation that it
        # returns. Of waiting jobs of one slot, only the last is carried
        # out.
        self._curves_demand = OnDemand(
            self,
            scope.worker,
            key=self._key,
            compute=self._compare,
            failed=self.failed.emit,
            slot="run curves",
            panel=view,
        )
        # The curves are compared anew after these changes. After
        # another choice or inspection of a model, only the marks on
        # them move.
        signals = (
            view.by.chosen,
            self._runs.removed,
            self._runs.labelled,
            self._runs.cleared,
        )
        for signal in (*scope.changes, *signals):
            signal.connect(self.update)
        for signal in (self._session.choiceChanged, self._session.inspectionChanged):
            signal.connect(self._mark)

    @Slot()
    def update(self) -> None:
        """Have the curves of the ticked runs computed if anything that they depend on has changed."""
        self._curves_demand.update()
        if self._view.isVisible():
            self._mark()

    def _compared(self) -> tuple[int | None, dict[int, RunResult]]:
        """Return the number of the reference (None without one) and the runs of the shown group by number."""
        group = self._scope.group()
        return self._scope.reference(group), self._scope.members(group)

    def _axis_and_part(self) -> tuple[By, Part]:
        """Return the quantity on the x axis, and the part of the data that is measured, "test" or "vali"."""
        x_key = self._view.by.value()
        if x_key == "test":
            return "size", "test"
        return x_key, "vali"  # type: ignore[return-value] # the view offers the other values of By only

    def _key(self) -> Key | None:
        """Offer the quantities of the x axis, and return what the curves depend on.

        The curves are computed anew when this value differs from the
        one before.
        """
        # Runs that learned from different shares of the training
        # queries make a learning curve.
        reference, runs = self._compared()
        plans = [run.plan for run in runs.values()]
        shares_differ = any(len(group) > 1 for group in learning_curves(plans))
        records = [self._runs.record(key) for key in runs]
        has_test_part = any(
            record.dataset.folds[0].test is not None for record in records
        )
        test_is_open = has_test_part and not any(
            self._session.is_sealed(record.dataset) for record in records
        )
        # Test measures are offered only if no run is on sealed data.
        self._view.offer(
            costs_of(list(runs.values())), shares=shares_differ, test=test_is_open
        )
        # Runs that are measured anew and data that are opened are new
        # objects, with other ids.
        measured = tuple((key, id(run)) for key, run in runs.items())
        labels = tuple((record.title, id(record.dataset)) for record in records)
        return self._session.measure, reference, self._axis_and_part(), measured, labels

    def _compare(self) -> Computation | None:
        """Return the computation of the curves of the compared runs.

        Without runs, show no curves at once and return None.
        """
        reference, runs = self._compared()
        name = self._session.measure
        plans = {
            key: (self._runs.record(key).title, run.plan) for key, run in runs.items()
        }

        def show(curves: tuple[RunCurve | None, ...]) -> None:
            self._view.show_curves(plans, curves, reference, name)
            self._mark()

        if not runs:
            show(())
            return None
        # The engine numbers runs by their position in the list.
        data = [self._runs.record(key).dataset for key in runs]
        reference_position = (
            list(runs).index(reference) if reference is not None else None
        )
        x_key, part = self._axis_and_part()  # the x axis, and "test" or "vali"
        compute_curves = partial(
            run_curves,
            list(runs.values()),
            name,
            reference_position,
            data,
            x_key,
            part,
        )
        return computation(tr("Comparing the curves of runs"), show, compute_curves)

    @Slot()
    def _mark(self) -> None:
        """Mark the chosen and the inspected model of the shown run."""
        key = self._runs.shown.key if self._runs.shown is not None else None
        self._view.mark(key, self._session.choice, self._session.inspection)


class ViewFeeder(Controller):
    """Has the content of the results panel's visible view computed on the task worker, and shows it there.

    Parameters
    ----------
    scope : ComparisonScope
        The runs that are compared.
    tests : PairedTests
        Paired tests of these runs.
    views : ResultsPanel
        The panel with the views.
    """

    def __init__(
        self,
        scope: ComparisonScope,
        tests: PairedTests,
        views: ResultsPanel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._scope = scope
        self._session = scope.session
        self._runs = scope.runs
        self._tests = tests
        self._views = views
        # The function that fills each view, by the key of the view. It
        # shows the contents at once and returns None, or returns their
        # computation. The views of plug-ins come last: `contributed`
        # are views of one run, `comparisons` are views of the compared
        # runs.
        self._compute: dict[str, Callable[[], Computation | None]] = {
            "folds": self._show_folds,
            "tests": self._show_tests,
            "stability": self._compare_features,
            "pareto": self._compare_sizes,
            "conventions": self._compare_conventions,
            "published": self._show_published,
            **{
                key: partial(self._look_at_run, view)
                for key, view in views.contributed.items()
            },
            **{
                key: partial(self._compare, view)
                for key, view in views.comparisons.items()
            },
        }
        # All signals after which the content is out of date.
        of_plugins = (view.optionsChanged for view in views.comparisons.values())
        chosen = views.viewChosen, views.folds.scope.chosen, views.pareto.by.chosen
        signals = *chosen, *of_plugins, self._runs.removed, self._runs.labelled
        # `_update_view` is called if the value of `_key` has changed
        # after one of the signals `on`. Of waiting jobs of one slot,
        # only the last is carried out.
        self._view_demand = OnDemand(
            self,
            scope.worker,
            key=self._key,
            compute=self._update_view,
            failed=self.failed.emit,
            slot="insight",
            panel=views,
            on=(*scope.changes, *signals),
        )
        views.tests.referenceChosen.connect(scope.marks.refer_to)
        self._runs.cleared.connect(self._forget)
        tests.changed.connect(self._show_new_tests)
        session = self._session
        for signal in (
            session.foldChanged,
            session.choiceChanged,
            session.inspectionChanged,
        ):
            signal.connect(self._mark)

    @Slot()
    def update(self) -> None:
        """Update the visible view if anything that it depends on has changed."""
        self._view_demand.update()

    def _key(self) -> Key | None:
        """Offer the views that suit the shown run, and return what the visible view depends on.

        Plug-ins contribute views of the shown run, and comparisons of
        the ticked runs. The view is computed anew when this value
        differs from the one before.
        """
        record = self._record
        for key, view in self._views.contributed.items():
            self._views.offer(key, view.is_offered(record))
        compared = self._compared_runs()
        for key, comparison in self._views.comparisons.items():
            self._views.offer(key, comparison.is_offered(compared))
        measurement = (
            self._session.measure,
            self._session.convention,
            self._session.seal_marks,
        )
        comparisons = self._views.comparisons.values()
        of_plugins = tuple(view.options() for view in comparisons)
        choices = (
            self._views.folds.scope.value(),
            self._views.pareto.by.value(),
            of_plugins,
        )
        options = (measurement, self._scope.marks.reference, choices)
        # Results that are measured anew are new objects, with other ids.
        finished = tuple((key, id(run)) for key, run in self._scope.finished().items())
        # The Pareto front needs the paired tests of all its runs.
        has_its_tests = self._views.key() != "pareto" or self._tests.complete
        state = self._shown_state(), self._scope.group(), has_its_tests
        return (
            self._views.key(),
            options,
            state,
            finished,
            tuple(self._scope.titles().items()),
        )

    def _update_view(self) -> Computation | None:
        task = self._compute[self._views.key()]()
        self._mark()
        return task

    @property
    def _record(self) -> RunRecord | None:
        return self._runs.shown

    def _shown_state(self) -> tuple[object, ...]:
        """Return a key of the shown run and its measured folds; () without a run."""
        record = self._record
        if record is None:
            return ()
        measured = self._scope.measured.view(record)
        # Folds that are measured anew are new objects, with other ids.
        folds = tuple(id(fold) for fold in measured.folds.values())
        return record.key, record.title, measured.plan.convention, folds

    # Views

    def _show_folds(self) -> Computation | None:
        """Show the folds of one run or of all runs at once, and return None.

        For a plug-in's table of folds, return its computation instead.
        """
        record = self._record
        folds = self._views.folds
        # The choice in the header is "this run", "all runs" or the key
        # of a plug-in's table, which reads documents.
        table = (
            folds.tables.get(str(folds.scope.value()))
            if self._session.has_documents
            else None
        )
        if table is not None and record is not None and record.result is not None:
            show = partial(folds.show_table, table, run_name(record))
            sealed = self._session.is_sealed(record.dataset)
            return computation(
                tr(table.task),
                show,
                rows_of,
                table,
                record.result,
                record.dataset,
                sealed,
            )
        # `results_of_shown_group` are the results of the ticked runs in the shown group.
        if self._views.folds.scope.value() == ALL:
            self._views.folds.show_runs(
                self._scope.results_of_shown_group(),
                self._scope.titles(),
                self._session.measure,
            )
        elif record is None:
            self._views.folds.clear()
        else:
            measured = self._scope.measured.view(record)
            self._views.folds.show_run(
                run_name(record), measured.plan, _sorted_folds(measured)
            )
        return None

    def _compare_features(self) -> Computation | None:
        """Return the computation of the shown run's stability, by the features that its folds selected.

        Return None if the run has no finished folds, or its method
        selects no features: the view of stability is cleared then, with
        the reason as its text.
        """
        record = self._record
        # The run by the measures in use, without its measures on a sealed test part.
        folds = (
            _sorted_folds(self._scope.measured.view(record))
            if record is not None
            else ()
        )
        if record is None or not folds:
            self._views.stability.clear(run_name(record) if record is not None else "")
            return None
        if not record.plan.entry.selects:
            self._views.stability.clear(
                tr("{record} uses all features").format(record=run_name(record))
            )
            return None
        show = partial(self._views.stability.show_stability, run_name(record))
        data = record.dataset
        return computation(
            tr("Comparing selected features between folds"),
            show,
            selection_stability,
            folds,
            data.feature_ids,
            data.feature_names,
        )

    def _compare_sizes(self) -> Computation | None:
        """Return the computation of the Pareto front: the best models for their size or cost.

        Return None until all tests of the runs are done: they decide
        which model is suggested.
        """
        if not self._tests.complete:
            self._views.pareto.wait()
            return None
        # the results of the ticked runs in the shown group, by number
        runs = self._scope.results_of_shown_group()
        name = self._session.measure
        titles = self._scope.titles()
        plans = [(key, titles[key], run.plan) for key, run in runs.items()]
        data = [self._runs.record(key).dataset for key in runs]
        # Offers the costs that the features have, and returns the chosen x axis.
        x_key = self._views.pareto.offer(costs_of(list(runs.values())))

        def show(front: ParetoFront | None) -> None:
            self._views.pareto.show_pareto_front(plans, front, name)
            self._mark()

        return computation(
            tr("Computing the Pareto front"),
            show,
            pareto_front_of,
            tuple(runs.values()),
            name,
            data,
            x_key,
        )

    def _look_at_run(self, view: ContributedView) -> Computation | None:
        return view.computation_of(self._record, self._session.measure)

    def _compare(self, view: ContributedComparison) -> Computation | None:
        return view.compare(self._compared_runs())

    def _compared_runs(self) -> ComparedRuns:
        """Return the ticked runs of the shown group, for views of plug-ins."""
        return ComparedRuns(
            runs=self._scope.results_of_shown_group(),
            titles=self._scope.titles(),
            reference=self._scope.reference(self._scope.group()),
            measure=self._session.measure,
        )

    def _show_published(self) -> None:
        """Show the shown group beside published values, without runs on sealed data.

        If there are no published values, show the reason.
        """
        # Published values are compared with what a run measured itself,
        # by its own convention, which is what `own_results` returns.
        # `results_of_shown_group` are the results of the ticked runs in
        # the shown group.
        shown_keys = self._scope.results_of_shown_group()
        runs_by_key = {
            key: run
            for key, run in self._scope.own_results().items()
            if key in shown_keys
        }
        sealed = {
            key
            for key in runs_by_key
            if self._session.is_sealed(self._runs.record(key).dataset)
        }
        runs = [(key, run) for key, run in runs_by_key.items() if key not in sealed]
        if runs or not sealed:
            self._views.published.show_runs(runs)
        else:
            self._views.published.show_runs((), SEALED)

    def _compare_conventions(self) -> Computation:
        """Return the computation of the runs' means by every convention, for runs on the open data."""
        name = self._session.measure
        current_convention = self._session.convention
        sealed = self._session.sealed
        open_data = self._session.dataset
        # Results as the runs have measured them, of the shown group only.
        shown_keys = self._scope.results_of_shown_group()
        runs = self._scope.own_results() if self._session.has_documents else {}
        runs = {key: run for key, run in runs.items() if key in shown_keys}
        # Only documents that are open can be measured by other conventions.
        with_data = {
            key: (run, self._runs.record(key).dataset) for key, run in runs.items()
        }
        on_open_data = {
            key: (run, data)
            for key, (run, data) in with_data.items()
            if data is open_data
        }
        methods = {key: self._runs.record(key).title for key in on_open_data}
        # The validation part is measured if the test part is sealed or missing.
        tested = (
            not sealed and open_data is not None and open_data.folds[0].test is not None
        )
        part = tr("test") if tested else tr("validation")

        def show(means: dict[int, dict[str, float]]) -> None:
            rows = convention_rows(methods, means, name)
            self._views.conventions.show_rows(rows, name, current_convention, part)

        compute_means = partial(
            self._scope.measured.means, on_open_data, name, sealed=sealed
        )
        return computation(tr("Measuring by every convention"), show, compute_means)

    def _show_tests(self) -> None:
        """Show the paired tests of the shown group, and offer its runs as the reference."""
        # Has missing tests computed; `titles` has the runs of the group by number.
        self._tests.update()
        titles = self._tests.titles
        reference = self._scope.marks.reference
        # None stands for the best run.
        self._views.tests.set_runs(titles, reference if reference in titles else None)
        rows = self._tests.rows  # the reference is the first
        plan = self._runs.record(rows[0].key).plan if rows else None
        self._views.tests.show_rows(rows, self._session.measure, plan)

    @Slot()
    def _show_new_tests(self) -> None:
        """Show the tests that have finished since the last time, in views that show tests."""
        if self._views.key() == "tests":
            self._show_tests()
        elif self._views.key() == "pareto":  # this view waits for the tests
            self.update()

    # Wiring

    @Slot()
    def _forget(self) -> None:
        """Update the visible view in any case: in another study the same numbers belong to other runs."""
        self._view_demand.forget()
        self.update()

    @Slot()
    def _mark(self) -> None:
        """Mark the fold that is shown, and the chosen and the inspected model."""
        key = self._record.key if self._record is not None else None
        self._views.folds.mark(self._session.fold)
        self._views.pareto.mark(key, self._session.choice, self._session.inspection)


def _sorted_folds(measured: MeasuredRun) -> tuple[FoldResult, ...]:
    return tuple(measured.folds[number] for number in sorted(measured.folds))
