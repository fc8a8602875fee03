"""The loop of runs in the terminal, for one run or a comparison.

Finished folds are kept after a stop.
"""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.interrupts import Stop, stopping
from rankstudio.cli.progress_bar import ProgressBar, Whole, preparation
from rankstudio.cli.replacement import refuse_other_comparison
from rankstudio.cli.run_log_option import LogStore, log_store, logged
from rankstudio.cli.study_file_option import study_at, study_path
from rankstudio.cli.terminal import tell
from rankstudio.engine.analysis.comparisons.batch import (
    Comparison,
    check_measured,
    folder_name,
    tests_of,
)
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import (
    DataError,
    DatasetError,
    MissingExtraError,
    ParameterError,
    PlanError,
    RankStudioError,
)
from rankstudio.engine.experiment.execution.workers import ALONE, Workers
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.reports import write_results
from rankstudio.engine.experiment.results.events import Event, FoldFinished
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.experiment.storage.study_contents import is_sealed
from rankstudio.engine.plugins.run_logs import RunListener
from rankstudio.engine.support.files import make_folder

if TYPE_CHECKING:
    from rankstudio.engine.experiment.storage.study import Study


@dataclass
class Going:
    """A run in progress, with the folds that are finished, so that they survive an interruption."""

    plan: Plan
    dataset: FoldedDataset
    # training data by fold, shared with other runs
    grouped: dict[int, Any] = field(default_factory=dict)
    study: Study | None = None  # finished units are read from it and written to it
    workers: Workers = ALONE
    whole: Whole | None = None  # progress of all runs of which this is one
    log: RunListener | None = None  # receives every event
    folds: list[FoldResult] = field(default_factory=list)  # finished folds
    seconds: float = 0.0  # working time

    def result(self) -> RunResult:
        """Return the result of the finished folds."""
        from rankstudio.engine.experiment.runner import collect

        return collect(self.plan, self.dataset, self.folds, self.seconds)


def carry_on(going: Going, stop: Stop) -> bool:
    """Run to the end or until a stop is requested, and show progress; return whether the run was stopped.

    ``going`` collects the finished folds.
    """
    began = time.perf_counter()
    # a log must not contain measures of a sealed test part
    if going.log is not None and going.study is not None:
        going.log.sealed = is_sealed(going.study.seal_marks, going.dataset)
    try:
        # The generator is closed after Ctrl+C, too, so that its threads end.
        with (
            preparation(),
            ProgressBar(total_work=going.whole) as progress,
            closing(_run_events(going)) as events,
        ):
            for event in events:
                if isinstance(event, FoldFinished):
                    # before it is shown, so that no interruption loses it
                    going.folds.append(event.result)
                if going.log is not None:
                    going.log.follow(event)
                progress.show(event)
                if stop.follow(event):
                    break
            else:  # no break: the run has ended by itself
                return False
    except KeyboardInterrupt:
        pass  # the second Ctrl+C: the finished folds are kept
    finally:
        going.seconds = time.perf_counter() - began
    tell(f"Stopped. Completed folds kept: {len(going.folds)}.", file=sys.stderr)
    return True


def _run_events(going: Going) -> Generator[Event, None, None]:
    """Return the events of a run, on the workers that suit its size, and with its study if it has one.

    A unit is one fold with one combination of parameters. The size of the data is the
    number of values in the largest training part. ``going.grouped`` has training data
    that earlier runs prepared, by fold; the run takes them from there, and adds its own.
    """
    folds = going.dataset.folds
    n_units = len(going.plan.folds or folds) * len(going.plan.combinations)
    size = max(fold.train.n_documents * fold.train.n_features for fold in folds)
    executor = going.workers.serve(n_units, size)
    if going.study is None:
        from rankstudio.engine.experiment.runner import run

        return run(going.plan, going.dataset, going.grouped, executor=executor)
    from rankstudio.engine.experiment.resume import run_stored

    return run_stored(
        going.plan, going.dataset, going.study, going.grouped, executor=executor
    )


def compare(
    comparison: Comparison,
    data: Sequence[str],
    args: Namespace,
    available_workers: Workers,
) -> bool:
    """Run all plans of a comparison, write and print the tables; return whether the user stopped it.

    Impossible runs are left out; if no run is possible, the error of the last one is
    raised. Finished units are kept in a study. Results of other runs are replaced only
    with ``--force``.
    """
    from rankstudio.cli.output.comparison_tables import shown, write

    # Refuse an output folder with other contents before the runs.
    out = args.out
    store = log_store(args.log)
    if out is not None:
        make_folder(out)
        refuse_other_comparison(comparison, data, out, args.force)
    # The study is by default beside the results.
    study = study_path(args.study, out)
    outcome = run_comparison(
        comparison, data, study, available_workers, out=out, store=store
    )
    tested = tests_of(comparison, outcome.results)
    if out is not None and outcome.results:
        write(comparison, outcome.results, out, tested)
    tell(shown(comparison, outcome.results, tested, args.json))
    return outcome.stopped


