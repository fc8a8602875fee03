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
from rankstudio.cli.progress_bar import AllRuns, ProgressBar, preparation
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
class RunInProgress:
    """A run in progress. It collects the finished folds, so that they survive an interruption."""

    plan: Plan
    dataset: FoldedDataset
    # training data by fold, shared with other runs
    training_by_fold: dict[int, Any] = field(default_factory=dict)
    study: Study | None = None  # finished units are read from it and written to it
    workers: Workers = ALONE
    all_runs: AllRuns | None = None  # progress of all runs of which this is one
    log: RunListener | None = None  # receives every event
    folds: list[FoldResult] = field(default_factory=list)  # finished folds
    seconds: float = 0.0  # working time

    def result(self) -> RunResult:
        """Return the result of the finished folds."""
        from rankstudio.engine.experiment.runner import collect

        return collect(self.plan, self.dataset, self.folds, self.seconds)


def carry_on(work: RunInProgress, stop: Stop) -> bool:
    """Carry a run out to its end, or until a stop is requested; return whether it was stopped.

    Progress is shown on the terminal. ``work`` is the run; it collects
    the finished folds, and gets the working time.
    """
    began = time.perf_counter()

    # A log must not contain measures of a sealed test part.
    if work.log is not None and work.study is not None:
        work.log.sealed = is_sealed(work.study.seal_marks, work.dataset)
    try:
        # The generator is closed after Ctrl+C, too, so that its threads end.
        with (
            preparation(),
            ProgressBar(total_work=work.all_runs) as progress,
            closing(_run_events(work)) as events,
        ):
            for event in events:
                if isinstance(event, FoldFinished):
                    # Before it is shown, so that no interruption loses it.
                    work.folds.append(event.result)
                if work.log is not None:
                    work.log.follow(event)
                progress.show(event)
                if stop.follow(event):
                    break
            else:  # the loop was not left by `break`: the run has ended by itself
                return False
    except KeyboardInterrupt:
        pass  # the second Ctrl+C; the folds finished so far are results, too
    finally:
        work.seconds = time.perf_counter() - began
    tell(f"Stopped. Completed folds kept: {len(work.folds)}.", file=sys.stderr)
    return True


def _run_events(work: RunInProgress) -> Generator[Event, None, None]:
    """Return the events of a run, on the workers that suit its size.

    With a study, finished units are read from it and written to it; a
    unit is one fold with one combination of parameters. The size of the
    data is the number of values in the largest training part.
    ``work.training_by_fold`` has the training data that earlier runs
    prepared, by fold; the run uses them, and adds its own.
    """
    folds = work.dataset.folds

    # A plan without folds stands for all of them.
    n_units = len(work.plan.folds or folds) * len(work.plan.combinations)
    size = max(fold.train.n_documents * fold.train.n_features for fold in folds)
    executor = work.workers.serve(n_units, size)
    if work.study is None:
        from rankstudio.engine.experiment.runner import run

        return run(
            work.plan,
            work.dataset,
            work.training_by_fold,
            executor=executor,
        )
    from rankstudio.engine.experiment.resume import run_stored

    return run_stored(
        work.plan,
        work.dataset,
        work.study,
        work.training_by_fold,
        executor=executor,
    )


def compare(
    comparison: Comparison,
    data: Sequence[str],
    args: Namespace,
    available_workers: Workers,
) -> bool:
    """Run all plans of a comparison, write and print the tables.

    Return whether the user stopped the comparison. ``data`` are the
    datasets. Impossible runs are left out; if no run is possible, the
    error of the last one is raised. Finished units are kept in a study.
    Results of other runs are replaced only with ``--force``.
    """
    from rankstudio.cli.output.comparison_tables import tables_as_text, write_tables

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

    # Paired tests of the runs against the reference of the comparison.
    tested = tests_of(comparison, outcome.results)
    if out is not None and outcome.results:
        write_tables(comparison, outcome.results, out, tested)
    tell(tables_as_text(comparison, outcome.results, tested, args.json))
    return outcome.stopped


