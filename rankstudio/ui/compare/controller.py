"""The Compare page's controller: keeps runs and views up to date; a click inspects a model there."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.storage.study_contents import RunLabel
from rankstudio.ui.compare.curves_view import CurvesView
from rankstudio.ui.compare.feeders import (
    ComparisonScope,
    CurvesFeeder,
    PairedTests,
    ViewFeeder,
)
from rankstudio.ui.compare.groups import on_every_fold
from rankstudio.ui.compare.panel import ResultsPanel
from rankstudio.ui.compare.paper_table import TableController
from rankstudio.ui.compare.runs_panel import RunRow, RunsPanel, run_row
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import choice_of, look_at
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.page.page_controller import PageController
from rankstudio.ui.process.turns import PacedUpdate
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import CoveredNumber

_ROWS_AT_ONCE = 40  # each takes up to a millisecond


class CompareController(PageController):
    """Controller of the Compare page: fills the table of runs and the views of the ticked runs.

    Progress of runs is shown when :meth:`update` is called, not at every event.

    Parameters
    ----------
    theme : Theme
    models : Models

    Attributes
    ----------
    views : ResultsPanel
        The panel with views of the runs' results.
    curves : CurvesView
        The panel with a curve for each run.
    panel : RunsPanel
        The table of runs.
    table : TableController
        Offers the runs as the table of a paper.
    """

    removalAsked = Signal(object)
    """The user asks to remove runs (tuple of RunRecord)."""

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        session = models.session
        runs = models.runs
        measured = models.measured
        marks = models.marks
        self._session = session
        self._runs = runs
        self._measured = measured
        self._marks = marks
        # numbers of the runs whose rows are out of date
        self._changed_keys: set[int] = set()
        self.views = ResultsPanel(theme)
        self.panel = RunsPanel(theme)
        self.curves = CurvesView(theme)
        self.panels = self.panel, self.curves, self.views
        scope = self._scope = ComparisonScope(models)
        self.table = TableController(scope, self.panel, self)
        self.panel.tools.insertWidget(self.panel.tools.count() - 1, self.table.button)
        self._covered = CoveredNumber()
        self.panel.add_link(self._covered)
        self._tests = PairedTests(scope, self.panel, self)
        self._tests.changed.connect(self._show_tests)
        session.measureChanged.connect(self._show_tests)
        self._feeders = (
            self._tests,
            ViewFeeder(scope, self._tests, self.views, self),
            CurvesFeeder(scope, self.curves, self),
        )
        for feeder in self._feeders:
            feeder.failed.connect(self.failed)
        for view in (self.curves, self.views.pareto):
            view.picked.connect(self._inspect)
            view.confirmed.connect(models.current.choose_inspected)
        self.panel.table.pointed.connect(self._point)
        self.panel.ticked.connect(self._tick)
        self.panel.referenceAsked.connect(marks.refer_to)
        marks.changed.connect(self._show_ticks)
        self.views.folds.foldChosen.connect(session.choose_fold)
        self.views.stability.inspected.connect(session.inspectAsked)
        self.panel.selected.connect(self._select)
        self.panel.removed.connect(
            lambda keys: self.removalAsked.emit(tuple(map(runs.record, keys)))
        )
        self.panel.cancelRequested.connect(lambda key: runs.stop(runs.record(key)))
        self.panel.goOnRequested.connect(
            lambda key: self.goOnAsked.emit(runs.record(key))
        )
        # of runs on all folds that are not added yet
        self._labels: list[tuple[Plan, RunLabel]] = []
        self.panel.everyFoldAsked.connect(self._run_on_every_fold)
        runs.added.connect(self._name)
        for signal in (runs.added, runs.changed, runs.eventNoted, runs.ended):
            signal.connect(self._note)
        self._paced_update = PacedUpdate(self._show_and_mark, self)
        for signal in (runs.added, runs.ended):
            signal.connect(self._paced_update.ask)
        # Removed runs disappear at once, so that they cannot be chosen in the table.
        for signal in (runs.removed, runs.cleared):
            signal.connect(self._show)
        for signal in (session.choiceChanged, runs.shownChanged):
            signal.connect(self._note_choice)
        session.datasetChanged.connect(self._show)
        runs.labelled.connect(self._show)
        runs.shownChanged.connect(self._mark)
        session.measureChanged.connect(lambda: self._show_measured(runs.records))
        measured.changed.connect(self._show_measured)

    @Slot()
    def update(self) -> None:
        """Update the table of runs and the visible views after the changes since the last call."""
        if self._changed_keys:
            self._show_and_mark()
        for feeder in self._feeders:
            feeder.update()

    @Slot(object)
    def _note(self, record: RunRecord) -> None:
        self._changed_keys.add(record.key)

    @Slot(object)
    def _show_measured(self, records: tuple[RunRecord, ...]) -> None:
        self._changed_keys.update(record.key for record in records)
        self._paced_update.ask()

    @Slot()
    def _show_and_mark(self) -> None:
        self._show()
        self._mark()

    @Slot()
    def _show(self) -> None:
        """List the runs, with new rows for those that have changed.

        Among hundreds of new runs, as in a study that has just been
        opened, some get their rows now and the others in later turns of
        the event loop. Rows that are out of date are never shown beside
        those that are not.
        """
        rows_by_key = {row.key: row for row in self.panel.rows()}
        records = self._runs.records
        new = [record for record in records if record.key not in rows_by_key]
        changed = [
            record
            for record in records
            if record.key in self._changed_keys and record.key in rows_by_key
        ]
        rows_by_key |= {
            record.key: self._row(record) for record in [*changed, *new[:_ROWS_AT_ONCE]]
        }
        self._changed_keys.clear()
        # The other new rows follow in a later call of this method.
        if len(new) > _ROWS_AT_ONCE:
            self._paced_update.ask_later()
        self._show_ticks()
        rows = [
            rows_by_key[record.key] for record in records if record.key in rows_by_key
        ]
        # `_covered` is a link that shows the results of the sealed test
        # part of the open data. It names the data only if several
        # datasets are sealed.
        datasets = {record.key: record.dataset for record in self._runs.records}
        measured = [row for row in rows if row.summary.means]
        is_on_open_data = any(
            datasets[row.key] is self._session.dataset for row in measured
        )
        self._covered.setVisible(self._session.sealed and is_on_open_data)
        # Many runs share few datasets. Whether a dataset is sealed is
        # computed only once; the key of a dataset is its id.
        datasets_by_id = {id(dataset): dataset for dataset in datasets.values()}
        is_sealed = {
            data_id: self._session.is_sealed(dataset)
            for data_id, dataset in datasets_by_id.items()
        }
        # name of the sealed dataset, by the number of the run
        sealed = {
            row.key: datasets[row.key].name
            for row in measured
            if is_sealed[id(datasets[row.key])]
        }
        dataset = self._session.dataset
        self._covered.name_data(
            dataset.name if dataset is not None and len({*sealed.values()}) > 1 else ""
        )
        self.panel.show_runs(rows, self._scope.groups(), sealed=sealed)

    def _row(self, record: RunRecord) -> RunRow:
        choice = choice_of(self._session, self._runs, record)
        return run_row(record, self._measured.view(record), choice)

    @Slot()
    def _note_choice(self) -> None:
        """Make the row of the shown run again: it names the model that the user chose by hand."""
        if self._runs.shown is not None:
            self._changed_keys.add(self._runs.shown.key)
            if self.panel.isVisible():
                self._show()

    @Slot()
    def _show_ticks(self) -> None:
        self.panel.show_ticks(
            {r.key for r in self._runs.records if self._marks.is_ticked(r.key)}
        )

    @Slot()
    def _show_tests(self) -> None:
        tested = [row for _, rows in self._tests.groups for row in rows]
        self.panel.show_tests(tested, self._session.measure)

    @Slot(int)
    def _tick(self, key: int) -> None:
        self._marks.tick(key, not self._marks.is_ticked(key))

    @Slot()
    def _mark(self) -> None:
        self.panel.mark(self._runs.shown.key if self._runs.shown else None)

    @Slot(object)
    def _point(self, row: RunRow | None) -> None:
        """Highlight the curve of the run under the mouse, or without one the curve of the shown run."""
        shown_key = self._runs.shown.key if self._runs.shown is not None else None
        self.curves.plot.emphasise(row.key if row is not None else shown_key)

    @Slot(object)
    def _run_on_every_fold(self, keys: tuple[int, ...]) -> None:
        """Run the plans of some runs again on all folds; ``keys`` are the numbers of these runs.

        The old runs are on some folds only. Once the new runs are
        listed, they get the names and tags of the old runs, but not the
        notes.
        """
        plans: list[Plan] = []
        for record in map(self._runs.record, keys):
            plan = on_every_fold(record.plan)
            if plan not in plans:
                plans.append(plan)
                # `_name` gives the label to the new run.
                self._labels.append(
                    (plan, replace(record.label, note="", hidden=False))
                )
        self.runsAsked.emit(tuple(plans))

    @Slot(object)
    def _name(self, record: RunRecord) -> None:
        """Give a run on all folds the name of the run on some folds that it repeats.

        ``record`` is the new run on all folds. Nothing happens if the
        user has not asked for it here.
        """
        labels = [label for plan, label in self._labels if plan.agrees(record.plan)]
        if labels:
            self._labels = [
                (plan, label)
                for plan, label in self._labels
                if not plan.agrees(record.plan)
            ]
            record.label = labels[0]
            self._runs.labelled.emit(record)

    @Slot(int)
    def _select(self, key: int) -> None:
        look_at(self._session, self._runs, self._runs.record(key))

    @Slot(int, object, int)
    def _inspect(self, key: int, values: tuple[float, ...], step: int) -> None:
        """Show a run and inspect a model of it, after a click on its curve.

        ``key`` is the number of the run. The model is named by
        ``values``, its values of the parameters of which the plan tries
        several, and by ``step``, its number of features or its round.
        """
        if self._runs.shown is None or self._runs.shown.key != key:
            self._select(key)
        self._session.inspect(values, step)
