"""Groups of comparable runs: the runs of a group are ranked, tested and drawn together."""

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
    """Runs that are comparable with each other, and unfinished runs that will be comparable with them.

    Attributes
    ----------
    data : str
        Name of the dataset.
    extent : str
        Text on the size of the data: "5 folds, 784 queries".
    keys : tuple of int
        Numbers of all runs of the group.
    measured : tuple of int
        Numbers of the runs that have measures.
    part : Part
        Part of the data behind these measures.
    unranked : str
        Reason why the runs are not ranked, as part of a sentence; "" if
        they are ranked.
    why_separate : str
        Reason why the runs are not ranked with those of an earlier
        group on the same dataset; "" if there is no such group.
    partial : tuple of int
        Numbers of the runs on some folds only whose plan has no run on
        all folds.
    n_folds : int
        Number of folds of the data.
    """

    data: str
    extent: str
    keys: tuple[int, ...]
    measured: tuple[int, ...] = ()
    part: Part = Part.NONE
    unranked: str = ""
    why_separate: str = ""
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
    records: Iterable[RunRecord],
    measured: Mapping[int, MeasuredRun],
    first_data: str = "",
) -> tuple[RunGroup, ...]:
    """Return all runs in groups, the groups on the dataset ``first_data`` first.

    Finished runs that are comparable make a group. An unfinished run is
    added to the group that it will join, or to a group of unfinished
    runs of its kind.

    Parameters
    ----------
    records : iterable of RunRecord
        The runs of the window.
    measured : Mapping of int to MeasuredRun
        The runs by their numbers, as they are measured now.
    first_data : str
        Name of the dataset whose groups come first.
    """
    records = tuple(records)
    results = complete_results(measured)
    groups = comparable_groups(results)
    # Numbers of the unfinished runs that will join each group, by the group's position.
    joining_runs: dict[int, list[int]] = {
        position: [] for position in range(len(groups))
    }
    # Groups of unfinished runs that no finished run is comparable with,
    # by their kind: a run of the kind, and the numbers of all of them.
    expected_groups: dict[tuple[object, ...], tuple[ExpectedRun, list[int]]] = {}
    for record in records:
        if record.key in results:
            continue
        expected = expected_run(record, measured[record.key].plan)
        position = next(
            (index for index, group in enumerate(groups) if expected.belongs_to(group)),
            None,
        )
        if position is None:
            expected_groups.setdefault(expected.kind, (expected, []))[1].append(
                record.key
            )
        else:
            joining_runs[position].append(record.key)
    by_key = {record.key: record for record in records}
    listed_groups = [
        _measured_group(group, joining_runs[position], by_key)
        for position, group in enumerate(groups)
    ]
    listed_groups += [
        _expected_group(expected, keys) for expected, keys in expected_groups.values()
    ]
    # The other datasets keep the order in which they appear first.
    datasets = list(
        dict.fromkeys([first_data, *(group.data for group in listed_groups)])
    )
    return tuple(sorted(listed_groups, key=lambda group: datasets.index(group.data)))


def complete_results(measured: Mapping[int, MeasuredRun]) -> dict[int, RunResult]:
    """Return the results of the runs that have results of all their folds, by their numbers."""
    results = {key: run.result for key, run in measured.items()}
    return {
        key: result
        for key, result in results.items()
        if result is not None and result.complete
    }


def expected_run(record: RunRecord, plan: Plan) -> ExpectedRun:
    """Return the properties of an unfinished run by which its group of comparable runs is found.

    ``plan`` is the plan of the run with the measures in use.
    """
    folds = plan.folds or tuple(fold.number for fold in record.dataset.folds)
    return ExpectedRun(plan, record.dataset.name, tuple(folds))


def on_every_fold(plan: Plan) -> Plan:
    """Return a plan on all folds of its data."""
    return plan.changed(folds=())


def _measured_group(
    group: ComparableGroup[int], joined: list[int], records: Mapping[int, RunRecord]
) -> RunGroup:
    """Return the group of finished comparable runs and of the unfinished runs that will join them.

    ``group`` has the finished runs, ``joined`` the numbers of the
    unfinished ones, and ``records`` all runs by number.
    """
    return RunGroup(
        data=group.key.data_name,
        extent=group.extent,  # such as "5 folds, 784 queries"
        keys=tuple(sorted([*group.runs, *joined])),
        measured=tuple(group.runs),
        part=group.key.part,  # the part of the data that was measured
        # Two reasons, each "" if there is none: why the runs are not
        # ranked at all, and why not with those of an earlier group on
        # the same data.
        unranked=group.unranked,
        why_separate=group.why_separate,
        # runs on some folds only, which a link repeats on all folds
        partial=tuple(
            key for key in group.runs if _lacks_folds(records[key], records.values())
        ),
        n_folds=max(len(records[key].dataset.folds) for key in group.runs),
    )


def _lacks_folds(record: RunRecord, records: Iterable[RunRecord]) -> bool:
    """Return whether a run has only some folds of its data, and no run of the same plan has all folds."""
    # A plan without a list of folds has all of them.
    if not 0 < len(record.plan.folds) < len(record.dataset.folds):
        return False
    full_plan = on_every_fold(record.plan)
    runs_on_data = (
        other for other in records if other.dataset.name == record.dataset.name
    )
    return not any(other.plan.agrees(full_plan) for other in runs_on_data)


def _expected_group(expected: ExpectedRun, keys: list[int]) -> RunGroup:
    return RunGroup(
        expected.data_name, expected.extent, tuple(keys), unranked=tr("not finished")
    )
