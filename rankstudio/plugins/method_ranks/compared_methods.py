"""The values of methods on datasets: which runs may be compared, and the reason for each that is left out.

On each dataset only the runs of one group of comparable runs count (see
:mod:`rankstudio.engine.analysis.comparisons.comparability`), and a method counts only if it has a run on
every dataset. Methods of different datasets are the same if their plans
agree in everything but the data, or if the user gave them the same
name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstudio.engine.analysis.comparisons.comparability import (
    ComparableGroup,
    comparable,
    comparable_groups,
)
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.difference import distinctions
from rankstudio.engine.experiment.plan.plan import Plan, counting_plan
from rankstudio.engine.experiment.plan.toml import plan_as_dict
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.language import tr
from rankstudio.engine.support.item_groups import grouped

if TYPE_CHECKING:
    from rankstudio.engine.analysis.reported_runs import ReportSource

_OF_THE_DATA = (
    "data",
    "folds",
    "measures",
    "convention",
    "columns",
    "missing",
    "normalize",
    "seed",
)
# the title has files and the share of the queries
_OF_FILES = ("scores", "hand_chosen", "costs", "protocol")
_MAX_LISTED = 3  # datasets that a reason lists by name


@dataclass(frozen=True, eq=False)
class CandidateRun:
    """A run that may take part in the comparison.

    Attributes
    ----------
    name : str
        Name in sentences: "run 3, GAS".
    result : RunResult
        Result of the run as it is shown, for instance without the test
        part while that part is sealed.
    method : str
        The user's name for the method of the run; "" for the method's own name.
    """

    name: str
    result: RunResult
    method: str = ""


@dataclass(frozen=True)
class Exclusion:
    """A run, method or dataset that is not compared.

    Attributes
    ----------
    name : str
    reason : str
        Reason, as part of a sentence: "not finished".
    """

    name: str
    reason: str

    @property
    def sentence(self) -> str:
        """Name and reason as a sentence."""
        return tr("{name}: {reason}.").format(name=self.name, reason=self.reason)


@dataclass(frozen=True)
class ComparedDataset:
    """A dataset of a comparison, with the part and queries from which the values of the methods come.

    Attributes
    ----------
    name : str
    scope : str
        Source of the values: "test, 5 folds, 157 queries".
    part : str
        Key of the part: "test".
    convention : str
        Key of the convention of the measures.
    """

    name: str
    scope: str
    part: str
    convention: str


@dataclass(frozen=True, eq=False)
class MethodTable:
    """The value of a measure for each method on each dataset.

    Attributes
    ----------
    measure : str
    methods : tuple of str
        Names of the methods, all different.
    datasets : tuple of ComparedDataset
    values : ndarray of shape (n_datasets, n_methods)
        Means over the queries that all runs on a dataset have values for.
    left_out : tuple of Exclusion
    """

    measure: str
    methods: tuple[str, ...]
    datasets: tuple[ComparedDataset, ...]
    values: Floats
    left_out: tuple[Exclusion, ...] = ()


def candidate_runs(sources: Sequence[ReportSource]) -> list[CandidateRun]:
    """Return the finished runs of studies, without the numbers of sealed test parts."""
    candidates = []
    for source in sources:
        prefix = f"{source.title}: " if len(sources) > 1 else ""

        # `shown` is the source without the numbers of sealed test parts.
        for run in source.shown.runs:
            name = tr("run {number}, {title}").format(
                number=run.number, title=run.title
            )
            candidates.append(
                CandidateRun(f"{prefix}{name}", run.result, run.label.name)
            )
    return candidates


def method_table(
    candidates: Sequence[CandidateRun], measure: str = "", leave_out: Iterable[str] = ()
) -> MethodTable:
    """Return the values of all methods that have comparable runs on the same datasets.

    Parameters
    ----------
    candidates : sequence of CandidateRun
        Finished runs on several datasets; those that cannot be compared
        are listed in the result with a reason.
    measure : str
        Name of the measure; by default the selection criterion of the first run.
    leave_out : iterable of str
        Names of methods and datasets that are not to be compared.

    Raises
    ------
    PlanError
        If there are no two methods with runs on the same two datasets.
    ParameterError
        For a name to leave out that no method and no dataset has.
    """
    from rankstudio.engine.analysis.comparisons.significance import comparing_measure  # noqa: PLC0415 - numba

    measure = measure or next(
        (comparing_measure(run.result.plan) for run in candidates), ""
    )

    # Filled by the functions below: what is not compared, with the reasons.
    left_out: list[Exclusion] = []
    groups = _chosen_groups(_with_measure(candidates, measure, left_out), left_out)

    # If the methods differ only in the selection criterion, it makes no new method.
    key_of = (
        _method_key
        if _only_criteria_differ(groups.values())
        else _method_key_without_criterion
    )
    names = _method_names([run for group in groups.values() for run in group], key_of)

    # the run of each method, by dataset and name of the method
    cells = {
        data: _runs_by_method(
            data, {run: names[key_of(run)] for run in group}, left_out
        )
        for data, group in groups.items()
    }
    _drop_unwanted(cells, tuple(leave_out), left_out)
    _drop_incomplete(cells, left_out)
    datasets = list(cells)
    methods = list(next(iter(cells.values()), {}))
    if len(datasets) < 2 or len(methods) < 2:
        text = tr(
            "Ranking methods needs at least two of them with comparable runs on the same two datasets."
        )
        raise PlanError(" ".join([text, *(entry.sentence for entry in left_out)]))

    # The datasets, each described by its first run, and the mean of
    # each method on each of them.
    return MethodTable(
        measure,
        tuple(methods),
        tuple(
            _dataset(data, next(iter(cells[data].values())).result) for data in datasets
        ),
        np.array(
            [
                _means([cells[data][name].result for name in methods], measure)
                for data in datasets
            ]
        ),
        tuple(left_out),
    )


def _with_measure(
    candidates: Sequence[CandidateRun], measure: str, left_out: list[Exclusion]
) -> list[CandidateRun]:
    """Return the runs with values of a measure for each query; the others are added to ``left_out``.

    Runs that may not be compared with any other stay, because their reason says more.
    """
    measured_runs = []
    for run in candidates:
        result = run.result

        # Unfinished runs, and those not measured on held-out documents,
        # may not be compared.
        if not result.complete or not result.part.is_estimate:
            measured_runs.append(run)
        elif not result.has_per_query(measure):
            reason = tr("has no values of {measure} for each query").format(
                measure=measure
            )
            left_out.append(Exclusion(_run_on_data(run), reason))
        elif np.isnan(result.per_query(measure)).all():
            reason = tr("{measure} is not defined in any query").format(measure=measure)
            left_out.append(Exclusion(_run_on_data(run), reason))
        else:
            measured_runs.append(run)
    return measured_runs


def _run_on_data(run: CandidateRun) -> str:
    """Return a run with its dataset, for sentences."""
    return tr("{run} on {data}").format(run=run.name, data=run.result.data_name)


def _chosen_groups(
    candidates: Sequence[CandidateRun], left_out: list[Exclusion]
) -> dict[str, list[CandidateRun]]:
    """Return the runs to compare on each dataset, by the dataset's name: the group with the most methods.

    A group has runs that can be compared with each other, for instance
    with the same folds. All other runs are added to ``left_out``. Data
    that occur under several names count once.
    """
    by_data = grouped(
        comparable_groups({index: run.result for index, run in enumerate(candidates)}),
        lambda group: group.key.data_name,
    )
    chosen: dict[str, list[CandidateRun]] = {}
    names_by_digest: dict[str, str] = {}
    for data, groups in by_data.items():
        # `unranked` says why the runs of a group may not be compared, or is "".
        ranked = [group for group in groups if not group.unranked]
        largest = max(ranked, key=_n_methods, default=None)
        for group in groups:
            if group is not largest:
                reason = (
                    group.unranked
                    or comparable(_first_run(group), _first_run(largest)).reason
                )
                left_out += [
                    Exclusion(_run_on_data(candidates[index]), reason)
                    for index in group.runs
                ]
        if largest is None:
            continue

        # Data with the same digest are the same; "" says nothing.
        digest = largest.key.data_digest
        first_name = names_by_digest.setdefault(digest, data) if digest else data
        if first_name != data:
            left_out.append(
                Exclusion(data, tr("the same data as {other}").format(other=first_name))
            )
            continue
        chosen[data] = [candidates[index] for index in largest.runs]
    return chosen


def _first_run(group: ComparableGroup[int] | None) -> RunResult:
    """Return the first run of a group, which must not be None."""
    assert group is not None
    return next(iter(group.runs.values()))


def _n_methods(group: ComparableGroup[int]) -> int:
    """Return the number of different methods of a group."""
    return len({_identity(run.plan) for run in group.runs.values()})


def _identity(plan: Plan, *, has_criterion: bool = True) -> str:
    """Return a text that is the same for plans of the same method, whatever their data.

    With ``has_criterion``, the selection criterion counts as part of the method.
    """
    # The plan without settings that have no effect; then without those
    # of the data and of files.
    counting = counting_plan(plan)
    values = plan_as_dict(counting)
    ignored = (*_OF_THE_DATA, *_OF_FILES, *(() if has_criterion else ("select_by",)))
    settings = {
        name: setting for name, setting in values.items() if name not in ignored
    }

    # Their files and ids differ between datasets: only whether there are any counts.
    settings |= {name: True for name in ("preferences", "groups") if name in settings}
    return json.dumps([plan.title, settings], sort_keys=True, default=str)


def _only_criteria_differ(groups: Iterable[Sequence[CandidateRun]]) -> bool:
    """Return whether some methods of a dataset differ in nothing but the selection criterion.

    ``groups`` has the runs of each dataset. If no methods differ only
    in the criterion, the criterion makes no other method, because its
    default depends on the data.
    """
    return any(
        len({_method_key(run) for run in group})
        > len({_method_key_without_criterion(run) for run in group})
        for group in groups
    )


def _method_names(
    runs: Sequence[CandidateRun], key_of: Callable[[CandidateRun], str]
) -> dict[str, str]:
    """Return the name of the method of each run, by its key; all names are different.

    ``key_of`` returns the same key for runs of the same method. Methods
    with the same title also have what they differ in, and a number if
    that is not enough.
    """
    plans: dict[str, Plan] = {}
    titles: dict[str, str] = {}
    for run in runs:
        key = key_of(run)
        plans.setdefault(key, run.result.plan)
        titles.setdefault(key, run.method or run.result.plan.title)
    keys = list(plans)

    # For each index, the parameters in which the plan differs, as a text.
    differing = distinctions({index: plans[key] for index, key in enumerate(keys)})
    names: dict[str, str] = {}
    for index, key in enumerate(keys):
        is_shared = list(titles.values()).count(titles[key]) > 1
        name = " · ".join(
            filter(None, [titles[key], differing[index] if is_shared else ""])
        )

        # If n other methods have this name, it gets the number n + 1.
        n_equal = sum(
            other == name or other.startswith(f"{name} (") for other in names.values()
        )
        names[key] = f"{name} ({n_equal + 1})" if n_equal else name
    return names


def _method_key(run: CandidateRun) -> str:
    """Return the user's name for the method of a run, or else the identity of its plan.

    The selection criterion is part of the identity.
    """
    return json.dumps(run.method) if run.method else _identity(run.result.plan)


def _method_key_without_criterion(run: CandidateRun) -> str:
    """Return the user's name for the method of a run, or else the identity of its plan.

    Plans that differ only in the selection criterion have the same identity.
    """
    return (
        json.dumps(run.method)
        if run.method
        else _identity(run.result.plan, has_criterion=False)
    )


def _runs_by_method(
    data: str, names: Mapping[CandidateRun, str], left_out: list[Exclusion]
) -> dict[str, CandidateRun]:
    """Return the first run of each method on a dataset, by the method's name.

    ``names`` has the name of the method of each run. Later runs of a
    method are added to ``left_out``.
    """
    by_method: dict[str, CandidateRun] = {}
    for run, name in names.items():
        first = by_method.setdefault(name, run)
        if first is not run:
            reason = tr("the same method as {run}, which counts").format(run=first.name)
            left_out.append(Exclusion(_run_on_data(run), reason))
    return by_method


_Cells = dict[str, dict[str, CandidateRun]]
"""Runs by dataset and method."""


def _drop_unwanted(
    cells: _Cells, unwanted: Sequence[str], left_out: list[Exclusion]
) -> None:
    """Remove methods and datasets from ``cells``, and add them to ``left_out``.

    ``cells`` has the runs by dataset and method. ``unwanted`` has names
    of methods and datasets. Raise ParameterError for an unknown name.
    """
    methods = {name: None for runs in cells.values() for name in runs}
    for name in dict.fromkeys(unwanted):
        if name not in methods and name not in cells:
            raise ParameterError(
                "leave-out", name, ", ".join((*cells, *methods)) or "–"
            )
        cells.pop(name, None)
        for runs in cells.values():
            runs.pop(name, None)
        left_out.append(Exclusion(name, tr("left out on request")))


def _drop_incomplete(cells: _Cells, left_out: list[Exclusion]) -> None:
    """Remove datasets with a single method, then methods without a run on each of the other datasets.

    ``cells`` has the runs by dataset and method. What is removed from
    it is added to ``left_out`` with a reason. The methods of each
    dataset are then in the same order.
    """
    # The datasets are listed first, since the dict changes in the loop.
    for data in [data for data, runs in cells.items() if len(runs) < 2]:
        runs = cells.pop(data)
        reason = tr("only {method} has a comparable run").format(
            method=next(iter(runs))
        )
        left_out.append(
            Exclusion(data, reason if runs else tr("no method has a comparable run"))
        )
    methods = dict.fromkeys(name for runs in cells.values() for name in runs)
    order = list(methods)
    for name in order:
        missing = [data for data, runs in cells.items() if name not in runs]
        if missing:
            for runs in cells.values():
                runs.pop(name, None)
            text = tr("no comparable run on {data}")
            left_out.append(Exclusion(name, text.format(data=_listed(missing))))
    for data, runs in cells.items():
        cells[data] = {name: runs[name] for name in order if name in runs}


def _listed(names: Sequence[str]) -> str:
    """Return names as an enumeration; of many, the first ones and the number of the others."""
    if len(names) <= _MAX_LISTED:
        return ", ".join(names)
    text = tr("{names} and {n} more")
    return text.format(names=", ".join(names[:_MAX_LISTED]), n=len(names) - _MAX_LISTED)


def _dataset(name: str, run: RunResult) -> ComparedDataset:
    """Return a dataset with the scope, part and convention of one of its runs."""
    (group,) = comparable_groups({0: run})
    return ComparedDataset(
        name, group.scope, group.key.part.value, group.key.convention
    )


def _means(runs: Sequence[RunResult], measure: str) -> list[float]:
    """Return the mean of a measure for each run, over the queries in which all runs have values.

    Queries without a value, such as those without a pair of the
    disagreement error, are undefined for every run alike. If there is
    no common query, each run has the mean of its own queries.
    """
    values = np.array([run.per_query(measure) for run in runs])  # (runs, queries)
    common = ~np.isnan(values).any(axis=0)
    means: list[float] = (
        values[:, common].mean(axis=1) if common.any() else np.nanmean(values, 1)
    ).tolist()
    return means
