"""What a report is made of: the finished runs of a study with their data, and what a person wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rankstudio.engine.analysis.significance import (
    ComparedRun,
    best_run,
    compare_with,
    compared_runs,
    why_unpaired,
)
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.experiment.storage.study_contents import (
    RecordedData,
    ReportSettings,
    RunLabel,
    SealMark,
    is_sealed,
)


@dataclass(frozen=True, eq=False)
class ReportedRun:
    """A finished run as a report shows it.

    Attributes
    ----------
    number : int
        In the study.
    result : RunResult
        Of a plan that names the data as they are opened from here.
    recorded : RecordedData
        Its data, as the study recorded them.
    data : FoldedDataset or None
        The same with their documents; None where these are not at hand.
    label : RunLabel
        What a person says of it.
    """

    number: int
    result: RunResult
    recorded: RecordedData
    data: FoldedDataset | None = None
    label: RunLabel = field(default_factory=RunLabel)

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.result.plan

    @property
    def title(self) -> str:
        """What it is called: what a person says, else what it runs."""
        return self.label.name or self.plan.title

    @property
    def name(self) -> str:
        """Number and title: "run 3, GAS"."""
        return f"run {self.number}, {self.title}"

    @property
    def part(self) -> str:
        """What its numbers are of: "test", or "validation" where the test part is sealed or missing."""
        return "test" if any(fold.test for fold in self.result.folds) else "validation"


@dataclass(frozen=True, eq=False)
class ReportSource:
    """What a report is made of.

    Attributes
    ----------
    title : str
        Of the study.
    runs : tuple of ReportedRun
        The finished ones, by their numbers.
    settings : ReportSettings
        What a person wrote, and which sections are wanted.
    seal_marks : tuple of SealMark
        When the test part was sealed and looked at.
    measure : str
        By which runs are compared; "" for the one that chose.
    """

    title: str
    runs: tuple[ReportedRun, ...]
    settings: ReportSettings = field(default_factory=ReportSettings)
    seal_marks: tuple[SealMark, ...] = ()
    measure: str = ""

    @property
    def sealed(self) -> bool:
        """Whether nothing of the test part may be shown."""
        return is_sealed(self.seal_marks)

    @property
    def shown(self) -> ReportSource:
        """What may be shown: itself, or without every number of the test part where that is sealed."""
        if not self.sealed:
            return self
        return replace(self, runs=tuple(replace(r, result=without_test(r.result)) for r in self.runs))

    def datasets(self) -> dict[str, list[ReportedRun]]:
        """Return the runs by the name of their dataset, in the order in which these first occur."""
        found: dict[str, list[ReportedRun]] = {}
        for run in self.runs:
            found.setdefault(run.result.data_name, []).append(run)
        return found


def chooser(runs: Iterable[ReportedRun], name: str = "") -> str:
    """Return the measure that runs are compared by: the one asked for, else what chose in the first one."""
    plan = next(iter(runs)).plan
    asked = name if name in plan.evaluated else plan.chosen_by
    return asked if asked != CRITERION else plan.measures[0]


def best_of(runs: list[ReportedRun], name: str) -> ReportedRun:
    """Return the run with the best average of a measure; the first one where it was not measured."""
    best = best_run([run.result for run in runs], name)
    return next((run for run in runs if run.result is best), runs[0])


def without_test(result: RunResult) -> RunResult:
    """Return a run as it is while its test part is sealed: no number of it is there any more."""
    return replace(result, folds=tuple(_covered(fold) for fold in result.folds))


def _covered(fold: FoldResult) -> FoldResult:
    if not fold.test:
        return fold
    nothing: Mapping[str, float] = {}
    return replace(fold, test=nothing, per_query={}, baseline=replace(fold.baseline, test=nothing))


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
