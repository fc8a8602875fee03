"""The runs of a study with their data, for tables, figures and reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from rankstudio.engine.analysis.comparisons.comparability import (
    ComparableGroup,
    comparable_groups,
)
from rankstudio.engine.analysis.comparisons.significance import (
    ComparedRun,
    best_run,
    compare_with,
    compared_runs,
    comparing_measure,
    why_unpaired,
)
from rankstudio.engine.analysis.measurements.measurement import sealed_run
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import ParameterError, RankStudioError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.results.unfitted import Unfitted
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import (
    RecordedData,
    ReportSettings,
    RunLabel,
    SealMark,
    is_sealed,
)
from rankstudio.engine.support.item_groups import grouped
from rankstudio.engine.support.number_format import fixed


@dataclass(frozen=True, eq=False)
class ReportedRun:
    """A finished run of a report.

    Attributes
    ----------
    number : int
        Number of the run in the study.
    result : RunResult
        Result whose plan names the data at their current location.
    recorded : RecordedData
        Data as recorded in the study.
    data : FoldedDataset or None
        Data with documents; None if they are not available.
    label : RunLabel
        The user's name, note and tags for the run.
    evidence : tuple of (int, bytes)
        Evidence in the study for the run's selections and models, each
        with the number of the fold.
        :mod:`rankstudio.plugins.evidence` makes the bytes.
    """

    number: int
    result: RunResult
    recorded: RecordedData
    data: FoldedDataset | None = None
    label: RunLabel = field(default_factory=RunLabel)
    evidence: tuple[tuple[int, bytes], ...] = ()

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
        """Name of the part behind its numbers: "test", or "validation, cross-fitted"."""
        return self.result.part.label

    @property
    def without_test(self) -> ReportedRun:
        """The run without all numbers of the test part."""
        return replace(self, result=sealed_run(self.result))


@dataclass(frozen=True, eq=False)
class ReportSource:
    """Contents of the report of a study: its runs, texts and settings.

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
    other_datasets : tuple of str
        Names of datasets of the study whose runs are left out by default.
    """

    title: str
    runs: tuple[ReportedRun, ...]
    settings: ReportSettings = field(default_factory=ReportSettings)
    seal_marks: tuple[SealMark, ...] = ()
    measure: str = ""
    other_datasets: tuple[str, ...] = ()

    def is_sealed(self, run: ReportedRun) -> bool:
        """Return whether the test part of a run's dataset is sealed."""
        return is_sealed(self.seal_marks, run.recorded)

    @property
    def shown(self) -> ReportSource:
        """The source without all numbers of sealed test parts."""
        return replace(self, runs=tuple(map(self._shown_run, self.runs)))

    def _shown_run(self, run: ReportedRun) -> ReportedRun:
        """Return a run without the numbers of its test part if that is sealed."""
        return run.without_test if self.is_sealed(run) else run

    @property
    def sealed_datasets(self) -> tuple[str, ...]:
        """Names of the datasets whose test parts are sealed."""
        return tuple(
            dict.fromkeys(
                run.result.data_name for run in self.runs if self.is_sealed(run)
            )
        )

    @cached_property
    def groups(self) -> tuple[ReportedGroup, ...]:
        """Runs of the report in groups of comparable ones, dataset by dataset."""
        # The groups of each dataset are numbered: this number is in their titles.
        by_number = {run.number: run for run in self.runs}
        groups = comparable_groups({run.number: run.result for run in self.runs})
        positions: dict[str, int] = {}
        n_groups = Counter(group.key.data_name for group in groups)
        reported = []
        for group in groups:
            # The position of a group counts from 1 on its dataset.
            data = group.key.data_name
            positions[data] = positions.get(data, 0) + 1
            runs = tuple(by_number[number] for number in group.runs)
            # The measure of the report, or else the one that chose the models.
            name = chooser(runs, self.measure)
            reported.append(
                ReportedGroup(
                    group=group,
                    runs=runs,
                    measure=name,
                    position=positions[data],
                    n_groups=n_groups[data],
                )
            )
        return tuple(reported)

    def datasets(self) -> dict[str, list[ReportedRun]]:
        """Return the runs by dataset name, in order of first occurrence."""
        return grouped(self.runs, lambda run: run.result.data_name)


