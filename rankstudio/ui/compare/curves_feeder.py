"""Feeds the curves of the ticked runs, when they are seen and something of them is another."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.analysis.run_curves import By, RunCurve, costs_of, run_curves
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.compare.comparison_scope import ComparisonScope
from rankstudio.ui.compare.curves_view import CurvesView
from rankstudio.ui.language import tr
from rankstudio.ui.page.controller import Controller


class CurvesFeeder(Controller):
    """Has the curves computed on the task worker, and hands them over.

    Parameters
    ----------
    scope : ComparisonScope
        Which runs are compared.
    worker : Worker
    view : CurvesView
    """

    def __init__(
        self, scope: ComparisonScope, worker: Worker, view: CurvesView, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._scope, self._session, self._runs, self._view = scope, scope.session, scope.runs, view
        self._demand = OnDemand(worker, self._key, self._compare, slot="run curves", panel=view, parent=self)
        self._demand.failed.connect(self.failed)
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
        return reference, self._scope.paired(finished, reference) if reference is not None else {}

    def _by(self) -> By:
        by: By = self._view.by.value()  # type: ignore[assignment] # those that are offered
        return by

    def _key(self) -> Key | None:
        reference, runs = self._compared()
        self._view.offer(costs=bool(costs_of(list(runs.values()))))
        records = [self._runs.record(key) for key in runs]
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
        given = list(runs.values()), name, list(runs).index(reference), data, self._by()
        return computation(tr("Comparing the curves of runs"), show, run_curves, *given)

    @Slot()
    def _mark(self) -> None:
        """Mark the model that is chosen."""
        record, choice = self._runs.shown, self._session.choice
        self._view.mark(record.key if record is not None else None, choice.values, choice.place)