@dataclass(frozen=True, eq=False)
class ComparisonOutcome:
    """The finished runs of a comparison.

    Attributes
    ----------
    results : list of RunResult
        The finished runs.
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

    A run that is impossible, because of its data, its parameters or a
    missing library, is left out with a note, and the other runs go on.
    Units that the study has are not computed again.

    Parameters
    ----------
    comparison : Comparison
        The plans and the protocol.
    data : sequence of str
        Data files or folders.
    study : Path or None
        Study that keeps finished units.
    available_workers : Workers
        The processes or threads that compute.
    out : Path, optional
        Folder in which each run gets a folder of its own.
    store : LogStore, optional
        Where runs are logged.

    Raises
    ------
    RankStudioError
        The error of the last run that was left out, if no run was possible.
    """
    # The number of runs: each plan of the comparison on each dataset.
    total = AllRuns(sum(len(comparison.plans(dataset)) for dataset in data))
    with study_at(study) as opened_study, stopping() as stop:
        running = _Running(
            comparison=comparison,
            out=out,
            study=opened_study,
            stop=stop,
            all_runs=total,
            workers=available_workers,
            store=store,
        )

        # `any` ends at the first dataset at which the user stopped.
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
    all_runs: AllRuns  # progress of all runs together
    workers: Workers
    store: LogStore | None  # where runs are logged
    results: list[RunResult] = field(default_factory=list)  # of the finished runs
    left_out: RankStudioError | None = None  # error of the last run that was left out

    def run_on(self, source: str) -> bool:
        """Run all plans on one dataset, a file or folder; return whether the user stopped it."""
        # Plans with the same judge (in their columns) and protocol
        # share the data, which are divided and prepared only once.
        plan_groups = groupby(
            self.comparison.plans(source),
            key=lambda plan: (plan.protocol, plan.columns),
        )
        return any(self._run_plans(list(plans)) for _, plans in plan_groups)

    def _run_plans(self, plans: Sequence[Plan]) -> bool:
        """Run plans that share their data; return whether the user stopped.

        Runs that are impossible on the data are left out, with a note.
        """
        from rankstudio.engine.experiment.runner import open_data, usual_choices

        # Data that cannot be opened leave out all of their plans.
        try:
            dataset = open_data(plans[0])

            # Called for its error: there may be no part to compare runs on.
            check_measured(plans[0], dataset)
        except DataError as error:
            self._leave_out(error, len(plans))
            return False

        # Training data that a run prepares are used by the runs after it.
        training_by_fold: dict[int, Any] = {}
        for plan in plans:
            if self.stop.asked:
                return True
            tell(
                f"{self.all_runs}: {plan.title} on {dataset.name}",
                file=sys.stderr,
                flush=True,
            )

            # Choices that the comparison does not set depend on the data.
            completed_plan = usual_choices(plan, dataset, self.comparison.protocol)

            # A plan that does not fit the data is left out alone.
            try:
                with logged(self.store, dataset.name) as log:
                    work = RunInProgress(
                        plan=completed_plan,
                        dataset=dataset,
                        training_by_fold=training_by_fold,
                        study=self.study,
                        workers=self.workers,
                        all_runs=self.all_runs,
                        log=log,
                    )
                    stopped = carry_on(work, self.stop)
            except (
                PlanError,
                ParameterError,
                MissingExtraError,
                DatasetError,
            ) as error:
                self._leave_out(error, 1)
                continue

            # Only a complete run has a place in the tables.
            result = work.result()
            if log is not None:
                log.finish(result, stopped=stopped)
            if result.complete:
                self._keep(result)
            if stopped:
                return True
        return False

    def _leave_out(self, error: RankStudioError, runs: int) -> None:
        """Leave out a number of runs because of an error, and print it."""
        tell(f"Left out: {error}", file=sys.stderr)
        self.left_out = error
        self.all_runs.pass_over(runs)

    def _keep(self, result: RunResult) -> None:
        """Add a finished run to the results.

        If results go to a folder, also write the run and the tables of
        the comparison so far.
        """
        from rankstudio.cli.output.comparison_tables import write_tables

        self.results.append(result)
        if self.out is not None:
            write_results(
                result, self.out / f"{result.data_name}-{folder_name(result.plan)}"
            )
            write_tables(self.comparison, self.results, self.out)
