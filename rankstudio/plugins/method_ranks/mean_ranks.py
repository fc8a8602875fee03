"""The ranking of methods over datasets: mean ranks, tests, and what may be concluded from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isinf, isnan
from typing import TYPE_CHECKING

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.export.tables import p_text
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import measure as measure_of
from rankstudio.plugins.method_ranks.compared_methods import (
    CandidateRun,
    Exclusion,
    MethodTable,
    candidate_runs,
    method_table,
)
from rankstudio.plugins.method_ranks.rank_tests import (
    ROPE,
    FriedmanTest,
    MethodPair,
    PosteriorProbabilities,
    bayesian_signed_ranks,
    critical_difference,
    friedman,
    indistinct_groups,
    pair_tests,
    ranks_by_dataset,
    win_counts,
)

if TYPE_CHECKING:
    from rankstudio.engine.analysis.reported_runs import ReportSource

ALPHA = 0.05
"""Default level of significance."""

MIN_DATASETS = 5
"""Number of datasets from which on tests are made: the first for which the smallest two-sided p of Wilcoxon's
test, 2^(1 - N), is below .10, and the first in Demšar's table of critical values of the sign test."""

# methods of which all pairs have posterior probabilities; of more, those with the best
_MAX_ALL_PAIRS = 10
_MANY_DATASETS = 10  # above which Friedman's chi-square is a good approximation
_MANY_METHODS = 5


@dataclass(frozen=True, eq=False)
class RankTests:
    """The tests of whether methods in a ranking differ.

    Attributes
    ----------
    friedman : FriedmanTest
    critical_difference : float
        Critical difference of mean ranks, by Nemenyi's test.
    groups : tuple of tuple of int
        Methods whose mean ranks do not differ significantly.
    pairs : tuple of MethodPair
        Tests of all pairs of methods, by rank.
    posterior : dict of (int, int) to PosteriorProbabilities
        Probabilities by the two methods of a pair: of all pairs, or, of
        very many methods, of the pairs with the best method.
    """

    friedman: FriedmanTest
    critical_difference: float
    groups: tuple[tuple[int, ...], ...]
    pairs: tuple[MethodPair, ...]
    posterior: dict[tuple[int, int], PosteriorProbabilities]


