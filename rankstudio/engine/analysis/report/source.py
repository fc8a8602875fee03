"""What a report is made of: the runs of a study with their data, and how it writes numbers and names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

from rankstudio.engine.analysis.evidence.evidence_codec import unpack_evidence, unpack_importance
from rankstudio.engine.analysis.evidence.evidence_result import SelectionEvidence
from rankstudio.engine.analysis.evidence.model_importance import MeasuredImportance
from rankstudio.engine.analysis.queries.measurement import without_test
from rankstudio.engine.analysis.significance import (
    ComparedRun,
    best_run,
    compare_with,
    compared_runs,
    comparing_measure,
    why_unpaired,
)
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import RankStudioError, StoreError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import (
    RecordedData,
    ReportSettings,
    RunKey,
    RunLabel,
    SealMark,
    is_sealed,
)
from rankstudio.engine.support.item_groups import grouped
from rankstudio.engine.support.number_format import fixed

Kind = TypeVar("Kind")


@dataclass(frozen=True, eq=False)
class ReportedRun:
    """A finished run of a report.

    Attributes
    ----------
    number : int
        Number in the study.
    result : RunResult
        Result whose plan names the data at their current location.
    recorded : RecordedData
        Data as recorded in the study.
    data : FoldedDataset or None
        Data with documents; None if they are not available.
    label : RunLabel
        The user's note.
    evidence : tuple of (int, SelectionEvidence)
        Stored evidence, each with the number of the fold.
    importances : tuple of (int, MeasuredImportance)
        Stored permutation importances of its models, each with the number of the fold.
    """

    number: int
    result: RunResult
    recorded: RecordedData
    data: FoldedDataset | None = None
    label: RunLabel = field(default_factory=RunLabel)
    evidence: tuple[tuple[int, SelectionEvidence], ...] = ()
    importances: tuple[tuple[int, MeasuredImportance], ...] = ()

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.result.plan

    @property
    def title(self) -> str:
        """Name of the run: the user's name, by default the method."""
        return self.label.name or self.plan.title

    @property
    def name(self) -> str:
        """Number and title: "run 3, GAS"."""
        return f"run {self.number}, {self.title}"

    @property
    def part(self) -> str:
        """Part behind its numbers: "test", or "validation" if the test part is sealed or missing."""
        return "test" if any(fold.test for fold in self.result.folds) else "validation"


@dataclass(frozen=True, eq=False)
class ReportSource:
    """Contents of a report.

    Attributes
    ----------
    title : str
        Title of the study.
    runs : tuple of ReportedRun
        Finished runs, by number.
    settings : ReportSettings
        Texts of the user, and the included sections.
    seal_marks : tuple of SealMark
        Times at which the test parts of datasets were sealed and shown.
    measure : str
        Measure for comparing runs; "" for the selection criterion.
    """

    title: str
    runs: tuple[ReportedRun, ...]
    settings: ReportSettings = field(default_factory=ReportSettings)
    seal_marks: tuple[SealMark, ...] = ()
    measure: str = ""

    def is_sealed(self, run: ReportedRun) -> bool:
        """Return whether the test part of a run's dataset is sealed."""
        return is_sealed(self.seal_marks, run.recorded)

    @property
    def shown(self) -> ReportSource:
        """The source without all numbers of sealed test parts."""
        return replace(self, runs=tuple(map(self._shown, self.runs)))

    def _shown(self, run: ReportedRun) -> ReportedRun:
        """Return a run without the numbers of its test part if that is sealed."""
        if not self.is_sealed(run):
            return run
        folds = tuple(map(without_test, run.result.folds))
        return replace(run, result=replace(run.result, folds=folds))

    @property
    def sealed_datasets(self) -> tuple[str, ...]:
        """Names of the datasets whose test parts are sealed."""
        return tuple(dict.fromkeys(run.result.data_name for run in self.runs if self.is_sealed(run)))

    def datasets(self) -> dict[str, list[ReportedRun]]:
        """Return the runs by dataset name, in order of first occurrence."""
        return grouped(self.runs, lambda run: run.result.data_name)


