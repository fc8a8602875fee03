"""Feeds the views of the Compare page: the one that is shown, and only when its inputs have changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.analysis.conventions import convention_rows
from rankstudio.engine.analysis.pareto import ParetoFront, pareto_front_of
from rankstudio.engine.analysis.selection_stability import selection_stability
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.compare.comparison_scope import ComparisonScope
from rankstudio.ui.compare.paired_tests import PairedTests
from rankstudio.ui.compare.panel import ResultsPanel
from rankstudio.ui.compare.view import ALL
from rankstudio.ui.language import tr
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import SEALED
from rankstudio.ui.page.controller import Controller


class ViewFeeder(Controller):
    """Has what the shown view needs computed on the task worker, and hands it over.

    Parameters
    ----------
    scope : ComparisonScope
        Which runs are compared.
    tests : PairedTests
        What the queries say of them.
    worker : Worker
        For tasks.
    views : ResultsPanel
    """

    def __init__(
        self,
        scope: ComparisonScope,
        tests: PairedTests,
        worker: Worker,
        views: ResultsPanel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._scope, self._session, self._runs = scope, scope.session, scope.runs
        self._tests, self._views = tests, views
        self._compute: dict[str, Callable[[], Computation | None]] = {
            "folds": self._show_folds,
            "tests": self._show_tests,
            "stability": self._compare_features,
            "pareto": self._compare_sizes,
            "conventions": self._compare_conventions,
            "published": self._show_published,
        }
        others = views.viewChosen, views.folds.scope.chosen, self._runs.removed
        self._demand = OnDemand(
            worker,
            self._key,
            self._update_view,
            slot="insight",
            panel=views,
            on=(*scope.changes, *others),
            parent=self,
        )
        self._demand.failed.connect(self.failed)
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
        looked_at = self._session.measure, self._session.convention, self._session.sealed
        asked = (looked_at, self._scope.marks.reference, self._views.folds.scope.value())
        finished = tuple((key, id(run)) for key, run in self._scope.finished().items())
        return self._views.key(), asked, self._shown_state(), finished

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
        return record.key, measured.plan.convention, tuple(id(fold) for fold in measured.folds.values())

    # Views

    def _show_folds(self) -> None:
        record = self._record
        if self._views.folds.scope.value() == ALL:
            runs = self._scope.finished()
            anchor = self._scope.anchor(runs)
            paired = self._scope.paired(runs, anchor) if anchor is not None else {}
            self._views.folds.show_runs(paired, self._session.measure)
        elif record is None:
            self._views.folds.clear()
        else:
            measured = self._scope.measured.view(record)
            self._views.folds.show_run(_name(record), measured.plan, _folds(measured))

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
        runs, name = self._scope.finished(), self._session.measure
        anchor = self._scope.anchor(runs)
        paired = self._scope.paired(runs, anchor) if anchor is not None else {}
        plans = [(key, run.plan) for key, run in paired.items()]
        data = [self._runs.record(key).dataset for key in paired]

        def show(found: ParetoFront | None) -> None:
            self._views.pareto.show_pareto_front(plans, found, name)
            self._mark()

        given = tuple(paired.values()), name, data
        return computation(tr("Computing the Pareto front"), show, pareto_front_of, *given)

    def _show_published(self) -> None:
        if self._session.sealed:
            self._views.published.show_runs((), SEALED)
        else:
            self._views.published.show_runs(self._own().items())

    def _own(self) -> dict[int, RunResult]:
        """Return the ticked runs that are done, as they measured themselves."""
        ticked = (record for record in self._runs.records if self._scope.marks.is_ticked(record.key))
        results = {record.key: record.result for record in ticked}
        return {key: result for key, result in results.items() if result is not None and result.complete}

    def _compare_conventions(self) -> Computation:
        name, looked_at, sealed = self._session.measure, self._session.convention, self._session.sealed
        data = self._session.dataset
        own = self._own() if self._session.has_documents else {}
        here = {key: (run, self._runs.record(key).dataset) for key, run in own.items()}
        found = {key: (run, documents) for key, (run, documents) in here.items() if documents is data}
        methods = {key: result.plan.title for key, (result, _) in found.items()}
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
        self._views.tests.show_rows(self._tests.rows, self._session.measure)

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
        key=record.key, title=record.plan.title, name=record.dataset.name
    )


def _folds(measured: MeasuredRun) -> tuple[FoldResult, ...]:
    return tuple(measured.folds[number] for number in sorted(measured.folds))
