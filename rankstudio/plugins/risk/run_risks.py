"""The risk of comparable runs: against the baseline run of their group, and among all runs of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from rankstudio.engine.analysis.comparisons.comparability import (
    ComparableGroup,
    comparable_groups,
)
from rankstudio.engine.analysis.comparisons.significance import (
    check_reference,
    comparing_measure,
    reference_position,
)
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.names import measure as measure_of
from rankstudio.engine.statistics.risk import (
    ALPHA,
    BaselineRisk,
    baseline_risk,
    checked_alpha,
    geo_risks,
)


@dataclass(frozen=True)
class RunRisk:
    """Risk of a run in comparison with the other runs of its group.

    Attributes
    ----------
    number : int
    title : str
    mean : float
        Mean of the measure over the queries in which all runs of the group have values.
    risk : BaselineRisk or None
        Risk against the baseline; None for the baseline itself.
    georisk : float
        GeoRisk of the run in its group; NaN if the measure has no GeoRisk.
    """

    number: int
    title: str
    mean: float
    risk: BaselineRisk | None
    georisk: float


@dataclass(frozen=True, eq=False)
class GroupRisk:
    """Risk of the runs of a group of comparable runs, by one measure.

    Attributes
    ----------
    group : ComparableGroup of int
        The runs, by number; also those that are left out.
    measure : str
    alpha : float
        Risk aversion.
    baseline : int or None
        Number of the baseline run; None if no two runs of the group can be compared.
    runs : tuple of RunRisk
        Risk of each run, the baseline first; empty without a baseline.
    n_queries : int
        Number of queries in which all runs have values.
    notes : tuple of str
        Sentences on runs that are left out, and on what the measure does not have.
    """

    group: ComparableGroup[int]
    measure: str
    alpha: float
    baseline: int | None
    runs: tuple[RunRisk, ...]
    n_queries: int
    notes: tuple[str, ...] = ()

    @property
    def baseline_name(self) -> str:
        """Number and title of the baseline: "run 3, GAS"; "" without one."""
        return (
            run_name(self.runs[0].number, self.runs[0].title)
            if self.baseline is not None
            else ""
        )


def run_name(number: int, title: str) -> str:
    """Return a run in sentences: "run 3, GAS"."""
    return tr("run {number}, {title}").format(number=number, title=title)


def run_risks(
    runs: Sequence[RunResult],
    measure: str = "",
    *,
    baseline: int | str | None = None,
    alpha: float = ALPHA,
) -> tuple[GroupRisk, ...]:
    r"""Return URisk, TRisk and GeoRisk of finished runs, group by group of comparable runs.

    Parameters
    ----------
    runs : sequence of RunResult
        Their numbers count from 1.
    measure : str, optional
        Name of the measure; by default the selection criterion of the first run.
    baseline : int or str, optional
        Baseline run of its group: its number, or the key of its method,
        "gas", or of method and ranker, "gas/ranksvm". By default, and
        in groups without it, the run with the best average.
    alpha : float, default 1
        Risk aversion: a loss counts 1 + alpha times as much as a gain.

    Returns
    -------
    tuple of GroupRisk
        One per group; runs of different data, folds, parts or
        conventions are never compared.

    Raises
    ------
    PlanError
        If there is no run, or the baseline does not exist.
    ParameterError
        For an alpha that is negative or not finite, or an unknown measure.

    Notes
    -----
    The equations are those of :mod:`rankstudio.engine.statistics.risk`.
    GeoRisk compares a run with all runs of its group, the baseline
    included, so it changes when a run is added. It needs a measure that
    is never negative and of which more is better.
    """
    numbered = dict(enumerate(runs, start=1))
    titles = {number: run.plan.title for number, run in numbered.items()}
    return risks_of_groups(numbered, titles, measure, baseline=baseline, alpha=alpha)


def risks_of_groups(
    runs: Mapping[int, RunResult],
    titles: Mapping[int, str],
    measure: str = "",
    *,
    baseline: int | str | None = None,
    alpha: float = ALPHA,
) -> tuple[GroupRisk, ...]:
    """Return the risks of finished runs, one result per group of comparable runs.

    ``runs`` and their ``titles`` are by the number of the run.
    ``measure`` is "" for the selection criterion of the first run.
    ``baseline`` is a run's number or a method's key, None for the run
    with the best average. ``alpha`` is the risk aversion: a loss counts
    1 + alpha times as much as a gain. Raises a PlanError without runs,
    and a ParameterError for an invalid argument.
    """
    if not runs:
        raise PlanError(tr("No runs to compare: expected a completed run, found none."))
    check_reference(runs, baseline)  # called for its error only
    alpha = checked_alpha(alpha)
    first_plan = next(iter(runs.values())).plan
    name = measure_of(measure).name if measure else comparing_measure(first_plan)
    return tuple(
        group_risk(group, titles, name, baseline=baseline, alpha=alpha)
        for group in comparable_groups(runs)
    )


def group_risk(
    group: ComparableGroup[int],
    titles: Mapping[int, str],
    name: str,
    *,
    baseline: int | str | None,
    alpha: float,
) -> GroupRisk:
    """Return the risks of the runs of one group of comparable runs, or why there are none.

    Parameters
    ----------
    group : ComparableGroup of int
    titles : Mapping of int to str
        Titles of the runs, by number.
    name : str
        Name of the measure.
    baseline : int, str or None
        Baseline run: its number, or the key of its method; None for the
        run with the best average.
    alpha : float
        Risk aversion: a loss counts 1 + alpha times as much as a gain.
    """
    # Runs without values in each query are left out.
    measured = {key: run for key, run in group.runs.items() if run.has_per_query(name)}
    text = tr("Left out: {run}, as {measure} was not measured.")
    left_out = [
        text.format(run=run_name(key, titles[key]), measure=name)
        for key in group.runs
        if key not in measured
    ]

    # The position of the baseline; None for a single run, for runs that
    # must not be ranked, and if no run is the best.
    reason = _why_no_risk(group, len(measured))
    position = None if reason else reference_position(measured, name, baseline)
    if position is None:
        reason = reason or tr("Not compared: {measure} is not defined in any query.")
        notes = (reason.format(measure=name), *left_out)

        # No baseline, no risks of runs, and 0 queries compared.
        return GroupRisk(group, name, alpha, None, (), 0, notes)

    # Values by query and run, in the queries in which all runs have some.
    table = np.column_stack([run.per_query(name) for run in measured.values()])
    table = table[~np.isnan(table).any(axis=1)]
    why_no_georisk = _why_no_georisk(table, name)
    return GroupRisk(
        group=group,
        measure=name,
        alpha=alpha,
        baseline=list(measured)[position],
        runs=_risks(table, list(measured), titles, name, position, alpha),
        n_queries=len(table),
        notes=tuple(filter(None, [why_no_georisk, *left_out])),
    )


def _risks(
    table: Floats,
    numbers: Sequence[int],
    titles: Mapping[int, str],
    name: str,
    baseline: int,
    alpha: float,
) -> tuple[RunRisk, ...]:
    """Return the risk of each run of a group, that of the baseline first.

    Parameters
    ----------
    table : ndarray of shape (n_queries, n_runs)
        Values of the measure in each query by each run.
    numbers : sequence of int
        Numbers of the runs, in the order of the columns.
    titles : Mapping of int to str
        Titles of the runs, by number.
    name : str
        Name of the measure.
    baseline : int
        Position of the baseline among the runs.
    alpha : float
        Risk aversion.
    """
    # GeoRisk of all runs, if the measure has one.
    has_georisk = not _why_no_georisk(table, name)
    georisks = geo_risks(table, alpha) if has_georisk else np.full(len(numbers), nan)

    # The baseline first, then the others in their order.
    order = sorted(range(len(numbers)), key=lambda column: column != baseline)
    rows = []
    for column in order:
        number = numbers[column]
        risk = baseline_risk(
            table[:, column],
            table[:, baseline],
            alpha,
            higher_is_better=measure_of(name).higher_is_better,
        )
        row = RunRisk(
            number=number,
            title=titles[number],
            mean=float(table[:, column].mean()) if len(table) else nan,
            risk=None if column == baseline else risk,
            georisk=float(georisks[column]),
        )
        rows.append(row)
    return tuple(rows)


def _why_no_risk(group: ComparableGroup[int], n_measured: int) -> str:
    """Return why the runs of a group have no risk, as a sentence; "" if they have."""
    if group.unranked:
        return tr("Not compared: {reason}.").format(reason=group.unranked)
    if n_measured < 2:
        return tr("Not compared: there are no two comparable runs with this measure.")
    return ""


def _why_no_georisk(table: Floats, name: str) -> str:
    """Return why the values (n_queries, n_runs) of a measure have no GeoRisk, as a sentence; "" if they have."""
    if not len(table):
        text = tr("In every query, {measure} is undefined for at least one run.")
        return text.format(measure=name)
    if not measure_of(name).higher_is_better:
        return tr("No GeoRisk: for {measure}, smaller values are better.").format(
            measure=name
        )
    if (table < 0).any():
        return tr("No GeoRisk: {measure} has negative values.").format(measure=name)
    return ""
