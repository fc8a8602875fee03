"""Ticked runs held against the reference by their queries, one test after the other on the task worker."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from rankstudio.engine.analysis.significance import ComparedRun, compare_with, compared_runs
from rankstudio.engine.statistics.paired import PairedComparison
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.compare.comparison_scope import ComparisonScope
from rankstudio.ui.language import tr
from rankstudio.ui.page.controller import Controller

Pair = tuple[int, int, tuple[object, ...]]  # two runs by their numbers, and how they are measured


class PairedTests(Controller):
    """Has the tests computed while somebody sees them, and keeps what was found.

    Parameters
    ----------
    scope : ComparisonScope
        Which runs are compared, by which measure.
    worker : Worker
        Comparisons are jobs of their own, so that a path that the slider asks for waits for one at most.
    panel : QWidget
        Where they are shown.

    Attributes
    ----------
    rows : list of ComparedRun
        The reference first; empty where nothing is done.
    """

    changed = Signal()

    def __init__(
        self, scope: ComparisonScope, worker: Worker, panel: QWidget, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._scope, self._session, self._runs = scope, scope.session, scope.runs
        self.rows: list[ComparedRun] = []
        self._found: dict[Pair, PairedComparison] = {}
        self._demand = OnDemand(
            worker, self._key, self._test, slot="paired tests", panel=panel, on=scope.changes, parent=self
        )
        self._demand.failed.connect(self.failed)
        self._runs.removed.connect(self._forget)
        self._runs.cleared.connect(self._forget_all)

    @property
    def titles(self) -> dict[int, str]:
        """The runs that are compared, by number and method."""
        return {key: run.plan.title for key, run in self._scope.finished().items()}

    @Slot()
    def update(self) -> None:
        """Test what is ticked now."""
        self._demand.update()

    def _key(self) -> Key | None:
        runs = self._scope.finished()
        measured = tuple((key, id(run)) for key, run in runs.items())
        return self._session.measure, self._scope.reference(runs), measured, len(self._found)

    def _test(self) -> Computation | None:
        """Tell what is known, and have the next test computed."""
        runs, name = self._scope.finished(), self._session.measure
        reference = self._scope.reference(runs)
        if reference is None:
            self.rows = []
            self.changed.emit()
            return None
        session, rules = self._session, runs[reference].plan.convention
        how = (name, session.chooses, session.sealed, rules)
        pairs = {key: (key, reference, (*how, run.plan.convention)) for key, run in runs.items()}
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
