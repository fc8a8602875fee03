"""The runs of the window in groups of those that belong together: what is ranked, tested and drawn as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rankstudio.engine.analysis.comparisons.comparability import (
    ComparableGroup,
    ExpectedRun,
    comparable_groups,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.ui.language import tr
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_record import RunRecord


@dataclass(frozen=True)
class RunGroup:
    """Runs that are comparable with each other, and runs that will be when they have finished.

    Attributes
    ----------
    data : str
        Name of the dataset.
    extent : str
        "5 folds, 784 queries".
    keys : tuple of int
        Numbers of all its runs.
    measured : tuple of int
        Numbers of those with measures.
    part : Part
        Part behind their measures.
    unranked : str
        Why its runs are not ranked, as part of a sentence; "" if they are.
    apart : str
        Why they are not ranked with the runs above; "" if there are none on the same dataset.
    partial : tuple of int
        Numbers of those that were run on some folds of their data only, and that no run does on all folds.
    n_folds : int
        Folds of the data.
    """

    data: str
    extent: str
    keys: tuple[int, ...]
    measured: tuple[int, ...] = ()
    part: Part = Part.NONE
    unranked: str = ""
    apart: str = ""
    partial: tuple[int, ...] = ()
    n_folds: int = 0

    @property
    def is_ranked(self) -> bool:
        """Whether its runs may be ranked and tested."""
        return bool(self.measured) and not self.unranked

    @property
    def identity(self) -> tuple[str, int]:
        """Key that stays the same when other runs join the group."""
        return self.data, min(self.keys)


def run_groups(
    records: Iterable[RunRecord], measured: Mapping[int, MeasuredRun], first_data: str = ""
) -> tuple[RunGroup, ...]:
    """Return all runs in groups, the groups on the dataset ``first_data`` first.

    Parameters
    ----------
    records : iterable of RunRecord
    measured : Mapping of int to MeasuredRun
        The runs by their numbers, as they are measured now.
    first_data : str
        Name of the dataset whose groups come first.
    """
    records = tuple(records)
    results = complete_results(measured)
    groups = comparable_groups(results)
    joined: dict[int, list[int]] = {position: [] for position in range(len(groups))}
    expected_groups: dict[tuple[object, ...], tuple[ExpectedRun, list[int]]] = {}
    for record in records:
        if record.key in results:
            continue
        expected = expected_run(record, measured[record.key].plan)
        position = next((index for index, group in enumerate(groups) if expected.belongs_to(group)), None)
        if position is None:
            expected_groups.setdefault(expected.kind, (expected, []))[1].append(record.key)
        else:
            joined[position].append(record.key)
    by_key = {record.key: record for record in records}
    listed = [_measured_group(group, joined[position], by_key) for position, group in enumerate(groups)]
    listed += [_expected_group(expected, keys) for expected, keys in expected_groups.values()]
    datasets = list(dict.fromkeys([first_data, *(group.data for group in listed)]))
    return tuple(sorted(listed, key=lambda group: datasets.index(group.data)))


def complete_results(measured: Mapping[int, MeasuredRun]) -> dict[int, RunResult]:
    """Return the results of the runs that are complete, by their numbers."""
    results = {key: run.result for key, run in measured.items()}
    return {key: result for key, result in results.items() if result is not None and result.complete}


def expected_run(record: RunRecord, plan: Plan) -> ExpectedRun:
    """Return the properties that an unfinished run will share with comparable runs."""
    folds = plan.folds or tuple(fold.number for fold in record.dataset.folds)
    return ExpectedRun(plan, record.dataset.name, tuple(folds))


def on_every_fold(plan: Plan) -> Plan:
    """Return a plan on all folds of its data."""
    return plan.changed(folds=())


def _measured_group(
    group: ComparableGroup[int], joined: list[int], records: Mapping[int, RunRecord]
) -> RunGroup:
    """Return a group of finished comparable runs, and of the unfinished runs that will join it."""
    keys = tuple(sorted([*group.runs, *joined]))
    return RunGroup(
        group.key.data_name,
        group.extent,
        keys,
        tuple(group.runs),
        group.key.part,
        group.unranked,
        group.apart,
        tuple(key for key in group.runs if _lacks_folds(records[key], records.values())),
        max(len(records[key].dataset.folds) for key in group.runs),
    )


def _lacks_folds(record: RunRecord, records: Iterable[RunRecord]) -> bool:
    """Return whether a run has only some folds, and no run of the same plan has them all."""
    if not 0 < len(record.plan.folds) < len(record.dataset.folds):
        return False
    full_plan = on_every_fold(record.plan)
    runs_on_data = (other for other in records if other.dataset.name == record.dataset.name)
    return not any(other.plan.agrees(full_plan) for other in runs_on_data)


def _expected_group(expected: ExpectedRun, keys: list[int]) -> RunGroup:
    return RunGroup(expected.data_name, expected.extent, tuple(keys), unranked=tr("not finished"))
