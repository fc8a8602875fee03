"""What feeds the Compare page: which finished runs are compared, and what is computed of them while seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal, SignalInstance, Slot
from PySide6.QtWidgets import QWidget

from rankstudio.engine.analysis.conventions import convention_rows
from rankstudio.engine.analysis.pareto import ParetoFront, pareto_front_of
from rankstudio.engine.analysis.run_costs import costs_of
from rankstudio.engine.analysis.run_curves import By, RunCurve, learning_curves, run_curves
from rankstudio.engine.analysis.selection_stability import selection_stability
from rankstudio.engine.analysis.significance import (
    ComparedRun,
    best_run,
    compare_with,
    compared_runs,
    why_unpaired,
)
from rankstudio.engine.analysis.tried_models import Part
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.statistics.paired import PairedComparison
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.compare.cascade_view import NO_COSTS, NO_RUN, found_cascades
from rankstudio.ui.compare.curves_view import CurvesView
from rankstudio.ui.compare.folds_view import THRESHOLDS, found_decisions
from rankstudio.ui.compare.panel import ResultsPanel
from rankstudio.ui.compare.view import ALL
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
    worker : Worker
        Computes what is shown of them.
    """

    def __init__(self, models: Models) -> None:
        self.session, self.runs, self.worker = models.session, models.runs, models.task_worker
        self.measured, self.marks = models.measured, models.marks

    @property
    def changes(self) -> tuple[SignalInstance, ...]:
        """When other runs are compared, or they are compared by something else."""
        runs, session = self.runs, self.session
        of_runs = runs.added, runs.ended, runs.shownChanged
        of_measures = session.measureChanged, session.datasetChanged
        return (*of_runs, *of_measures, self.marks.changed, self.measured.changed)

    def finished(self) -> dict[int, RunResult]:
        """Return the ticked runs that are done, by their numbers, as they are measured now."""
        return self._complete(lambda record: self.measured.view(record).result)

    def own(self) -> dict[int, RunResult]:
        """Return the ticked runs that are done, by their numbers, as they measured themselves."""
        return self._complete(lambda record: record.result)

    def _complete(self, result_of: Callable[[RunRecord], RunResult | None]) -> dict[int, RunResult]:
        ticked = (record for record in self.runs.records if self.marks.is_ticked(record.key))
        found = {record.key: result_of(record) for record in ticked}
        return {key: result for key, result in found.items() if result is not None and result.complete}

    def titles(self) -> dict[int, str]:
        """Return what the ticked runs that are done are called, by their numbers."""
        return {key: self.runs.record(key).title for key in self.finished()}

    def anchor(self, runs: dict[int, RunResult]) -> int | None:
        """Return the run whose data and folds are meant: the reference, the one shown, or the last.

        It is one on the data in use: while no run on these is done, those on other data are not shown for it.
        """
        shown = self.runs.shown
        candidates = [key for key in runs if self.runs.record(key).dataset is self.session.dataset]
        preferred = (self.marks.reference, shown.key if shown is not None else None)
        return next((key for key in preferred if key in candidates), next(reversed(candidates), None))

    def paired(self, runs: dict[int, RunResult], anchor: int | None) -> dict[int, RunResult]:
        """Return the runs whose measures are of the same queries as those of one of them; none without it."""
        if anchor is None:
            return {}
        name = self.session.measure
        return {key: run for key, run in runs.items() if not why_unpaired(run, runs[anchor], name)}

    def together(self) -> dict[int, RunResult]:
        """Return the ticked runs that are done on the same queries."""
        runs = self.finished()
        return self.paired(runs, self.anchor(runs))

    def reference(self, runs: dict[int, RunResult]) -> int | None:
        """Return the run to compare with: the one asked for, else the best of those on the same queries."""
        anchor = self.anchor(runs)
        if anchor is None or anchor == self.marks.reference:
            return anchor
        paired = self.paired(runs, anchor)
        best = best_run(list(paired.values()), self.session.measure)
        return next((key for key, run in paired.items() if run is best), anchor)


Pair = tuple[int, int, tuple[object, ...]]  # two runs by their numbers, and how they are measured