@dataclass(frozen=True, eq=False)
class ReportedGroup:
    """A chapter of a report's results: a group of comparable runs, or of unranked runs.

    Unranked runs are those that may not be compared.

    Attributes
    ----------
    group : ComparableGroup of int
        The runs, by number.
    runs : tuple of ReportedRun
        The runs, with their data and labels.
    measure : str
        Measure for comparing the runs.
    position : int
        Position of the group among the groups on the same dataset, from 1.
    n_groups : int
        Number of groups on the same dataset.
    """

    group: ComparableGroup[int]
    runs: tuple[ReportedRun, ...]
    measure: str
    position: int = 1
    n_groups: int = 1

    @property
    def data(self) -> str:
        """Name of the dataset."""
        return self.group.key.data_name

    @property
    def title(self) -> str:
        """Name of the group's dataset for titles.

        The name has part, folds and queries if the dataset has several groups.
        """
        return f"{self.data} ({self.group.scope})" if self.n_groups > 1 else self.data

    @property
    def folds_title(self) -> str:
        """Name of the group's dataset for titles of figures of another part than the group's.

        Such a part has other queries, so the name has the folds, but
        not the number of queries.
        """
        return (
            f"{self.data} ({self.group.folds_text})" if self.n_groups > 1 else self.data
        )

    @property
    def is_ranked(self) -> bool:
        """Whether there are several runs that can be ranked."""
        return len(self.runs) > 1 and not self.group.unranked

    @cached_property
    def best(self) -> ReportedRun:
        """Best run of the group; the first one if it is not ranked."""
        return best_of(self.runs, self.measure)

    @cached_property
    def tests(self) -> tuple[ComparedRun, ...]:
        """Paired tests of the runs of the group against its best run.

        The result is () if the runs are not ranked.
        """
        return (
            tuple(tests_of(self.runs, self.best, self.measure))
            if self.is_ranked
            else ()
        )

    @property
    def reason(self) -> str:
        """Sentence on why the runs of the group are not ranked, or not with earlier groups.

        The text is "" if neither is the case.
        """
        if self.group.unranked:
            return f"Not ranked: {self.group.unranked}."
        return (
            f"Not ranked with the runs above: {self.group.why_separate}."
            if self.group.why_separate
            else ""
        )


def chooser(runs: Sequence[ReportedRun], name: str = "") -> str:
    """Return the measure for comparing runs: `name`, or the first run's selection criterion."""
    return comparing_measure(runs[0].plan, name)


def best_of(runs: Sequence[ReportedRun], name: str) -> ReportedRun:
    """Return the run with the best average of a measure; the first run if no run is best."""
    best = best_run([run.result for run in runs], name)
    return next((run for run in runs if run.result is best), runs[0])


def tests_of(
    runs: Sequence[ReportedRun], reference: ReportedRun, name: str
) -> list[ComparedRun]:
    """Return a row for each run with its paired test against a reference run.

    `name` is the measure. The p values are corrected for the number of
    tests. Runs that cannot be compared query by query have the reason
    instead of a test.
    """
    by_number: dict[int, RunResult] = {run.number: run.result for run in runs}
    against = reference.result
    tests = {
        number: compare_with(result, against, name)
        for number, result in by_number.items()
        if result is not against and not why_unpaired(result, against, name)
    }
    return compared_runs(by_number, reference.number, name, tests)


Opener = Callable[[Plan, RecordedData], FoldedDataset | None]


def no_data(_: Plan, __: RecordedData) -> None:
    """Open no data: the report then has no parts that need documents."""


class DataOpener:
    """Opens the data of each run once; None for changed or missing data."""

    def __init__(self) -> None:
        """Begin without data."""
        self._opened: dict[tuple[str, ...], FoldedDataset | None] = {}

    def __call__(self, plan: Plan, recorded: RecordedData) -> FoldedDataset | None:
        """Open the data of a plan, and return them if they are those that the study records.

        `recorded` has the record. The result is None if the data have
        changed or cannot be opened.
        """
        key = (
            recorded.checksum,
            plan.data,
            plan.missing,
            plan.normalize,
            plan.protocol,
            str(plan.seed),
        )
        if key not in self._opened:
            self._opened[key] = None
            # None stays if the data cannot be opened, so that this is tried once.
            with suppress(RankStudioError):
                dataset = open_data(plan)
                self._opened[key] = None if recorded.difference(dataset) else dataset
        return self._opened[key]


ALL_DATA = "all"
"""Name for the runs on all datasets of a study."""


