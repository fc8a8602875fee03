"""Studies in the terminal: the study that a run writes, and the choice of runs of a study."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.replacement import recorded_files
from rankstudio.cli.terminal import tell
from rankstudio.engine.errors import ParameterError, PlanError, StoreError

if TYPE_CHECKING:
    from rankstudio.engine.analysis.reported_runs import ReportSource, RunChoice
    from rankstudio.engine.data.dataset import FoldedDataset
    from rankstudio.engine.experiment.plan.plan import Plan
    from rankstudio.engine.experiment.results.results import FoldResult, RunResult
    from rankstudio.engine.experiment.storage.study import RunKey, RunSummary, Study

_ALL_DATASETS = "all"
NAME = "study.rankstudio"
"""Name of the study that is written into the folder of the results."""


def study_path(path: Path | None, out: Path | None) -> Path | None:
    """Return the path of a run's study: `path`, or else in the folder of the results.

    ``out`` is that folder. The result is None if both are None.
    """
    if path is not None:
        return path
    return out / NAME if out is not None else None


@contextmanager
def study_at(path: Path | None) -> Iterator[Study | None]:
    """Provide the study to which a run is written during a ``with`` block; None without a path.

    A study is a file that stores runs. The study at ``path`` is created
    if it does not exist, and closed at the end.

    Raises
    ------
    StoreError
        If the file is no study, or if another process has it open.
    """
    from rankstudio.engine.experiment.storage.study import Study

    if path is None:
        yield None
        return
    with Study.open(path) if path.exists() else Study.create(path) as study:
        yield study


@contextmanager
def reading(path: Path) -> Iterator[tuple[Study, Sequence[RunSummary]]]:
    """Provide a study to read from, and its runs, during a ``with`` block.

    ``path`` is the file of the study. The runs are summaries. Damage to
    the study or its runs is reported by a note.

    Raises
    ------
    StoreError
        If the study cannot be opened.
    """
    from rankstudio.engine.experiment.storage.study import Study

    with Study.open(path, reading=True) as study:
        runs = study.runs()
        _tell_damage(study, runs)
        yield study, runs


def add_run_choice(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose runs of a study.

    The options are --data, the name of the runs' data, and --runs, the
    numbers of the runs.
    """
    parser.add_argument(
        "--data",
        metavar="NAME",
        help=f'only the runs on this dataset, or "{_ALL_DATASETS}" of them; by default on that of the latest '
        "run",
    )
    parser.add_argument(
        "--runs", metavar="NUMBERS", help="only these runs, such as 1,3"
    )


def run_choice(args: argparse.Namespace) -> RunChoice:
    """Return the choice of runs of a study that the options --data and --runs make.

    Raises
    ------
    ParameterError
        If ``--runs`` has no numbers.
    """
    from rankstudio.engine.analysis.reported_runs import RunChoice

    if args.runs is None:
        # "" stands for the data of the last run.
        return RunChoice(args.data or "")
    numbers = [part.strip() for part in args.runs.split(",") if part.strip()]
    if not numbers or not all(
        number.isascii() and number.isdecimal() for number in numbers
    ):
        raise ParameterError("--runs", args.runs, "comma-separated numbers of runs")
    return RunChoice(args.data or "", tuple(map(int, numbers)))


def tell_others(source: ReportSource, description: str) -> None:
    """Print a note if a study has runs on other datasets, which are left out by default.

    ``description`` begins the note: "The figures show". Without
    options, the runs on the data of the last run are used.
    """
    if source.other_datasets:
        tell(
            f"Note: {description} the runs on {source.runs[-1].result.data_name}. For those on "
            f"{', '.join(source.other_datasets)} use --data NAME or --data {_ALL_DATASETS}.",
            file=sys.stderr,
        )