class PairedTests(Controller):
    """Has the tests computed while somebody sees them, and keeps what was found.

    Parameters
    ----------
    scope : ComparisonScope
        Which runs are compared, by which measure.
    panel : QWidget
        Where they are shown.

    Attributes
    ----------
    rows : list of ComparedRun
        The reference first; empty where nothing is done.
    """

    changed = Signal()

    def __init__(self, scope: ComparisonScope, panel: QWidget, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._scope, self._session, self._runs = scope, scope.session, scope.runs
        self.rows: list[ComparedRun] = []
        self._found: dict[Pair, PairedComparison] = {}
        # Comparisons are jobs of their own, so that a path that the slider asks for waits for one at most.
        given = self, scope.worker, self._key, self._test, self.failed.emit
        self._demand = OnDemand(*given, slot="paired tests", panel=panel, on=scope.changes)
        self._runs.removed.connect(self._forget)
        self._runs.cleared.connect(self._forget_all)

    @property
    def titles(self) -> dict[int, str]:
        """The names of the runs that are compared, by number."""
        return self._scope.titles()

    @Slot()
    def update(self) -> None:
        """Test what is ticked now."""
        self._demand.update()

    def _key(self) -> Key | None:
        runs = self._scope.finished()
        measured = tuple((key, id(run)) for key, run in runs.items())
        return self._session.measure, self._scope.reference(runs), measured, len(self._found)

    def _test(self) -> Computation | None:
        """Show what is known, and have the next test computed."""
        runs, name = self._scope.finished(), self._session.measure
        reference = self._scope.reference(runs)
        if reference is None:
            self.rows = []
            self.changed.emit()
            return None
        session, rules = self._session, runs[reference].plan.convention
        sealed = session.is_sealed(self._runs.record(reference).dataset)
        how = (name, session.chooses, sealed, rules)
        pairs = {
            key: (
                key,
                reference,
                (*how, run.plan.convention, session.is_sealed(self._runs.record(key).dataset)),
            )
            for key, run in runs.items()
        }
        found = {key: self._found[pair] for key, pair in pairs.items() if pair in self._found}
        self.rows = compared_runs(runs, reference, name, found)
        self.changed.emit()
        waiting = next((row.key for row in self.rows if row.role == "waiting"), None)
        if waiting is None:
            return None

        def keep(test: PairedComparison) -> None:
            self._found[pairs[waiting]] = test
            self._demand.update()

        what = tr("Testing run {waiting} against run {reference}").format(
            waiting=waiting, reference=reference
        )
        return computation(what, keep, compare_with, runs[waiting], runs[reference], name)

    @Slot(int)
    def _forget(self, key: int) -> None:
        """Forget what was found about a run that was removed."""
        self._found = {p: c for p, c in self._found.items() if key not in p[:2]}
        self.update()

    @Slot()
    def _forget_all(self) -> None:
        """Forget everything: in another study the same numbers are other runs."""
        self._demand.forget()
        self._found, self.rows = {}, []
        self.changed.emit()
        self.update()


class CurvesFeeder(Controller):
    """Has the curves computed on the task worker, and hands them over.

    Parameters
    ----------
    scope : ComparisonScope
        Which runs are compared.
    view : CurvesView
    """

    def __init__(self, scope: ComparisonScope, view: CurvesView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._scope, self._session, self._runs, self._view = scope, scope.session, scope.runs, view
        given = self, scope.worker, self._key, self._compare, self.failed.emit
        self._demand = OnDemand(*given, slot="run curves", panel=view)
        others = view.by.chosen, self._runs.removed, self._runs.labelled, self._runs.cleared
        for signal in (*scope.changes, *others):
            signal.connect(self.update)
        self._session.choiceChanged.connect(self._mark)

    @Slot()
    def update(self) -> None:
        """Show the curves of the runs that are ticked now."""
        self._demand.update()
        if self._view.isVisible():
            self._mark()

    def _compared(self) -> tuple[int | None, dict[int, RunResult]]:
        """Return the reference, and the runs on the same queries."""
        finished = self._scope.finished()
        reference = self._scope.reference(finished)
        return reference, self._scope.paired(finished, reference)

    def _by(self) -> tuple[By, Part]:
        by = self._view.by.value()
        if by == "test":
            return "size", "test"
        return by, "vali"  # type: ignore[return-value] # those that are offered

    def _key(self) -> Key | None:
        reference, runs = self._compared()
        plans = [run.plan for run in runs.values()]
        shares = any(len(group) > 1 for group in learning_curves(plans))
        records = [self._runs.record(key) for key in runs]
        tested = any(record.dataset.folds[0].test is not None for record in records)
        test = tested and not any(self._session.is_sealed(record.dataset) for record in records)
        self._view.offer(costs_of(list(runs.values())), shares=shares, test=test)
        measured = tuple((key, id(run)) for key, run in runs.items())
        shown = tuple((record.title, id(record.dataset)) for record in records)
        return self._session.measure, reference, self._by(), measured, shown

    def _compare(self) -> Computation | None:
        reference, runs = self._compared()
        name = self._session.measure
        plans = {key: (self._runs.record(key).title, run.plan) for key, run in runs.items()}

        def show(found: tuple[RunCurve | None, ...]) -> None:
            self._view.show_curves(plans, found, reference, name)
            self._mark()

        if reference is None or reference not in runs:  # nor is it where nothing was measured
            show(())
            return None
        data = [self._runs.record(key).dataset for key in runs]
        given = list(runs.values()), name, list(runs).index(reference), data, *self._by()
        return computation(tr("Comparing the curves of runs"), show, run_curves, *given)

    @Slot()
    def _mark(self) -> None:
        """Mark the model that is chosen."""
        record, choice = self._runs.shown, self._session.choice
        self._view.mark(record.key if record is not None else None, choice.values, choice.place)


class ViewFeeder(Controller):
    """Has what the shown view needs computed on the task worker, and hands it over.

    Parameters
    ----------
    scope : ComparisonScope
        Which runs are compared.
    tests : PairedTests
        What the queries say of them.
    views : ResultsPanel
    """

    def __init__(
        self, scope: ComparisonScope, tests: PairedTests, views: ResultsPanel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._scope, self._session, self._runs = scope, scope.session, scope.runs
        self._tests, self._views = tests, views
        self._compute: dict[str, Callable[[], Computation | None]] = {
            "folds": self._show_folds,
            "tests": self._show_tests,
            "stability": self._compare_features,
            "pareto": self._compare_sizes,
            "cascades": self._find_cascades,
            "conventions": self._compare_conventions,
            "published": self._show_published,
        }
        chosen = views.viewChosen, views.folds.scope.chosen, views.pareto.by.chosen
        others = *chosen, self._runs.removed, self._runs.labelled
        given = self, scope.worker, self._key, self._update_view, self.failed.emit
        self._demand = OnDemand(*given, slot="insight", panel=views, on=(*scope.changes, *others))
        views.tests.referenceChosen.connect(scope.marks.refer_to)
        self._runs.cleared.connect(self._forget)
        tests.changed.connect(self._tell_tests)
        self._session.foldChanged.connect(self._mark)
        self._session.choiceChanged.connect(self._mark)

    @Slot()
    def update(self) -> None:
        """Update the view that is shown, where what it depends on is not what it was."""
        self._demand.update()

    def _key(self) -> Key | None:
        record = self._record
        self._views.offer("cascades", record is not None and record.plan.feature_costs is not None)
        looked_at = self._session.measure, self._session.convention, self._session.seal_marks
        chosen = self._views.folds.scope.value(), self._views.pareto.by.value()
        asked = (looked_at, self._scope.marks.reference, chosen)
        finished = tuple((key, id(run)) for key, run in self._scope.finished().items())
        return self._views.key(), asked, self._shown_state(), finished, tuple(self._scope.titles().items())

    def _update_view(self) -> Computation | None:
        wanted = self._compute[self._views.key()]()
        self._mark()
        return wanted

    @property
    def _record(self) -> RunRecord | None:
        return self._runs.shown

    def _shown_state(self) -> tuple[object, ...]:
        record = self._record
        if record is None:
            return ()
        measured = self._scope.measured.view(record)
        folds = tuple(id(fold) for fold in measured.folds.values())
        return record.key, record.title, measured.plan.convention, folds

    # Views

    def _show_folds(self) -> Computation | None:
        record, folds = self._record, self._views.folds
        thresholds = folds.scope.value() == THRESHOLDS and self._session.has_documents
        if thresholds and record is not None and record.result is not None:
            show = partial(folds.show_decisions, _name(record))
            given = record.result, record.dataset, self._session.is_sealed(record.dataset)
            return computation(tr("Choosing thresholds"), show, found_decisions, *given)
        if self._views.folds.scope.value() == ALL:
            self._views.folds.show_runs(self._scope.together(), self._scope.titles(), self._session.measure)
        elif record is None:
            self._views.folds.clear()
        else:
            measured = self._scope.measured.view(record)
            self._views.folds.show_run(_name(record), measured.plan, _folds(measured))
        return None

    def _compare_features(self) -> Computation | None:
        record = self._record
        folds = _folds(self._scope.measured.view(record)) if record is not None else ()
        if record is None or not folds:
            self._views.stability.clear(_name(record) if record is not None else "")
            return None
        if not record.plan.entry.selects:
            self._views.stability.clear(tr("{record} uses all features").format(record=_name(record)))
            return None
        show, data = partial(self._views.stability.show_stability, _name(record)), record.dataset
        given = folds, data.feature_ids, data.feature_names
        return computation(tr("Comparing selected features between folds"), show, selection_stability, *given)

    def _compare_sizes(self) -> Computation:
        paired, name = self._scope.together(), self._session.measure
        titles = self._scope.titles()
        plans = [(key, titles[key], run.plan) for key, run in paired.items()]
        data = [self._runs.record(key).dataset for key in paired]
        by = self._views.pareto.offer(costs_of(list(paired.values())))

        def show(found: ParetoFront | None) -> None:
            self._views.pareto.show_pareto_front(plans, found, name)
            self._mark()

        given = tuple(paired.values()), name, data, by
        return computation(tr("Computing the Pareto front"), show, pareto_front_of, *given)

    def _find_cascades(self) -> Computation | None:
        record, view, name = self._record, self._views.cascades, self._session.measure
        result = record.result if record is not None else None
        costs = record.plan.feature_costs if record is not None else None
        if record is None or result is None or costs is None or not result.complete:
            view.clear(NO_COSTS if costs is None else NO_RUN)
            return None
        show = partial(view.show_cascades, _name(record), record.key)
        given = result, record.dataset, costs, name
        return computation(tr("Measuring cascades"), show, found_cascades, *given)

    def _show_published(self) -> None:
        own = self._scope.own()
        sealed = {key for key in own if self._session.is_sealed(self._runs.record(key).dataset)}
        runs = [(key, run) for key, run in own.items() if key not in sealed]
        if runs or not sealed:
            self._views.published.show_runs(runs)
        else:
            self._views.published.show_runs((), SEALED)

    def _compare_conventions(self) -> Computation:
        name, looked_at, sealed = self._session.measure, self._session.convention, self._session.sealed
        data = self._session.dataset
        own = self._scope.own() if self._session.has_documents else {}
        here = {key: (run, self._runs.record(key).dataset) for key, run in own.items()}
        found = {key: (run, documents) for key, (run, documents) in here.items() if documents is data}
        methods = {key: self._runs.record(key).title for key in found}
        tested = not sealed and data is not None and data.folds[0].test is not None
        part = tr("test") if tested else tr("validation")

        def show(means: dict[int, dict[str, float]]) -> None:
            rows = convention_rows(methods, means, name)
            self._views.conventions.show_rows(rows, name, looked_at, part)

        means = partial(self._scope.measured.means, found, name, sealed=sealed)
        return computation(tr("Measuring by every convention"), show, means)

    def _show_tests(self) -> None:
        self._tests.update()
        self._views.tests.set_runs(self._tests.titles, self._scope.marks.reference)
        rows = self._tests.rows
        plan = self._runs.record(rows[0].key).plan if rows else None
        self._views.tests.show_rows(rows, self._session.measure, plan)

    @Slot()
    def _tell_tests(self) -> None:
        """Show what the tests have found since the last time, where that is looked at."""
        if self._views.key() == "tests":
            self._show_tests()

    # Wiring

    @Slot()
    def _forget(self) -> None:
        """Forget what is shown: in another study the same numbers are other runs."""
        self._demand.forget()
        self.update()

    @Slot()
    def _mark(self) -> None:
        """Mark the fold and the model that are looked at."""
        record, choice = self._record, self._session.choice
        self._views.folds.mark(self._session.fold)
        self._views.pareto.mark(record.key if record is not None else None, choice.values, choice.place)


def _name(record: RunRecord) -> str:
    return tr("run {key} · {title} on {name}").format(
        key=record.key, title=record.title, name=record.dataset.name
    )


def _folds(measured: MeasuredRun) -> tuple[FoldResult, ...]:
    return tuple(measured.folds[number] for number in sorted(measured.folds))