@dataclass(frozen=True)
class RunChoice:
    """A choice among the finished runs of a study, by dataset or by number.

    Attributes
    ----------
    data : str
        Name of a dataset, or "all"; "" for the runs of `numbers` or,
        without them, for the dataset of the latest run.
    numbers : tuple of int or None
        Numbers of runs; None for any.
    """

    data: str = ""
    numbers: tuple[int, ...] | None = None

    @property
    def is_default(self) -> bool:
        """Whether the latest run decides on the dataset."""
        return not self.data and self.numbers is None

    def of(self, datasets: Mapping[int, str]) -> tuple[int, ...]:
        """Return the numbers of the chosen runs.

        The runs are those with the chosen numbers, or on the chosen
        dataset. If neither is chosen, the runs are those on the dataset
        of the latest run.

        Parameters
        ----------
        datasets : Mapping of int to str
            Name of the dataset of each finished run, by number.

        Raises
        ------
        ParameterError
            If there is no run of a number, or none on the dataset.
        """
        for number in self.numbers or ():
            if number not in datasets:
                numbers = listed(datasets) or "none"
                raise ParameterError(
                    "runs", number, f"numbers of completed runs: {numbers}"
                )
        chosen = [
            number
            for number in datasets
            if self.numbers is None or number in self.numbers
        ]
        names = dict.fromkeys(datasets[number] for number in chosen)
        is_chosen_by_numbers = not self.data and self.numbers is not None
        if not chosen or self.data == ALL_DATA or is_chosen_by_numbers:
            return tuple(chosen)
        # By default the dataset of the latest run.
        name = self.data or datasets[chosen[-1]]
        if name not in names:
            raise ParameterError("data", name, f"one of {', '.join(names)}")
        return tuple(number for number in chosen if datasets[number] == name)


EVERY_RUN = RunChoice(ALL_DATA)


def read_study(
    study: Study,
    opener: Opener = no_data,
    *,
    choice: RunChoice = EVERY_RUN,
    includes_hidden: bool = False,
    computes_cross_fitted: bool = False,
) -> ReportSource:
    """Return the contents of a study's report: its chosen finished, undamaged runs.

    Cross-fitted values that an earlier version did not store are
    computed where the data are available, and the study keeps them.

    Parameters
    ----------
    study : Study
        Open study.
    opener : callable
        Returns the documents of a run, or None:
        :class:`DataOpener` or :func:`no_data`.
    choice : RunChoice
        Only the data of the chosen runs are opened.
    includes_hidden : bool
        Whether runs that the user has hidden are included.
    computes_cross_fitted : bool
        Whether data are opened only for missing cross-fitted values, of
        any run. Otherwise they are opened for all runs, and the values
        are computed for runs whose test part is sealed or missing.

    Raises
    ------
    StoreError
        If the study cannot be read.
    ParameterError
        If the choice names a run or a dataset that the study does not have.
    """
    # Keys of the runs to show, and the names of their datasets.
    sound_keys = [
        summary.key
        for summary in study.runs()
        if summary.finished and not summary.damage
    ]
    labels = {key.id: study.label(key) for key in sound_keys}
    keys = {
        key.id: key
        for key in sound_keys
        if includes_hidden or not labels[key.id].hidden
    }
    datasets = {number: study.data(key).name for number, key in keys.items()}
    chosen = choice.of(datasets)
    runs = []
    for number in chosen:
        # The plan of a stored run opens the data as they were recorded.
        key = keys[number]
        result = study.result(key)
        recorded = study.data(key)
        plan = result.plan.changed(data=recorded.path_to_open(result.plan))
        result = replace(result, plan=plan)
        # Compute cross-fitted values that the study does not have.
        if result.complete:
            data = None if computes_cross_fitted else opener(plan, recorded)
            is_needed = (
                computes_cross_fitted
                or is_sealed(study.seal_marks, recorded)
                or not result.part.is_estimate
            )
            if is_needed and result.unfitted is Unfitted.NOT_STORED:
                from rankstudio.engine.analysis.measurements.cross_fitting import (  # noqa: PLC0415 - brings numba
                    fitted_in_study,
                )

                # Cross-fitted values are measures of validation queries
                # by models chosen without them.
                documents = opener(plan, recorded) if computes_cross_fitted else data
                result = fitted_in_study(study, key, result, documents)
            evidence = tuple(study.evidence_of_run(key))
            runs.append(
                ReportedRun(
                    number=key.id,
                    result=result,
                    recorded=recorded,
                    data=data,
                    label=labels[key.id],
                    evidence=evidence,
                )
            )

    # Datasets of runs that were not chosen.
    reported_datasets = {datasets[number] for number in chosen}
    other_datasets = dict.fromkeys(
        name for name in datasets.values() if name not in reported_datasets
    )
    return ReportSource(
        title=study.title,
        runs=tuple(runs),
        settings=study.report_settings,
        seal_marks=study.seal_marks,
        other_datasets=tuple(other_datasets) if choice.is_default else (),
    )


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
