"""The runs of a benchmark before they start: datasets with their measures, and estimated times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.engine.analysis.comparisons.batch import Comparison
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.fingerprint import data_digest
from rankstudio.engine.data.known_datasets import known_title
from rankstudio.engine.errors import Cancelled, RankStudioError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.results.workload import workload
from rankstudio.engine.experiment.runner import check, open_data, usual_choices
from rankstudio.plugins.benchmark.dataset_search import SkippedPath

if TYPE_CHECKING:
    from rankstudio.engine.experiment.storage.study import Study
    from rankstudio.engine.experiment.storage.study_contents import RunSummary

DIVISION = "5-fold"
"""Protocol of data that have neither a validation nor a test part."""


@dataclass(frozen=True)
class PlannedRun:
    """A run of a method on a dataset, which is planned.

    Attributes
    ----------
    plan : Plan
    seconds : float
        Approximate time of the part of the run that is not computed
        yet, with one thread.
    problem : str
        Why the run is impossible, as a sentence; "" if it is possible.
    """

    plan: Plan
    seconds: float
    problem: str = ""


@dataclass(frozen=True)
class PlannedDataset:
    """A dataset of a benchmark.

    Attributes
    ----------
    path : Path
    name : str
    known : str
        Title of the published dataset that the files are recognised as;
        "" for other data.
    convention : str
        Key of the convention of its measures.
    division : str
        Protocol of its folds; "given" for the folds of its files.
    n_folds, n_queries, n_documents, n_features : int
        Size; queries and documents are those of all parts of the first fold.
    runs : tuple of PlannedRun
        One run for each method, in the order of the benchmark.
    """

    path: Path
    name: str
    known: str
    convention: str
    division: str
    n_folds: int
    n_queries: int
    n_documents: int
    n_features: int
    runs: tuple[PlannedRun, ...]


@dataclass(frozen=True)
class PlannedBenchmark:
    """All runs of a benchmark.

    Attributes
    ----------
    comparison : Comparison
        The compared methods, and how data are divided whose files have
        no training and test parts.
    datasets : tuple of PlannedDataset
    skipped : tuple of SkippedPath
    """

    comparison: Comparison
    datasets: tuple[PlannedDataset, ...]
    skipped: tuple[SkippedPath, ...]

    @property
    def data(self) -> list[str]:
        """Paths of the datasets, as plans have them."""
        return [str(dataset.path) for dataset in self.datasets]

    @property
    def seconds(self) -> float:
        """Approximate time of all runs."""
        return sum(run.seconds for dataset in self.datasets for run in dataset.runs)


@dataclass(frozen=True)
class StoredRuns:
    """The runs that a study has.

    Attributes
    ----------
    summaries : sequence of RunSummary
    results : sequence of RunResult
        Results of the finished runs, whose durations scale the estimates.
    """

    summaries: Sequence[RunSummary] = ()
    results: Sequence[RunResult] = ()

    @classmethod
    def of(cls, study: Study) -> StoredRuns:
        """Return the undamaged runs of a study."""
        summaries = [summary for summary in study.runs() if not summary.damage]
        finished = [summary for summary in summaries if summary.finished]
        return cls(summaries, study.finished(finished))

    def share_left(self, plan: Plan) -> float:
        """Return the share of a plan's units that are not computed yet, from 0 to 1.

        A unit is a combination of parameters on a fold. Of several runs
        of the plan (whose plans agree), the most complete one counts;
        without any, the share is 1.
        """
        shares = (
            0.0 if summary.finished else 1.0 - summary.n_finished / summary.n_units
            for summary in self.summaries
            if summary.key.plan.agrees(plan) and summary.n_units
        )
        return min(shares, default=1.0)


NO_RUNS = StoredRuns()


def planned_benchmark(
    comparison: Comparison,
    candidates: Sequence[Path],
    stored: StoredRuns = NO_RUNS,
) -> PlannedBenchmark:
    """Open each candidate and plan the runs of a comparison on it.

    Parameters
    ----------
    comparison : Comparison
        Methods and protocol; its own data do not count.
    candidates : sequence of Path
        Folders and files that may be datasets.
    stored : StoredRuns
        Runs that a study has already.

    Returns
    -------
    PlannedBenchmark
        Candidates that cannot be opened, that no method can use, or
        that repeat the documents or the name of another one are skipped
        with the reason.

    Notes
    -----
    One dataset is in memory at a time. Opening parses the files, as a
    run would, and keeps them in the cache.
    """
    planning = _Planning(comparison, stored)

    # An interruption by the user ends all; any other error skips the candidate.
    for path in candidates:
        try:
            planning.add(path.absolute())
        except Cancelled:
            raise
        except RankStudioError as error:
            planning.skip(path, str(error))
    return PlannedBenchmark(
        planning.comparison, tuple(planning.datasets), tuple(planning.skipped)
    )


@dataclass
class _Planning:
    """The datasets of a benchmark that are planned so far."""

    comparison: Comparison
    stored: StoredRuns
    datasets: list[PlannedDataset] = field(default_factory=list)
    skipped: list[SkippedPath] = field(default_factory=list)
    path_by_digest: dict[str, Path] = field(default_factory=dict)
    path_by_name: dict[str, Path] = field(default_factory=dict)

    def skip(self, path: Path, reason: str) -> None:
        """Record that a candidate takes no part."""
        self.skipped.append(SkippedPath(path, reason))

    def add(self, path: Path) -> None:
        """Plan the runs on a candidate and remember it, or skip it.

        Raises
        ------
        RankStudioError
            If the candidate cannot be opened or divided.
        """
        # Data that repeat the documents of earlier ones are skipped;
        # the digest is a checksum of the documents. So are data that
        # repeat the name of earlier ones, as tables name a dataset by
        # it.
        source = str(path)
        first_plan = self.comparison.plans(source)[0]
        opened = open_data(first_plan)
        digest = data_digest(opened)
        repeated = self._repetition(opened.name, digest)
        if repeated:
            self.skip(path, repeated)
            return

        # Data that have only a training part are divided, so that there
        # are documents to measure on.
        comparison = self.comparison
        if not _has_parts(first_plan, opened):
            divisions = {**comparison.divisions, source: DIVISION}
            comparison = replace(comparison, divisions=divisions)

        # Data on which no method is possible are skipped.
        runs = tuple(self._planned_runs(comparison.plans(source), first_plan, opened))
        possible_runs = [run for run in runs if not run.problem]
        if not possible_runs:
            self.skip(path, runs[0].problem)
            return
        self.comparison = comparison
        self.path_by_digest[digest] = path
        self.path_by_name[opened.name] = path
        self.datasets.append(_described(path, opened, possible_runs[0].plan, runs))

    def _repetition(self, name: str, digest: str) -> str:
        """Return why a dataset repeats an earlier one; "" if it does not."""
        if digest in self.path_by_digest:
            return f"the same data as {self.path_by_digest[digest]}"
        if name in self.path_by_name:
            return f"{self.path_by_name[name]} has the name {name}, too; rename one of them"
        return ""

    def _planned_runs(
        self, plans: Sequence[Plan], first_plan: Plan, opened: FoldedDataset
    ) -> Iterator[PlannedRun]:
        """Yield the planned runs of some plans on one dataset.

        ``opened`` are the data of ``first_plan``, open already. They
        are used for all plans that read the same columns, unless they
        are divided into folds already. For other plans, the data are
        opened again.
        """
        # Successive plans with the same folds and columns share their data.
        for _, group in groupby(plans, key=lambda plan: (plan.protocol, plan.columns)):
            same_division = list(group)
            plan = same_division[0]
            is_reusable = plan.columns == first_plan.columns and not opened.divided_by
            dataset = (
                parse_protocol(plan.protocol).divide(opened, plan.seed)
                if is_reusable
                else open_data(plan)
            )
            for plan in same_division:
                yield self._planned_run(plan, dataset)

    def _planned_run(self, plan: Plan, dataset: FoldedDataset) -> PlannedRun:
        """Return a run with its estimated time, or with the reason why it is impossible."""
        # The choices that the plan leaves open, such as the criterion,
        # depend on the data.
        completed_plan = usual_choices(plan, dataset, self.comparison.protocol)
        try:
            check(completed_plan, dataset)
        except RankStudioError as error:
            return PlannedRun(completed_plan, 0.0, str(error))

        # The work of all folds, by the sizes of the data and by earlier runs.
        work = workload(
            [(completed_plan, len(dataset.folds))],
            self.stored.results,
            max(fold.train.n_documents for fold in dataset.folds),
            dataset.n_features,
        )

        # The stored runs scale the estimate. Of the time, only the
        # share of what the study does not have yet is needed.
        share = self.stored.share_left(completed_plan)
        return PlannedRun(completed_plan, share * work.seconds)


def _has_parts(plan: Plan, dataset: FoldedDataset) -> bool:
    """Return whether there is something to measure: a validation or test part, or a protocol that makes one."""
    return (
        parse_protocol(plan.protocol).kind != "given"
        or plan.inner > 0
        or any(fold.vali is not None or fold.test is not None for fold in dataset.folds)
    )


def _described(
    path: Path, dataset: FoldedDataset, plan: Plan, runs: tuple[PlannedRun, ...]
) -> PlannedDataset:
    """Return the description of a dataset at a path, with its runs; ``plan`` is that of one of them."""
    # The number of documents of each query of the first fold.
    sizes = dataset.query_sizes
    return PlannedDataset(
        path=path,
        name=dataset.name,
        # the title of a published dataset that it was recognised as; or ""
        known=known_title(dataset.origin.known),
        convention=plan.convention,
        division=plan.protocol,
        n_folds=_n_folds(dataset, plan),
        n_queries=len(sizes),
        n_documents=int(sizes.sum()),
        n_features=dataset.n_features,
        runs=runs,
    )


def _n_folds(dataset: FoldedDataset, plan: Plan) -> int:
    """Return the number of folds that a plan uses."""
    protocol = parse_protocol(plan.protocol)
    if protocol.kind == "k-fold":
        return protocol.numbers[0]
    return len(plan.folds or dataset.folds)
