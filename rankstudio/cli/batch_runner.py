"""A comparison in the terminal: many runs one after the other, and the tables that they make."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.interrupts import Stop, stopping
from rankstudio.cli.mlflow_log import logged
from rankstudio.cli.progress_bar import Whole
from rankstudio.cli.replacement import refuse_other_comparison
from rankstudio.cli.run_loop import Going, carry_on
from rankstudio.cli.study_file_option import study_at
from rankstudio.engine.analysis.batch import Comparison, check_measured, folder_name, tests_of
from rankstudio.engine.errors import (
    DataError,
    DatasetError,
    MissingExtraError,
    ParameterError,
    PlanError,
    RankStudioError,
)
from rankstudio.engine.experiment.execution.workers import ALONE, Workers

if TYPE_CHECKING:
    from rankstudio.engine.experiment.results.results import RunResult
    from rankstudio.engine.experiment.storage.study import Study


def compare(
    comparison: Comparison,
    data: Sequence[str],
    out: Path | None,
    as_json: bool,
    study: Path | None = None,
    at_hand: Workers = ALONE,
    force: bool = False,
    store: str | None = None,
) -> bool:
    """Run all plans of a comparison, write and print the tables; tell whether it was stopped.

    What cannot be run, for its data, its parameters or for want of a library, is named, and the others go
    on. Finished units are kept in the study, or in one beside the results; what is there already is not
    computed again. Results of others are replaced only if forced.

    Raises
    ------
    RankStudioError
        What kept the last one from being run, where none could be.
    """
    from rankstudio.cli.output.batch_report import shown, write
    from rankstudio.engine.support.files import make_folder

    if out is not None:
        make_folder(out)
        refuse_other_comparison(comparison, data, out, force)
    results: list[RunResult] = []
    whole = Whole(sum(len(comparison.plans(place)) for place in data))
    with study_at(study, out) as kept, stopping() as stop:
        running = _Running(comparison, out, results, kept, stop, whole, at_hand, store)
        stopped = any(running.on(place) for place in data)
    if running.left_out is not None and not results and not stopped:
        raise running.left_out
    tested = tests_of(comparison, results)
    if out is not None and results:
        write(comparison, results, out, tested)
    print(shown(comparison, results, tested, as_json))
    return stopped


@dataclass
class _Running:
    """A comparison on its way."""

    comparison: Comparison
    out: Path | None  # the folder that every run gets one of its own in
    results: list[RunResult]  # of the finished runs; added to
    study: Study | None
    stop: Stop
    whole: Whole  # how far all runs together are
    workers: Workers
    store: str | None  # that runs are logged to
    left_out: RankStudioError | None = None  # why what was left out last could not be run

    def on(self, place: str) -> bool:
        """Run all plans on one dataset; tell whether it was stopped."""
        from rankstudio.engine.experiment.runner import open_data, usual_choices

        plans = self.comparison.plans(place)
        try:
            dataset = open_data(plans[0])
            check_measured(plans[0], dataset)
        except DataError as error:
            self._leave_out(error, len(plans))
            return False
        grouped: dict[int, Any] = {}
        for plan in plans:
            if self.stop.asked:
                return True
            print(f"{self.whole}: {plan.title} on {dataset.name}", file=sys.stderr, flush=True)
            fitting = usual_choices(plan, dataset, self.comparison.protocol)
            going = Going(fitting, dataset, grouped, self.study, whole=self.whole, workers=self.workers)
            try:
                with logged(self.store, dataset.name) as log:
                    going = replace(going, log=log)
                    stopped = carry_on(going, self.stop)
            except (PlanError, ParameterError, MissingExtraError, DatasetError) as error:
                self._leave_out(error, 1)
                continue
            result = going.result()
            if log is not None:
                log.finish(result, stopped=stopped)
            if result.complete:
                self._keep(result)
            if stopped:
                return True
        return False

    def _leave_out(self, error: RankStudioError, runs: int) -> None:
        print(f"Left out: {error}", file=sys.stderr)
        self.left_out = error
        self.whole.pass_over(runs)

    def _keep(self, result: RunResult) -> None:
        """Add a finished run to the table, and write what there is."""
        from rankstudio.cli.output.batch_report import write
        from rankstudio.engine.experiment.reports import write_results

        self.results.append(result)
        if self.out is not None:
            write_results(result, self.out / f"{result.data_name}-{folder_name(result.plan)}")
            write(self.comparison, self.results, self.out)
