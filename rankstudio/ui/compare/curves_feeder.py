"""Feeds the curves of the ticked runs, when they are seen and something of them is another."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.analysis.run_curves import By, RunCurve, costs_of, run_curves
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.compare.comparison_feeder import ComparisonFeeder
from rankstudio.ui.compare.comparison_scope import ComparisonScope
from rankstudio.ui.compare.curves_view import CurvesView
from rankstudio.ui.language import tr


class CurvesFeeder(ComparisonFeeder):
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
        super().__init__(scope, worker, slot="run curves", parent=parent)
        self._view = view
        view.by.chosen.connect(self.update)
        for signal in (self._runs.removed, self._runs.labelled, self._runs.cleared):
            signal.connect(self.update)
        self._session.choiceChanged.connect(self._mark)

    @Slot()
    def update(self) -> None:
        """Show the curves of the runs that are ticked now."""
        if not self._view.isVisible():
            return
        finished, name = self._scope.finished(), self._session.measure
        reference = self._scope.reference(finished)
        runs = self._scope.paired(finished, reference) if reference is not None else {}
        data = [self._runs.record(key).dataset for key in runs]
        self._view.offer(costs=bool(costs_of(list(runs.values()))))
        by: By = self._view.by.value()  # type: ignore[assignment] # those that are offered
        titles = tuple(self._runs.record(key).title for key in runs)
        measured = tuple((key, id(run)) for key, run in runs.items())
        state = (name, reference, by, measured, titles, tuple(map(id, data)))
        if state == self._shown:
            self._mark()
            return
        self._shown = state
        self._abandon()
        plans = {key: (self._runs.record(key).title, run.plan) for key, run in runs.items()}

        def show(found: tuple[RunCurve | None, ...]) -> None:
            self._view.show_curves(plans, found, reference, name)
            self._mark()

        if reference is None or reference not in runs:  # nor is it where nothing was measured
            show(())
            return
        results, position = list(runs.values()), list(runs).index(reference)
        self._submit(
            tr("Comparing the curves of runs"), lambda: run_curves(results, name, position, data, by), show
        )

    @Slot()
    def _mark(self) -> None:
        """Mark the model that is chosen."""
        record, choice = self._runs.shown, self._session.choice
        self._view.mark(record.key if record is not None else None, choice.values, choice.place)
