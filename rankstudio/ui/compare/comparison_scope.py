"""Which finished runs are compared just now, and with which of them."""

from __future__ import annotations

from PySide6.QtCore import SignalInstance

from rankstudio.engine.analysis.significance import best_run, why_unpaired
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.ui.model.measured_runs import MeasuredRuns
from rankstudio.ui.model.run_marks import RunMarks
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.session import Session


class ComparisonScope:
    """The ticked runs that are done, as all views of the Compare page see them.

    Parameters
    ----------
    session, runs, measured, marks
    """

    def __init__(self, session: Session, runs: Runs, measured: MeasuredRuns, marks: RunMarks) -> None:
        self.session, self.runs, self.measured, self.marks = session, runs, measured, marks

    @property
    def changes(self) -> tuple[SignalInstance, ...]:
        """When other runs are compared, or they are compared by something else."""
        runs, session = self.runs, self.session
        of_runs = runs.added, runs.ended, runs.shownChanged
        of_measures = session.measureChanged, session.datasetChanged
        return (*of_runs, *of_measures, self.marks.changed, self.measured.changed)

    def finished(self) -> dict[int, RunResult]:
        """Return the ticked runs that are done, by their numbers, as they are measured now."""
        found = {record.key: self.measured.view(record).result for record in self.runs.records}
        done = {key: result for key, result in found.items() if result is not None and result.complete}
        return {key: result for key, result in done.items() if self.marks.is_ticked(key)}

    def anchor(self, runs: dict[int, RunResult]) -> int | None:
        """Return the run whose data and folds are meant: the reference, the one shown, or the last."""
        shown = self.runs.shown
        meant = (self.marks.reference, shown.key if shown is not None else None)
        return next((key for key in meant if key in runs), next(reversed(runs), None))

    def paired(self, runs: dict[int, RunResult], anchor: int) -> dict[int, RunResult]:
        """Return the runs whose measures are of the same queries as those of one of them."""
        name = self.session.measure
        return {key: run for key, run in runs.items() if not why_unpaired(run, runs[anchor], name)}

    def reference(self, runs: dict[int, RunResult]) -> int | None:
        """Return the run to compare with: the one asked for, else the best of those on the same queries."""
        anchor = self.anchor(runs)
        if anchor is None or anchor == self.marks.reference:
            return anchor
        paired = self.paired(runs, anchor)
        best = best_run(list(paired.values()), self.session.measure)
        return next((key for key, run in paired.items() if run is best), anchor)