def one_run(
    path: Path, runs: Sequence[RunSummary], number: int | None, option: str
) -> RunSummary:
    """Return the run of a study with a number, counted from 1; for None, the only run.

    ``path`` is the study, and ``option`` names the run; both are for errors.

    Raises
    ------
    PlanError
        If no run has the number, or if there are several runs and no
        number; the text names the option.
    StoreError
        If the study has no run.
    """
    if not runs:
        raise StoreError(f"{path}: the study has no run.")
    if number is None and len(runs) != 1:
        raise PlanError(
            f"{option}: {path} has {len(runs)} runs; expected the number of one, got none."
        )
    if number is not None and not 1 <= number <= len(runs):
        raise PlanError(
            f"{option}: expected a run number from 1 to {len(runs)}, got {number}."
        )
    return runs[0 if number is None else number - 1]


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """A finished run of a study, with its data.

    Attributes
    ----------
    key : RunKey
        Key of the run in the study.
    result : RunResult
        The result that the study stores.
    plan : Plan
        Plan with the current path of the data.
    dataset : FoldedDataset
        Data of the run.
    recorded : list of Path
        Data files that the study records.
    sealed : bool
        Whether the test part of the dataset is sealed.
    """

    key: RunKey
    result: RunResult
    plan: Plan
    dataset: FoldedDataset
    recorded: list[Path]
    sealed: bool

    def fold(self, text: str | None) -> FoldResult:
        """Return the result on the fold whose number ``--fold`` has as its text.

        For None, return the result on the first fold. Raise an error
        for a text that is no number of a fold of the run.
        """
        folds = {fold.fold: fold for fold in self.result.folds}
        number = min(folds) if text is None else whole("--fold", text)
        if number not in folds:
            numbers = ", ".join(map(str, folds))
            raise PlanError(
                f"--fold: expected one of the run's folds, {numbers}; got {number}."
            )
        return folds[number]


def opened_run(path: Path, number: int | None) -> OpenedRun:
    """Return a finished run of a study with its data, by its number; for None, the only run.

    Raises
    ------
    PlanError
        If there is no such run, or it is not finished, or its data have changed.
    """
    from rankstudio.engine.experiment.storage.study_contents import is_sealed
    from rankstudio.engine.experiment.stored_run import run_with_data

    with reading(path) as (study, runs):
        summary = one_run(path, runs, number, "--run")
        if not summary.finished or summary.damage:
            raise PlanError(f"--run: run {summary.key.id} of {path} is not finished.")
        recorded = recorded_files(study)

        # A user may have sealed the test part of the data, so that it is not shown.
        sealed = is_sealed(study.seal_marks, study.data(summary.key))
        result, plan, dataset = run_with_data(study, summary.key)
    return OpenedRun(
        key=summary.key,
        result=result,
        plan=plan,
        dataset=dataset,
        recorded=recorded,
        sealed=sealed,
    )


def whole(option: str, value: str) -> int:
    """Return the typed value of an option as a whole number.

    Raise a ParameterError, which names the option, for any other text.
    """
    try:
        return int(value)
    except ValueError:
        raise ParameterError(option, value, "a whole number") from None


def add_run_number(parser: Any, option: str) -> None:
    """Add the option that names a run of a study by its number.

    ``option`` is the option's name, such as "--run".
    """
    parser.add_argument(
        option,
        type=int,
        dest="number",
        metavar="N",
        help="number of the run, as listed by rankstudio studies; needed only if the study has several",
    )


def _tell_damage(study: Study, runs: Sequence[RunSummary]) -> None:
    """Print the damage of a study and of its runs."""
    for sentence in (*study.damage(), *(run.damage for run in runs if run.damage)):
        tell(f"Note: {sentence}", file=sys.stderr)


def plans_to_go_on_with(study: Study) -> list[Plan]:
    """Return the plans of the unfinished or damaged runs of a study.

    Without such runs, return the plan of the last run. A run that
    another version of RankStudio started cannot be resumed: it begins
    anew, and a note is printed.

    Raises
    ------
    StoreError
        If the study has no run.
    """
    from rankstudio.engine.experiment.versions import versions

    runs = study.runs()
    _tell_damage(study, runs)
    if not runs:
        raise StoreError(f"{study.path}: the study has no run to resume.")

    # The last run, if all are finished and undamaged.
    chosen_runs = [run for run in runs if not run.finished or run.damage] or runs[-1:]
    for run in chosen_runs:
        # The versions of RankStudio, the libraries, and the packages of
        # the plan's methods, by name.
        if dict(run.versions) != versions(run.key.plan.sources):
            title = run.key.plan.title
            tell(
                f"Note: {title} was started with other versions and is run again.",
                file=sys.stderr,
            )
    return [run.key.plan for run in chosen_runs]
