"""Paired significance tests of finished runs on the same queries, for the window and the terminal alike.

With the tests that are one family for Holm's correction, and the runs that are one and the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.experiment.plan.difference import differences, only_pins_differ, pins_of
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan, counting_plan
from rankstudio.engine.experiment.plan.protocol import GIVEN, LEAVE_QUERY_OUT
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.language import tr, trn
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.paired import PairedComparison, compare_paired, holm

_NOT_COMPARED = ("data", "folds", "measures")  # where the data lie, and what else is reported


def first_equals(runs: Sequence[RunResult]) -> list[int]:
    """Return for each run the position of the first one that it repeats: its own where it repeats none.

    A run repeats another one of the same plan on data of the same name whose models have the same features
    and measured the same, bit for bit; wherever the data lie, whichever measures are reported, and whatever
    the parameters that do not count, such as the λ of a model that another method's takes the place of.
    """
    firsts: list[int] = []
    for position, run in enumerate(runs):
        earlier = (at for at in dict.fromkeys(firsts) if repeats(run, runs[at]))
        firsts.append(next(earlier, position))
    return firsts


def repeats(run: RunResult, other: RunResult) -> bool:
    """Return whether two runs are one and the same; see :func:`first_equals`."""
    return run is other or (
        run.data_name == other.data_name
        and len(run.folds) == len(other.folds)
        and _counting(run.plan) == _counting(other.plan)
        and all(_same(*pair) for pair in zip(run.folds, other.folds, strict=True))
    )


def _counting(plan: Plan) -> list[Any]:
    counting = counting_plan(plan)
    return [getattr(counting, field.name) for field in fields(plan) if field.name not in _NOT_COMPARED]


def _same(fold: FoldResult, other: FoldResult) -> bool:
    """Return whether the models of two folds are the same, by what both have been measured by."""
    queries = fold.per_query.keys() & other.per_query.keys()
    return (
        (fold.fold, fold.selected) == (other.fold, other.selected)
        and np.array_equal(fold.chosen.step.coef, other.chosen.step.coef, equal_nan=True)
        and _same_measures(fold.validation, other.validation)
        and _same_measures(fold.test, other.test)
        and all(
            np.array_equal(fold.per_query[name], other.per_query[name], equal_nan=True) for name in queries
        )
    )


def _same_measures(values: Mapping[str, float], others: Mapping[str, float]) -> bool:
    shared = sorted(values.keys() & others.keys())
    own, theirs = (np.array([one[name] for name in shared]) for one in (values, others))
    return np.array_equal(own, theirs, equal_nan=True)


_CORRECTED = "p_randomisation", "p_t", "p_wilcoxon"


@dataclass(frozen=True)
class CorrectedTest:
    """What the queries say of one run against another.

    Attributes
    ----------
    test : PairedComparison
        The run minus the other.
    p_holm, p_t_holm, p_wilcoxon_holm : float
        The p of the randomisation test, of Student's t and of Wilcoxon's signed ranks, each corrected by
        Holm for the family.
    """

    test: PairedComparison
    p_holm: float
    p_t_holm: float
    p_wilcoxon_holm: float


def family(found: Sequence[PairedComparison]) -> list[CorrectedTest]:
    """Correct each test's p of all comparisons by Holm, as one family.

    A family is all that one table tests together by one measure: every run that can be paired with the
    reference, each once. Every pair of a table of pins is one family as well. Of runs that repeat another
    one, see `rankstudio.engine.analysis.significance`, only the first counts, and none
    that repeats the reference: :func:`distinct_family`.
    """
    corrected = [holm([getattr(one, name) for one in found]).tolist() for name in _CORRECTED]
    return [CorrectedTest(*those) for those in zip(found, *corrected, strict=True)]


def distinct_family(
    found: Sequence[PairedComparison], pairs: Sequence[tuple[int, int]]
) -> list[CorrectedTest]:
    """Correct comparisons as one family in which equal pairs of runs count once.

    Parameters
    ----------
    found : sequence of PairedComparison
    pairs : sequence of pairs of int
        Of each comparison, which runs it is of; of those that repeat another one, the other.

    Returns
    -------
    list of CorrectedTest
        One for each comparison; where both runs are the same there is nothing to correct.
    """
    places = {pair: place for place, pair in reversed(list(enumerate(pairs))) if pair[0] != pair[1]}
    corrected = dict(zip(places, family([found[place] for place in places.values()]), strict=True))
    return [
        corrected.get(pair) or CorrectedTest(test, *(getattr(test, name) for name in _CORRECTED))
        for pair, test in zip(pairs, found, strict=True)
    ]


ALPHA = 0.05
"""Below which corrected p a difference is called significant."""

Role = Literal["reference", "compared", "waiting", "left out"]

_FEW = 10  # folds, of which the numbers are told


@dataclass(frozen=True)
class ComparedRun:
    """One run beside the reference, as a row of a table that may still be growing.

    Attributes
    ----------
    key : int
        The run's number.
    method : str
    role : {"reference", "compared", "waiting", "left out"}
        What it is here; one that waits is being compared.
    differs : str
        In what it differs from the reference, or why it is left out.
    mean : float or None
        Of the measure over the folds.
    found : PairedComparison or None
    p_holm, p_t_holm, p_wilcoxon_holm : float or None
        As in :class:`CorrectedTest`; None until the whole family is compared.
    """

    key: int
    method: str
    role: Role
    differs: str = ""
    mean: float | None = None
    found: PairedComparison | None = None
    p_holm: float | None = None
    p_t_holm: float | None = None
    p_wilcoxon_holm: float | None = None


@dataclass(frozen=True, eq=False)
class RunComparison:
    """Runs on one dataset against one of them.

    Attributes
    ----------
    data : str
        The dataset's name.
    measure : str
        What they are compared by.
    runs : tuple of RunResult
    reference : int
        The position among the runs of the one that the others are compared with.
    tests : tuple of CorrectedTest or None
        One a run; None for the reference.
    """

    data: str
    measure: str
    runs: tuple[RunResult, ...]
    reference: int
    tests: tuple[CorrectedTest | None, ...]

    @property
    def n_queries(self) -> int:
        """How many queries the tests are over."""
        return self.runs[0].per_query(self.measure).size


@dataclass(frozen=True, eq=False)
class PinEffect:
    """A run compared with another one that differs in nothing but what is pinned and banned.

    Attributes
    ----------
    run, other : int
        Their positions among the runs.
    tested : CorrectedTest
        The run minus the other.
    """

    run: int
    other: int
    tested: CorrectedTest


def why_unpaired(run: RunResult, reference: RunResult, name: str) -> str:
    """Return why two runs cannot be compared query by query: "on MQ2007, not on MQ2008".

    Parameters
    ----------
    run, reference : RunResult
    name : str
        Of the measure.

    Returns
    -------
    str
        Half a sentence about the first run; "" where its values stand in the same queries as the other's.
    """
    plan, other = run.plan, reference.plan
    if run.data_name != reference.data_name:
        return tr("on {one}, not on {other}").format(one=run.data_name, other=reference.data_name)
    if plan.convention != other.convention:
        labels = convention(plan.convention).label, convention(other.convention).label
        return tr("measured by the convention {one}, not {other}").format(one=labels[0], other=labels[1])
    if not run.folds or any(name not in fold.per_query for fold in run.folds):
        return tr("{name} was not measured").format(name=name)
    if _dealt(plan) != _dealt(other):
        return tr("different folds: {one}, not {other}").format(one=_dealt(plan), other=_dealt(other))
    if _numbers(run) != _numbers(reference):
        return tr("on {one}, not on {other}").format(
            one=_listed(_numbers(run)), other=_listed(_numbers(reference))
        )
    for fold, beside in zip(run.folds, reference.folds, strict=True):
        own, others = fold.per_query[name].size, beside.per_query.get(name, fold.per_query[name]).size
        if own != others:
            text = tr("fold {fold} has {own} queries, not {others}")
            return text.format(fold=fold.fold, own=own, others=others)
    return ""


def compare_with(run: RunResult, reference: RunResult, name: str, seed: int = 0) -> PairedComparison:
    """Compare two runs that can be paired by all their queries, as :func:`compare_paired` does."""
    better = measure(name).higher_is_better
    return compare_paired(run.per_query(name), reference.per_query(name), seed=seed, higher_is_better=better)


def best_run(runs: Sequence[RunResult], name: str) -> RunResult | None:
    """Return the run with the best average of a measure, the first of equal ones; None without any."""
    measured = [run for run in runs if name in run.average]
    sign = 1.0 if measure(name).higher_is_better else -1.0
    return max(measured, key=lambda run: sign * run.average[name], default=None)


def compared_runs(
    runs: Mapping[int, RunResult], reference: int, name: str, found: Mapping[int, PairedComparison]
) -> list[ComparedRun]:
    """Return a row for each run: the reference first, then those compared, then those left out.

    Parameters
    ----------
    runs : Mapping of int to RunResult
        Finished ones, by their numbers.
    reference : int
        Number of the one to compare with.
    name : str
        Of the measure.
    found : Mapping of int to PairedComparison
        The comparisons that are done, by the run's number.
    """
    against = runs[reference]
    why = {key: why_unpaired(run, against, name) for key, run in runs.items()}
    others = [key for key in runs if key != reference and not why[key]]
    whole = all(key in found for key in others)
    tested = dict(zip(others, _corrected(runs, reference, others, found), strict=True)) if whole else {}
    rows = [ComparedRun(reference, against.plan.title, "reference", mean=against.average.get(name))]
    for key in others:
        run, test = runs[key], found.get(key)
        role: Role = "compared" if test else "waiting"
        p = _p_values(tested.get(key))
        said, mean = _what_differs(run, against), run.average[name]
        rows.append(ComparedRun(key, run.plan.title, role, said, mean, test, *p))
    left = [
        ComparedRun(k, runs[k].plan.title, "left out", tr("left out: {why}").format(why=w))
        for k, w in why.items()
        if w and k != reference
    ]
    return rows + left


def _p_values(tested: CorrectedTest | None) -> tuple[float | None, ...]:
    return (tested.p_holm, tested.p_t_holm, tested.p_wilcoxon_holm) if tested else (None, None, None)


def _corrected(
    runs: Mapping[int, RunResult],
    reference: int,
    others: Sequence[int],
    found: Mapping[int, PairedComparison],
) -> list[CorrectedTest]:
    """Return the corrected comparisons of runs with the reference."""
    at, *firsts = first_equals([runs[key] for key in (reference, *others)])
    return distinct_family([found[key] for key in others], [(first, at) for first in firsts])


def by_dataset(runs: Sequence[RunResult]) -> dict[str, list[RunResult]]:
    """Return the runs by the name of their dataset, in the order in which these first occur."""
    found: dict[str, list[RunResult]] = {}
    for result in runs:
        found.setdefault(result.data_name, []).append(result)
    return found


def compare_runs(
    runs: Sequence[RunResult], name: str | None = None, against: int | str | None = None, seed: int = 0
) -> RunComparison:
    """Compare runs on one dataset with one of them, query by query.

    Parameters
    ----------
    runs : sequence of RunResult
        Complete ones, on the same data.
    name : str, optional
        The measure; by default what chose in the first run, or the first one reported.
    against : int or str, optional
        Number of the run to compare with, from 1, or its method's key, "gas", or that and its ranker's,
        "gas/ranksvm". By default the one with the best average.
    seed : int, default 0
        Of the randomisation and the bootstrap.

    Raises
    ------
    PlanError
        Where there are fewer than two runs, their queries cannot be paired, their measures follow different
        conventions, one was not measured by this measure, or no run is the one named.
    """
    if len(runs) < 2:
        raise PlanError(f"Too few runs to compare: expected two completed runs, found {len(runs)}.")
    name = measure(name).name if name else comparing_measure(runs[0].plan)
    for number, result in enumerate(runs, start=1):
        why = why_unpaired(result, runs[0], name)
        if why:
            fault = f"cannot be compared with run 1: {why}" if number > 1 else f"was {why}"
            raise PlanError(f"Run {number}, {result.plan.title}, {fault}.")
    reference = _reference(runs, name, against)
    others = [(position, reference) for position in range(len(runs)) if position != reference]
    tests: list[CorrectedTest | None] = [*_test(runs, others, name, seed)]
    tests.insert(reference, None)
    return RunComparison(runs[0].data_name, name, tuple(runs), reference, tuple(tests))


def pin_effects(runs: Sequence[RunResult], name: str, seed: int = 0) -> tuple[PinEffect, ...]:
    """Compare every run with pinned or banned features with one without, else with an earlier one.

    Parameters
    ----------
    runs : sequence of RunResult
        Those that :func:`compare_runs` compared.
    name : str
        The measure.
    seed : int, default 0
        Of the randomisation and the bootstrap.

    Returns
    -------
    tuple of PinEffect
        One for each run that has such a partner; their p are corrected for as many.
    """
    plans = [result.plan for result in runs]
    pairs = []
    for run, plan in enumerate(plans):
        alike = [o for o, other in enumerate(plans) if only_pins_differ(plan, other)]
        partners = [o for o in alike if not pins_of(plans[o])] or [o for o in alike if o < run]
        if pins_of(plan) and partners:
            pairs.append((run, partners[0]))
    tested = _test(runs, pairs, name, seed)
    return tuple(PinEffect(*pair, found) for pair, found in zip(pairs, tested, strict=True))


def _test(
    runs: Sequence[RunResult], pairs: Sequence[tuple[int, int]], name: str, seed: int
) -> list[CorrectedTest]:
    """Test pairs of runs, by their positions, as one family."""
    firsts = first_equals(runs)
    found = [compare_with(runs[one], runs[other], name, seed) for one, other in pairs]
    return distinct_family(found, [(firsts[one], firsts[other]) for one, other in pairs])


def comparing_measure(plan: Plan, name: str = "") -> str:
    """Return the measure that runs are compared by: the one asked for, else what chose in this one."""
    asked = name if name in plan.evaluated else plan.chosen_by
    return asked if asked != CRITERION else plan.measures[0]


def _reference(runs: Sequence[RunResult], name: str, against: int | str | None) -> int:
    """Return the position of the run that the others are compared with."""
    if against is None:
        best = best_run(runs, name)
        return next(position for position, result in enumerate(runs) if result is best)
    if isinstance(against, int):
        if not 1 <= against <= len(runs):
            raise PlanError(f"against: expected a run number from 1 to {len(runs)}, got {against}.")
        return against - 1
    return named([result.plan for result in runs], against)


def named(plans: Sequence[Plan], name: str) -> int:
    """Return the position of the plan that a name such as "gas" or "gas/ranksvm" means.

    "gas" alone means GAS's own model where that is run, else the first one with a ranker.

    Raises
    ------
    PlanError
        Where there is none.
    """
    meant = [position for position, plan in enumerate(plans) if is_named(plan, name)]
    if not meant:
        there = dict.fromkeys("/".join(filter(None, (plan.method, plan.ranker))) for plan in plans)
        raise PlanError(f"against: expected one of {', '.join(there)}, got {shown(name)}.")
    return min(meant, key=lambda position: bool(plans[position].ranker))


def is_named(plan: Plan, name: str) -> bool:
    """Return whether a name means this plan, or may mean it; see :func:`named`."""
    key, _, ranker = name.partition("/")
    return plan.method == key and ranker in ("", plan.ranker)


def _what_differs(run: RunResult, reference: RunResult) -> str:
    """Return what differs; where that is pins alone, the difference is their effect, and is called so."""
    names = dict(zip(run.feature_ids.tolist(), run.feature_names, strict=True))
    text = " · ".join(differences(run.plan, reference.plan, names))
    if only_pins_differ(run.plan, reference.plan):
        return tr("effect of pins: {text}").format(text=text)
    return text or tr("no difference")


def _dealt(plan: Plan) -> str:
    """Return how the folds came about."""
    if plan.protocol == GIVEN:
        return tr("as in the files")
    if plan.protocol == LEAVE_QUERY_OUT:
        return plan.protocol
    return tr("{protocol}, seed {seed}").format(protocol=plan.protocol, seed=plan.seed)


def _numbers(run: RunResult) -> tuple[int, ...]:
    return tuple(fold.fold for fold in run.folds)


def _listed(numbers: Sequence[int]) -> str:
    if len(numbers) > _FEW:
        return tr("{n} folds").format(n=len(numbers))
    text = trn("fold {numbers}", "folds {numbers}", len(numbers))
    return text.format(numbers=", ".join(map(str, numbers)))