def chooser(runs: Sequence[ReportedRun], name: str = "") -> str:
    """Return the measure for comparing runs: as requested, or the selection criterion of the first run."""
    return comparing_measure(runs[0].plan, name)


def best_of(runs: list[ReportedRun], name: str) -> ReportedRun:
    """Return the run with the best average of a measure; the first run if it was not measured."""
    best = best_run([run.result for run in runs], name)
    return next((run for run in runs if run.result is best), runs[0])


def tests_of(runs: Sequence[ReportedRun], reference: ReportedRun, name: str) -> list[ComparedRun]:
    """Return the paired tests of runs against one of them, corrected as one family."""
    by_number: dict[int, RunResult] = {run.number: run.result for run in runs}
    against = reference.result
    found = {
        number: compare_with(result, against, name)
        for number, result in by_number.items()
        if result is not against and not why_unpaired(result, against, name)
    }
    return compared_runs(by_number, reference.number, name, found)


Opener = Callable[[Plan, RecordedData], FoldedDataset | None]


def no_data(_: Plan, __: RecordedData) -> None:
    """Open no data: the report then has no parts that need documents."""


class DataOpener:
    """Opens the data of each run once; None for changed or missing data."""

    def __init__(self) -> None:
        self._opened: dict[tuple[str, ...], FoldedDataset | None] = {}

    def __call__(self, plan: Plan, recorded: RecordedData) -> FoldedDataset | None:
        """Return the data of a plan as they were recorded; None where they cannot be had."""
        key = (recorded.checksum, plan.data, plan.missing, plan.normalize, plan.protocol, str(plan.seed))
        if key not in self._opened:
            self._opened[key] = None
            with suppress(RankStudioError):
                found = open_data(plan)
                self._opened[key] = None if recorded.difference(found) else found
        return self._opened[key]


def read_study(study: Study, opener: Opener = no_data) -> ReportSource:
    """Return the source of a study's report: its finished, undamaged, visible runs.

    Parameters
    ----------
    study : Study
    opener : callable
        Returns the documents of a run, or None: :class:`DataOpener` or :func:`no_data`.

    Raises
    ------
    StoreError
        If the study cannot be read.
    """
    runs = []
    for summary in study.runs():
        label = study.label(summary.key)
        if not summary.finished or summary.damage or label.hidden:
            continue
        result, recorded = study.result(summary.key), study.data(summary.key)
        plan = result.plan.changed(data=recorded.opened_by(result.plan))
        result = replace(result, plan=plan)
        if result.complete:
            given = result, recorded, opener(plan, recorded), label
            runs.append(ReportedRun(summary.key.id, *given, *kept_evidence(study, summary.key)))
    return ReportSource(study.title, tuple(runs), study.report_settings, study.seal_marks)


def kept_evidence(
    study: Study, run: RunKey
) -> tuple[tuple[tuple[int, SelectionEvidence], ...], tuple[tuple[int, MeasuredImportance], ...]]:
    """Return the stored evidence of a run, for its selections and for its models, without damaged entries."""
    return _kept(study, run, unpack_evidence), _kept(study, run, unpack_importance)


def _kept(study: Study, run: RunKey, read: Callable[[bytes], Kind]) -> tuple[tuple[int, Kind], ...]:
    """Return the stored evidence of one kind of a run, without damaged entries."""
    found = []
    for fold, payload in study.evidence_of_run(run):
        with suppress(StoreError):
            found.append((fold, read(payload)))
    return tuple(found)


def spread(mean: float, deviation: float | None) -> str:
    """Return a mean with its deviation over the folds: "0.4712 ± 0.0210"."""
    return fixed(mean) if deviation is None else f"{fixed(mean)} ± {fixed(deviation)}"


def listed(words: Iterable[object]) -> str:
    """Return words as an enumeration: "1, 2 and 3"."""
    texts = [str(word) for word in words]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def runs_text(runs: Sequence[ReportedRun]) -> str:
    """Return runs by number: "run 2", "runs 1, 2 and 4"."""
    return f"run{'s' if len(runs) > 1 else ''} {listed(run.number for run in runs)}"