@dataclass(frozen=True, eq=False)
class ComparisonOutcome:
    """The finished runs of a comparison.

    Attributes
    ----------
    results : list of RunResult
    stopped : bool
        Whether the user stopped the comparison.
    """

    results: list[RunResult]
    stopped: bool


def run_comparison(
    comparison: Comparison,
    data: Sequence[str],
    study: Path | None,
    available_workers: Workers,
    *,
    out: Path | None = None,
    store: LogStore | None = None,
) -> ComparisonOutcome:
    """Run all plans of a comparison on each dataset, until the user stops.

    A run that is impossible, because of its data, its parameters or a missing library,
    is left out with a note, and the other runs go on. Units that the study has are not
    computed again.

    Parameters
    ----------
    comparison : Comparison
    data : sequence of str
        Data files or folders.
    study : Path or None
        Study that keeps finished units.
    available_workers : Workers
    out : Path, optional
        Folder in which each run gets a folder of its own.
    store : LogStore, optional
        Where runs are logged.

    Raises
    ------
    RankStudioError
        The error of the last run that was left out, if no run was possible.
    """
    # the number of runs: each plan of the comparison on each dataset
    total = Whole(sum(len(comparison.plans(dataset)) for dataset in data))
    with study_at(study) as opened_study, stopping() as stop:
        running = _Running(
            comparison=comparison,
            out=out,
            study=opened_study,
            stop=stop,
            whole=total,
            workers=available_workers,
            store=store,
        )
        stopped = any(running.run_on(dataset) for dataset in data)
    # An error that left out a dataset is raised only if no other dataset has results.
    if running.left_out is not None and not running.results and not stopped:
        raise running.left_out
    return ComparisonOutcome(running.results, stopped)


@dataclass
class _Running:
    """A comparison in progress."""

    comparison: Comparison
    out: Path | None  # folder in which each run gets a folder of its own
    study: Study | None
    stop: Stop
    whole: Whole  # progress of all runs together
    workers: Workers
    store: LogStore | None  # where runs are logged
    results: list[RunResult] = field(default_factory=list)  # of the finished runs
    left_out: RankStudioError | None = None  # error of the last run that was left out

    def run_on(self, source: str) -> bool:
        """Run all plans on one dataset; return whether the user stopped it."""
        # Plans with the same judge (in their columns) and protocol share the data, which
        # are divided and prepared only once.
        plan_groups = groupby(
            self.comparison.plans(source),
            key=lambda plan: (plan.protocol, plan.columns),
        )
        return any(self._run_plans(list(plans)) for _, plans in plan_groups)

    def _run_plans(self, plans: Sequence[Plan]) -> bool:
        """Run plans that share their data, without impossible runs; return whether the user stopped it."""
        from rankstudio.engine.experiment.runner import open_data, usual_choices

        # Data that cannot be opened leave out all of their plans.
        try:
            dataset = open_data(plans[0])
            check_measured(plans[0], dataset)  # called for its errors only
        except DataError as error:
            self._leave_out(error, len(plans))
            return False

        # Plans share the cached training parts.
        grouped: dict[int, Any] = {}
        for plan in plans:
            if self.stop.asked:
                return True
            tell(
                f"{self.whole}: {plan.title} on {dataset.name}",
                file=sys.stderr,
                flush=True,
            )
            completed_plan = usual_choices(plan, dataset, self.comparison.protocol)
            # A plan that does not fit the data is left out alone.
            try:
                with logged(self.store, dataset.name) as log:
                    going = Going(
                        plan=completed_plan,
                        dataset=dataset,
                        grouped=grouped,
                        study=self.study,
                        workers=self.workers,
                        whole=self.whole,
                        log=log,
                    )
                    stopped = carry_on(going, self.stop)
            except (
                PlanError,
                ParameterError,
                MissingExtraError,
                DatasetError,
            ) as error:
                self._leave_out(error, 1)
                continue
            # Only a complete run has a place in the tables.
            result = going.result()
            if log is not None:
                log.finish(result, stopped=stopped)
            if result.complete:
                self._keep(result)
            if stopped:
                return True
        return False

    def _leave_out(self, error: RankStudioError, runs: int) -> None:
        tell(f"Left out: {error}", file=sys.stderr)
        self.left_out = error
        self.whole.pass_over(runs)

    def _keep(self, result: RunResult) -> None:
        """Add a finished run to the table, and write its results and the table so far, if there is a folder."""
        from rankstudio.cli.output.comparison_tables import write

        self.results.append(result)
        if self.out is not None:
            write_results(
                result, self.out / f"{result.data_name}-{folder_name(result.plan)}"
            )
            write(self.comparison, self.results, self.out)