@dataclass(frozen=True, eq=False)
class MethodRanking:
    """Methods in the order of their mean ranks over datasets.

    Attributes
    ----------
    table : MethodTable
        Values of the methods on the datasets, with the methods in the
        order of their mean ranks.
    alpha : float
        Level of significance.
    rope : float
        Half width of the region of practical equivalence.
    """

    table: MethodTable
    alpha: float = ALPHA
    rope: float = ROPE

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, the best mean rank first."""
        return self.table.methods

    @property
    def n_datasets(self) -> int:
        """Number of datasets."""
        return len(self.table.datasets)

    @property
    def higher_is_better(self) -> bool:
        """Whether larger values of the measure are better."""
        return measure_of(self.table.measure).higher_is_better

    @cached_property
    def ranks(self) -> Floats:
        """Rank of each method on each dataset, of shape (n_datasets, n_methods)."""
        return ranks_by_dataset(
            self.table.values, higher_is_better=self.higher_is_better
        )

    @property
    def mean_ranks(self) -> list[float]:
        """Mean rank of each method."""
        means: list[float] = self.ranks.mean(axis=0).tolist()
        return means

    @cached_property
    def wins(self) -> Ints:
        """Number of datasets on which each method is better than each other one."""
        return win_counts(self.ranks)

    @cached_property
    def tests(self) -> RankTests | None:
        """The tests; None for too few datasets."""
        if self.n_datasets < MIN_DATASETS:
            return None
        k = len(self.methods)
        difference = critical_difference(k, self.n_datasets, self.alpha)
        pairs = pair_tests(self.table.values, self.ranks)

        # Of many methods, only pairs with the best one (column 0) get probabilities.
        columns = [
            (pair.first, pair.second)
            for pair in pairs
            if k <= _MAX_ALL_PAIRS or pair.first == 0
        ]
        posterior = bayesian_signed_ranks(
            self.table.values,
            columns,
            self.rope,
            higher_is_better=self.higher_is_better,
        )
        return RankTests(
            friedman(self.ranks),
            difference,
            indistinct_groups(self.mean_ranks, difference),
            pairs,
            dict(zip(columns, posterior, strict=True)),
        )

    def notes(self) -> tuple[str, ...]:
        """Return the results and the limits of the tests, as sentences."""
        tests = self.tests
        if tests is None:
            return (self._too_few_text(), *self._scope_notes())
        return (
            _friedman_text(tests.friedman),
            *self._group_notes(tests),
            *self._limits_notes(),
            *self._scope_notes(),
        )

    def _too_few_text(self) -> str:
        """Return the sentence that there are too few datasets for tests."""
        text = tr(
            "Tests need at least {least} datasets, found {n}: the smallest p of Wilcoxon's test, 2^(1 − N), "
            "falls below 0.10 with N = {least}."
        )
        return text.format(least=MIN_DATASETS, n=self.n_datasets)

    def _group_notes(self, tests: RankTests) -> list[str]:
        """Return sentences on the critical difference of mean ranks by Nemenyi's test.

        Methods whose mean ranks differ by less form groups; the first
        group may have all methods.
        """
        text = tr("Nemenyi's critical difference at {alpha:g} is {difference:.2f}.")
        notes = [text.format(alpha=self.alpha, difference=tests.critical_difference)]
        if len(self.methods) == 2:
            notes.append(
                tr("Of two methods, Wilcoxon's test says more than mean ranks do.")
            )
        elif tests.groups and len(tests.groups[0]) == len(self.methods):
            notes.append(tr("No two mean ranks differ significantly."))
        return notes

    def _limits_notes(self) -> list[str]:
        """Return where the number of datasets or methods limits the tests, as sentences."""
        notes = []
        k = len(self.methods)
        if self.n_datasets <= _MANY_DATASETS or k <= _MANY_METHODS:
            text = tr(
                "Friedman's chi-square is an approximation for more than {datasets} datasets and {methods} "
                "methods; here there are {n} and {k}."
            )
            numbers = {
                "datasets": _MANY_DATASETS,
                "methods": _MANY_METHODS,
                "n": self.n_datasets,
                "k": k,
            }
            notes.append(text.format(**numbers))

        # If all N differences have one sign, the two-sided p is 2 / 2^N.
        least_p = 2.0 ** (1 - self.n_datasets)
        if least_p >= self.alpha:
            text = tr("With {n} datasets no p of Wilcoxon's test can be below {p:g}.")
            notes.append(text.format(n=self.n_datasets, p=least_p))
        if k > _MAX_ALL_PAIRS:
            text = tr(
                "Of more than {most} methods only pairs with the best one have posterior probabilities."
            )
            notes.append(text.format(most=_MAX_ALL_PAIRS))
        return notes

    def _scope_notes(self) -> list[str]:
        """Return sentences that warn if datasets differ in the measured part or the convention."""
        notes = []
        if len({dataset.part for dataset in self.table.datasets}) > 1:
            notes.append(
                tr(
                    "Datasets differ in the part that is measured: see the table of datasets."
                )
            )
        conventions = dict.fromkeys(
            dataset.convention for dataset in self.table.datasets
        )
        if len(conventions) > 1:
            names = ", ".join(convention(key).label for key in conventions)
            notes.append(
                tr("Datasets differ in the convention of the measure: {names}.").format(
                    names=names
                )
            )
        return notes


def _friedman_text(test: FriedmanTest) -> str:
    """Return the results of Friedman's test as one or more sentences.

    The test decides whether any mean ranks differ. The chi-square with
    the correction for ties is named if it differs.
    """
    f = "∞" if isinf(test.f) else f"{test.f:.2f}"
    text = tr(
        "Friedman's chi-square {chi:.2f} (p {p_chi}), Iman and Davenport's F {f} (p {p_f})."
    )
    sentence = text.format(
        chi=test.chi_square, p_chi=_p(test.p_chi_square), f=f, p_f=_p(test.p_f)
    )
    if isnan(test.chi_square_ties):
        return f"{sentence} {tr('All methods are equal on every dataset.')}"
    if round(test.chi_square_ties, 2) != round(test.chi_square, 2):
        ties = tr("With the correction for ties chi-square is {chi:.2f} (p {p}).")
        sentence += f" {ties.format(chi=test.chi_square_ties, p=_p(test.p_ties))}"
    return sentence


def _p(p: float) -> str:
    """Return a p value after the letter p: "= 0.0123" or "< 0.0001"."""
    text = p_text(p)
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"


def ranking_of(
    table: MethodTable, alpha: float = ALPHA, rope: float = ROPE
) -> MethodRanking:
    """Return the ranking of the methods of a table, the best mean rank first.

    ``alpha`` is the level of significance, and ``rope`` the half width
    of the region of practical equivalence, in units of the measure.

    Raises
    ------
    ParameterError
        For a level that is not between 0 and 1, or a negative region of
        practical equivalence.
    """
    if not 0 < alpha < 1:
        raise ParameterError("alpha", alpha, "a number between 0 and 1 (exclusive)")
    if not 0 <= rope < float("inf"):
        raise ParameterError("rope", rope, "a finite number from 0 up")

    # The mean ranks are computed from the table as it is, and order its columns.
    order = np.argsort(MethodRanking(table).mean_ranks, kind="stable").tolist()
    ordered = replace(
        table,
        methods=tuple(table.methods[column] for column in order),
        values=table.values[:, order],
    )
    return MethodRanking(ordered, float(alpha), float(rope))


def study_ranking(
    sources: Sequence[ReportSource],
    measure: str = "",
    *,
    alpha: float = ALPHA,
    rope: float = ROPE,
    leave_out: Sequence[str] = (),
    exclusions: Sequence[Exclusion] = (),
) -> MethodRanking:
    """Return the ranking of the methods of several studies, as :func:`method_ranks` does for runs.

    Parameters
    ----------
    sources : sequence of ReportSource
    measure : str
    alpha, rope : float
    leave_out : sequence of str
    exclusions : sequence of Exclusion
        Runs that the sources do not have, such as unfinished ones.
    """
    table = method_table(candidate_runs(sources), measure, leave_out)
    return ranking_of(
        replace(table, left_out=(*exclusions, *table.left_out)), alpha, rope
    )


def method_ranks(
    runs: Sequence[RunResult],
    measure: str = "",
    *,
    alpha: float = ALPHA,
    rope: float = ROPE,
    leave_out: Sequence[str] = (),
) -> MethodRanking:
    """Rank methods over datasets, with Friedman's, Nemenyi's, Wilcoxon's and Bayesian signed-rank tests.

    Parameters
    ----------
    runs : sequence of RunResult
        Finished runs of several methods on several datasets.
    measure : str, optional
        Name of the measure; by default the selection criterion of the first run.
    alpha : float, default 0.05
        Level of significance of Nemenyi's critical difference.
    rope : float, default 0.01
        Half width of the region of practical equivalence, in units of the measure.
    leave_out : sequence of str
        Names of methods and datasets that are not compared.

    Returns
    -------
    MethodRanking
        The methods with ranks and wins; `tests` is None for fewer than
        five datasets.

    Raises
    ------
    PlanError
        If no two methods have comparable runs on the same two datasets.
    ParameterError
        For a parameter out of range, or an unknown name.

    Notes
    -----
    A value is the mean over the queries of a dataset. Runs that may not
    be compared, and methods without a run on each dataset, are listed
    in `table.left_out` with the reason.
    """
    candidates = [
        CandidateRun(
            tr("run {number}, {title}").format(number=number, title=run.plan.title), run
        )
        for number, run in enumerate(runs, start=1)
    ]
    name = measure_of(measure).name if measure else ""
    return ranking_of(method_table(candidates, name, leave_out), alpha, rope)
