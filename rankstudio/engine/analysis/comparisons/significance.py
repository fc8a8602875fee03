"""Paired significance tests of finished runs on the same queries.

This module also decides which tests are one family for Holm's
correction, and which runs are identical.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from rankstudio.engine.analysis.comparisons.comparability import (
    ComparableGroup,
    comparable,
    comparable_groups,
)
from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.experiment.plan.difference import (
    differences,
    only_pins_differ,
    pins_of,
)
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan, counting_plan
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.paired import PairedComparison, compare_paired, holm

# fields of plans that may differ between identical runs
_NOT_COMPARED = ("data", "folds", "measures")


def first_equals(runs: Sequence[RunResult]) -> list[int]:
    """Return for each run the position of the first equal run; its own if there is none.

    A run is equal to another run of the same plan on data of the same
    name if the features and measures of their models are identical, bit
    for bit; the location of the data, the reported measures and unused
    parameters do not matter.
    """
    firsts: list[int] = []
    for position, run in enumerate(runs):
        earlier = (
            first for first in dict.fromkeys(firsts) if repeats(run, runs[first])
        )
        firsts.append(next(earlier, position))
    return firsts


def repeats(run: RunResult, other: RunResult) -> bool:
    """Return whether a run repeats another run, with equal results bit for bit.

    This is so if the plans agree in all that changes a model, the data
    have the same name, and the models have the same features, weights
    and measures.
    """
    return run is other or (
        run.data_name == other.data_name
        and len(run.folds) == len(other.folds)
        and _compared_fields(run.plan) == _compared_fields(other.plan)
        and all(
            _have_same_model(*pair) for pair in zip(run.folds, other.folds, strict=True)
        )
    )


def _compared_fields(plan: Plan) -> list[Any]:
    """Return the values of a plan that a run and its repetition share."""
    # Parameters without effect get their defaults, so that they do not differ.
    effective_plan = counting_plan(plan)
    return [
        getattr(effective_plan, field.name)
        for field in fields(plan)
        if field.name not in _NOT_COMPARED
    ]


def _have_same_model(fold: FoldResult, other: FoldResult) -> bool:
    """Return whether the models of two folds have equal features, weights and measures.

    Only measures that both folds have are compared.
    """
    queries = fold.per_query.keys() & other.per_query.keys()
    return (
        (fold.fold, fold.selected) == (other.fold, other.selected)
        and np.array_equal(
            fold.chosen.step.coef, other.chosen.step.coef, equal_nan=True
        )
        and _have_same_measures(fold.validation, other.validation)
        and _have_same_measures(fold.test, other.test)
        and all(
            np.array_equal(fold.per_query[name], other.per_query[name], equal_nan=True)
            for name in queries
        )
    )


def _have_same_measures(
    values: Mapping[str, float], other_values: Mapping[str, float]
) -> bool:
    """Return whether two mappings of measures have equal values; NaN equals NaN.

    Only measures that both mappings have are compared.
    """
    names = sorted(values.keys() & other_values.keys())
    measures = np.array([values[name] for name in names])
    other_measures = np.array([other_values[name] for name in names])
    return np.array_equal(measures, other_measures, equal_nan=True)


# p values of a comparison, one for each test
_P_FIELDS = "p_randomisation", "p_t", "p_wilcoxon"


@dataclass(frozen=True)
class CorrectedTest:
    """Comparison of one run with another over queries, with corrected p values.

    Attributes
    ----------
    test : PairedComparison
        Test of the difference: the run minus the other run.
    p_holm, p_t_holm, p_wilcoxon_holm : float
        p value of the randomisation test, of Student's t and of
        Wilcoxon's signed ranks, each with Holm's correction for the
        family, all comparisons of a table.
    """

    test: PairedComparison
    p_holm: float
    p_t_holm: float
    p_wilcoxon_holm: float


def family(comparisons: Sequence[PairedComparison]) -> list[CorrectedTest]:
    """Return all comparisons of a table with p values by Holm's correction.

    Each test is corrected on its own; its family contains all
    comparisons of one table by one measure, of each run that can be
    paired with the reference run. All pairs of a table of pins are also
    one family. Runs that repeat another run, or the reference, do not
    count: see :func:`first_equals` and
    :func:`distinct_family`.
    """
    corrected = [
        holm([getattr(comparison, name) for comparison in comparisons]).tolist()
        for name in _P_FIELDS
    ]
    return [CorrectedTest(*row) for row in zip(comparisons, *corrected, strict=True)]


def distinct_family(
    comparisons: Sequence[PairedComparison], pairs: Sequence[tuple[int, int]]
) -> list[CorrectedTest]:
    """Apply Holm's correction to comparisons; equal pairs of runs count once.

    Parameters
    ----------
    comparisons : sequence of PairedComparison
        Tests of a run against another run; together they are one family.
    pairs : sequence of pairs of int
        Numbers of the two runs of each comparison; for a run that
        repeats an earlier one, the number of the first.

    Returns
    -------
    list of CorrectedTest
        One per comparison; identical runs need no correction.
    """
    # Position of the first comparison of each pair of different runs:
    # in reversed order, so that it overwrites those of its repetitions.
    numbered_pairs = reversed(list(enumerate(pairs)))
    index_of_pair = {
        (run, other): index for index, (run, other) in numbered_pairs if run != other
    }
    # `family` corrects p values for the number of tests.
    tests = family([comparisons[index] for index in index_of_pair.values()])
    # The tests are in the order of the pairs.
    corrected = dict(zip(index_of_pair, tests, strict=True))
    return [
        # The test of a run against itself is not corrected: its p
        # values are used as they are.
        corrected.get(pair)
        or CorrectedTest(test, *(getattr(test, name) for name in _P_FIELDS))
        for pair, test in zip(pairs, comparisons, strict=True)
    ]


ALPHA = 0.05
"""A difference whose corrected p is below this level is called significant."""

Role = Literal["reference", "compared", "waiting", "left out"]


@dataclass(frozen=True)
class ComparedRun:
    """A row of a table that compares runs with a reference run, and may still grow.

    Attributes
    ----------
    key : int
        Number of the run.
    method : str
        Title of the method.
    role : {"reference", "compared", "waiting", "left out"}
        State of the row; a waiting row is being compared.
    differs : str
        Settings that differ from the reference run, or the reason why
        the run is left out.
    mean : float or None
        Mean of the measure over the folds.
    paired_test : PairedComparison or None
        Test against the reference run; None before it is made, or
        without a test.
    p_holm, p_t_holm, p_wilcoxon_holm : float or None
        As in :class:`CorrectedTest`; None until all runs of the table
        are compared.
    """

    key: int
    method: str
    role: Role
    differs: str = ""
    mean: float | None = None
    paired_test: PairedComparison | None = None
    p_holm: float | None = None
    p_t_holm: float | None = None
    p_wilcoxon_holm: float | None = None


@dataclass(frozen=True, eq=False)
class RunComparison:
    """Tests of the runs of a group against one of them, the reference, by a measure.

    Attributes
    ----------
    group : ComparableGroup of int
        The runs, by number.
    measure : str
        Measure of the comparison.
    reference : int or None
        Position of the reference run; None for a run without another
        one, and for runs that are not ranked.
    tests : tuple of CorrectedTest or None
        One per run; None for the reference, and for a run whose measure
        is not known in each query.
    """

    group: ComparableGroup[int]
    measure: str
    reference: int | None
    tests: tuple[CorrectedTest | None, ...]

    @property
    def data(self) -> str:
        """Name of the dataset."""
        return self.group.key.data_name

    @property
    def numbers(self) -> tuple[int, ...]:
        """Number of each run."""
        return tuple(self.group.runs)

    @property
    def runs(self) -> tuple[RunResult, ...]:
        """The runs."""
        return tuple(self.group.runs.values())

    @property
    def against(self) -> int | None:
        """Number of the reference run."""
        return None if self.reference is None else self.numbers[self.reference]

    @property
    def n_queries(self) -> int:
        """Number of queries of the tests."""
        return self.group.n_queries


@dataclass(frozen=True, eq=False)
class PinEffect:
    """Test of two runs that differ only in pinned and banned features.

    Attributes
    ----------
    run, other : int
        Positions of the two runs.
    tested : CorrectedTest
        Test of the difference: the run minus the other run.
    """

    run: int
    other: int
    tested: CorrectedTest


def why_unpaired(run: RunResult, reference: RunResult, name: str) -> str:
    """Return why two runs cannot be compared by a measure: "on MQ2007, not on MQ2008".

    Parameters
    ----------
    run, reference : RunResult
        Runs to compare.
    name : str
        Name of the measure.

    Returns
    -------
    str
        Reason, as part of a sentence about the first run; "" if the
        runs are comparable, see
        `rankstudio.engine.analysis.comparisons.comparability`, and both
        have values in each query.
    """
    comparability = comparable(run, reference)
    if not comparability.is_comparable:
        return comparability.reason
    if not run.has_per_query(name) or not reference.has_per_query(name):
        return tr("{name} was not measured").format(name=name)
    return ""


def compare_with(
    run: RunResult, reference: RunResult, name: str, seed: int = 0
) -> PairedComparison:
    """Test the difference between two runs in a measure over their queries.

    The runs must be comparable and have the measure `name` in each
    query. The result is the difference, `run` minus `reference`, with
    its p values. `seed` is that of the randomisation and the bootstrap.
    """
    better = measure(name).higher_is_better
    return compare_paired(
        run.per_query(name),
        reference.per_query(name),
        seed=seed,
        higher_is_better=better,
    )


def best_run(runs: Sequence[RunResult], name: str) -> RunResult | None:
    """Return the run with the best average of a measure, the first among ties.

    The result is None if no run has the measure, or if runs that have
    it are not comparable.
    """
    measured = [run for run in runs if name in run.average]
    if not all(comparable(run, measured[0]).is_comparable for run in measured[1:]):
        return None
    sign = 1.0 if measure(name).higher_is_better else -1.0
    return max(measured, key=lambda run: sign * run.average[name], default=None)


def compared_runs(
    runs: Mapping[int, RunResult],
    reference: int,
    name: str,
    comparisons: Mapping[int, PairedComparison],
) -> list[ComparedRun]:
    """Return a row per run for a table: the reference, compared runs, then excluded ones.

    Parameters
    ----------
    runs : Mapping of int to RunResult
        Finished runs, by number.
    reference : int
        Number of the reference run.
    name : str
        Name of the measure.
    comparisons : Mapping of int to PairedComparison
        Finished comparisons with the reference run, by run number.
    """
    # Runs with a reason other than "" cannot be paired with the reference.
    against = runs[reference]
    skip_reasons = {key: why_unpaired(run, against, name) for key, run in runs.items()}
    paired = [key for key in runs if key != reference and not skip_reasons[key]]

    # The Holm correction needs the tests of all paired runs.
    is_complete = all(key in comparisons for key in paired)
    corrected: dict[int, CorrectedTest] = {}
    if is_complete:
        tests = _corrected_tests(runs, reference, paired, comparisons)
        corrected = dict(zip(paired, tests, strict=True))

    # The reference, then a row for each paired run; a run without its test is waiting.
    rows = [
        ComparedRun(
            reference, against.plan.title, "reference", mean=against.average.get(name)
        )
    ]
    for key in paired:
        run = runs[key]
        test = comparisons.get(key)
        # Corrected p values of three tests; None while the correction is missing.
        p_holm, p_t_holm, p_wilcoxon_holm = _p_values(corrected.get(key))
        row = ComparedRun(
            key=key,
            method=run.plan.title,
            role="compared" if test else "waiting",
            # Settings that differ from the reference.
            differs=_difference_text(run, against),
            mean=run.average[name],
            paired_test=test,  # of the difference to the reference
            p_holm=p_holm,
            p_t_holm=p_t_holm,
            p_wilcoxon_holm=p_wilcoxon_holm,
        )
        rows.append(row)

    # Runs that cannot be paired, with the reason.
    excluded = [
        ComparedRun(
            key=key,
            method=runs[key].plan.title,
            role="left out",
            differs=tr("left out: {why}").format(why=reason),
        )
        for key, reason in skip_reasons.items()
        if reason and key != reference
    ]
    return rows + excluded


def _p_values(
    tested: CorrectedTest | None,
) -> tuple[float | None, float | None, float | None]:
    """Return the corrected p values of three tests: randomisation, t and Wilcoxon.

    Each is None if `tested` is None, before all tests are made.
    """
    return (
        (tested.p_holm, tested.p_t_holm, tested.p_wilcoxon_holm)
        if tested
        else (None, None, None)
    )


def _corrected_tests(
    runs: Mapping[int, RunResult],
    reference: int,
    other_keys: Sequence[int],
    comparisons: Mapping[int, PairedComparison],
) -> list[CorrectedTest]:
    """Return the tests of runs against the reference, corrected as one family.

    `runs` has the runs by number, and `reference` and `other_keys` are
    the numbers of the reference and of the runs to test. `comparisons`
    has the uncorrected test of each run by its number. Runs that repeat
    another run count once.
    """
    # For each run, the position of the first run that it repeats, or its own.
    first_of_reference, *firsts = first_equals(
        [runs[key] for key in (reference, *other_keys)]
    )
    return distinct_family(
        [comparisons[key] for key in other_keys],
        [(first, first_of_reference) for first in firsts],
    )


def compare_groups(
    runs: Mapping[int, RunResult],
    name: str | None = None,
    against: int | str | None = None,
    seed: int = 0,
) -> tuple[RunComparison, ...]:
    """Test the runs of each group of comparable runs against one of them, query by query.

    Parameters
    ----------
    runs : Mapping of int to RunResult
        Runs on one dataset, by number.
    name : str, optional
        Measure; by default the selection criterion of the first run, or
        its first reported measure.
    against : int or str, optional
        Reference run of its group: number of the run, the key of its
        method, "gas", or of method and ranker, "gas/ranksvm". By
        default, and in groups without this run, the run with the best
        average.
    seed : int, default 0
        Seed of the randomisation and the bootstrap.

    Raises
    ------
    PlanError
        If there is no run, none has the measure, or the reference run
        does not exist.
    """
    if not runs:
        raise PlanError("No runs to compare: expected a completed run, found none.")
    # The measure must be one of some run; the error names the first run.
    first_number, first = next(iter(runs.items()))
    name = measure(name).name if name else comparing_measure(first.plan)
    if not any(name in run.plan.evaluated for run in runs.values()):
        measures = ", ".join(first.plan.measures)
        text = (
            "Run {number}, {title}: {name} was not measured; its measures are {known}."
        )
        raise PlanError(
            text.format(
                number=first_number, title=first.plan.title, name=name, known=measures
            )
        )
    # Called for its error only.
    check_reference(runs, against)
    return tuple(
        _compared_with_reference(group, name, against, seed)
        for group in comparable_groups(runs)
    )


def compare_runs(
    runs: Sequence[RunResult],
    name: str | None = None,
    against: int | str | None = None,
    seed: int = 0,
) -> RunComparison:
    """Test comparable runs against one of them, the reference, query by query.

    Parameters
    ----------
    runs : sequence of RunResult
        Comparable runs; their numbers count from 1.
    name : str, optional
        Measure; by default the selection criterion of the first run, or
        its first reported measure.
    against : int or str, optional
        Reference run: number of the run, the key of its method, "gas",
        or of method and ranker, "gas/ranksvm"; by default the run with
        the best average.
    seed : int, default 0
        Seed of the randomisation and the bootstrap.

    Raises
    ------
    PlanError
        If there are fewer than two runs, runs are not comparable, a
        measure is missing, or the reference run does not exist.
    """
    if len(runs) < 2:
        raise PlanError(
            f"Too few runs to compare: expected two completed runs, found {len(runs)}."
        )
    name = measure(name).name if name else comparing_measure(runs[0].plan)
    for number, result in enumerate(runs, start=1):
        reason = why_unpaired(result, runs[0], name)
        if reason and number == 1:
            measures = ", ".join(result.plan.measures)
            raise PlanError(
                f"Run 1, {result.plan.title}: {reason}; its measures are {measures}."
            )
        if reason:
            raise PlanError(
                f"Run {number}, {result.plan.title}, cannot be compared with run 1: {reason}."
            )
    # All runs are comparable, so there is one group.
    (comparison,) = compare_groups(dict(enumerate(runs, start=1)), name, against, seed)
    return comparison


def _compared_with_reference(
    group: ComparableGroup[int], name: str, against: int | str | None, seed: int
) -> RunComparison:
    """Test the runs of a group against its reference run by a measure.

    The p values are corrected for the number of tests. `name` is the
    measure. `against` names the reference, and `seed` is that of the
    randomisation and the bootstrap.
    """
    runs = list(group.runs.values())
    reference = (
        None if group.unranked else reference_position(group.runs, name, against)
    )
    # A single run, or runs that must not be ranked, have no tests.
    if reference is None:
        return RunComparison(group, name, reference=None, tests=(None,) * len(runs))
    pairs = [
        (position, reference)
        for position, run in enumerate(runs)
        if position != reference
        and run.has_per_query(name)
        and runs[reference].has_per_query(name)
    ]
    # None for the reference, and for a run without values in each query.
    tests: list[CorrectedTest | None] = [None] * len(runs)
    for (position, _), test in zip(
        pairs, _family_tests(runs, pairs, name, seed), strict=True
    ):
        tests[position] = test
    return RunComparison(
        group=group, measure=name, reference=reference, tests=tuple(tests)
    )


def pin_effects(
    runs: Sequence[RunResult], name: str, seed: int = 0
) -> tuple[PinEffect, ...]:
    """Test every run with pinned or banned features against a partner run.

    The partner is a run that differs in these features only: the same
    run without pins, or else the first earlier run with other pins.

    Parameters
    ----------
    runs : sequence of RunResult
        Comparable runs.
    name : str
        The measure.
    seed : int, default 0
        Seed of the randomisation and the bootstrap.

    Returns
    -------
    tuple of PinEffect
        One effect per run with such a partner; the p values are
        corrected for the number of effects.
    """
    plans = [result.plan for result in runs]
    is_measured = [result.has_per_query(name) for result in runs]
    pairs = []
    for run, plan in enumerate(plans):
        # Runs that differ from this run in their pins only, and that
        # can be compared with it.
        similar_runs = [
            other
            for other, other_plan in enumerate(plans)
            if only_pins_differ(plan, other_plan)
            and is_measured[run]
            and is_measured[other]
        ]
        # Runs without pins are preferred, and then earlier runs.
        runs_without_pins = [
            other for other in similar_runs if not pins_of(plans[other])
        ]
        partners = runs_without_pins or [other for other in similar_runs if other < run]
        if pins_of(plan) and partners:
            pairs.append((run, partners[0]))
    tested = _family_tests(runs, pairs, name, seed)
    return tuple(
        PinEffect(*pair, test) for pair, test in zip(pairs, tested, strict=True)
    )


def _family_tests(
    runs: Sequence[RunResult], pairs: Sequence[tuple[int, int]], name: str, seed: int
) -> list[CorrectedTest]:
    """Test pairs of runs by a measure, with a correction of p for all pairs together.

    A pair has the positions in `runs` of two runs; the test is of the
    first run minus the second.
    """
    # The first run that is equal to each run: equal pairs are one test.
    firsts = first_equals(runs)
    comparisons = [
        compare_with(runs[run], runs[other], name, seed) for run, other in pairs
    ]
    return distinct_family(
        comparisons, [(firsts[run], firsts[other]) for run, other in pairs]
    )


def comparing_measure(plan: Plan, name: str = "") -> str:
    """Return the name of the measure for comparing runs, by the plan of the first run.

    The result is `name` if the plan has this measure, otherwise the
    measure that selects the model. If the method's own criterion
    selects, the result is the first reported measure.
    """
    measure_name = name if name in plan.evaluated else plan.chosen_by
    return measure_name if measure_name != CRITERION else plan.measures[0]


def check_reference(runs: Mapping[int, RunResult], against: int | str | None) -> None:
    """Raise a PlanError if no run has the number or the method that `against` names."""
    if isinstance(against, int) and against not in runs:
        raise PlanError(
            f"against: expected a run number from 1 to {len(runs)}, got {against}."
        )
    if isinstance(against, str):
        # Called for its error only.
        named([run.plan for run in runs.values()], against)


def reference_position(
    runs: Mapping[int, RunResult], name: str, against: int | str | None
) -> int | None:
    """Return the position of the reference run among comparable runs.

    The reference is the run that `against` names by its number or its
    method; without this run, the run with the best average of the
    measure `name`. The result is None for a single run, or if no run is
    the best.
    """
    if len(runs) == 1:
        return None
    if isinstance(against, int) and against in runs:
        return list(runs).index(against)
    plans = [run.plan for run in runs.values()]
    if isinstance(against, str) and any(is_named(plan, against) for plan in plans):
        return named(plans, against)
    best = best_run(list(runs.values()), name)
    return next(
        (position for position, run in enumerate(runs.values()) if run is best), None
    )


def named(plans: Sequence[Plan], name: str) -> int:
    """Return the position of the plan of a method with a name: "gas" or "gas/ranksvm".

    "gas" alone means GAS with its own model if it is among the runs,
    otherwise the first GAS run with a ranker.

    Raises
    ------
    PlanError
        For an unknown name.
    """
    positions = [
        position for position, plan in enumerate(plans) if is_named(plan, name)
    ]
    if not positions:
        names = dict.fromkeys(
            "/".join(filter(None, (plan.method, plan.ranker))) for plan in plans
        )
        raise PlanError(
            f"against: expected one of {', '.join(names)}, got {shown(name)}."
        )
    # False comes before True: first a run without a ranker.
    return min(positions, key=lambda position: bool(plans[position].ranker))


def is_named(plan: Plan, name: str) -> bool:
    """Return whether a name may refer to this plan; see :func:`named`."""
    key, _, ranker = name.partition("/")
    return plan.method == key and ranker in ("", plan.ranker)


def _difference_text(run: RunResult, reference: RunResult) -> str:
    """Return how the plan of a run differs from that of a reference run, as a text.

    If only pinned or banned features differ, the text says that the
    comparison shows the effect of these features.
    """
    names = dict(zip(run.feature_ids.tolist(), run.feature_names, strict=True))
    text = " · ".join(differences(run.plan, reference.plan, names))
    if only_pins_differ(run.plan, reference.plan):
        return tr("effect of pins: {text}").format(text=text)
    return text or tr("no difference")
