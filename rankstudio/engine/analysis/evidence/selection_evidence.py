"""All evidence for a selection of features, and one verdict on each of them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.analysis.evidence.best_subset import BestSubset, SubsetSpace, find_best_subset
from rankstudio.engine.analysis.evidence.deciding_queries import DecidedStep, deciding_steps
from rankstudio.engine.analysis.evidence.feature_losses import (
    FeatureLosses,
    Judge,
    feature_losses,
    left_out_errors,
)
from rankstudio.engine.analysis.evidence.near_best_sets import (
    NORMAL,
    NearBestSet,
    SizedNearBestSets,
    near_sets_of_size,
)
from rankstudio.engine.analysis.evidence.partial_result import PartialResult
from rankstudio.engine.analysis.evidence.repeated_left_out import RepeatedLeftOut, left_out_steps
from rankstudio.engine.analysis.evidence.shapley_shares import MOST_FEATURES, ShapleyShares, shapley_steps
from rankstudio.engine.analysis.evidence.stability_selection import StabilitySelection, stability_steps
from rankstudio.engine.analysis.evidence.step_significance import StepSignificance, significance_steps
from rankstudio.engine.analysis.evidence.subset_paths import by_sums
from rankstudio.engine.analysis.evidence.verdicts import (
    FeatureEvidence,
    VerdictRules,
    most_frequent,
    partner_of,
    verdict_of,
)
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData, group, several_queries
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.base import LinearRanker, between
from rankstudio.engine.methods.selection.base import GrowingSelector, Selector
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.methods.selection.greedy_rankrls.swaps import swap_criteria
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.metrics.conventions import DEFAULT
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress, finish

Work = Generator[WorkProgress, None, None]

PARTS = (
    "losses",
    "swaps",
    "shares",
    "stability",
    "deciding",
    "best",
    "near_best",
    "significance",
    "repeated",
)
"""What evidence consists of, in the order in which it is computed."""

N_OTHERS = 4
"""Features that are not selected, but are among the rows: those that halves select most often."""


@dataclass(frozen=True)
class StopAdvice:
    """Where to stop, by the significance of the steps.

    Attributes
    ----------
    n_features : int
        After so many features.
    n_tested : int
        How many steps were tested; where it equals ``n_features`` the last was still no chance.
    p_next : float or None
        p of the step after; None where none was tested.
    level : float
        Of ForwardStop.
    """

    n_features: int
    n_tested: int
    p_next: float | None
    level: float


@dataclass(frozen=True, eq=False)
class SelectionEvidence:
    """What is known of a selection so far; None for what does not apply or is not yet computed.

    Attributes
    ----------
    selected : tuple of int
        0-based columns in the order of selection, k of them.
    required : tuple of int
        Those that were given, not selected.
    n_queries : int
    rules : VerdictRules
        ``dataclasses.replace(evidence, rules=...)`` judges anew at once.
    stability : StabilitySelection or None
    losses : FeatureLosses or None
    swaps : dict or None
        The best exact swap of each selected column: the other column, and by what share of the left-out
        error it changes.
    shares : ShapleyShares or None
    deciding : tuple of DecidedStep or None
        Of the whole path.
    best : BestSubset or None
        Of each size up to k.
    near_best : tuple of SizedNearBestSets or None
        Of k - 1 features, if these are some, and of k.
    smaller : dict or None
        For each selected column the best set of k - 1 features that lacks it, if it is not distinguishable
        from the best of k, or None.
    significance : StepSignificance or None
        Of the whole path.
    repeated : RepeatedLeftOut or None
        Of the whole path.
    """

    selected: tuple[int, ...]
    n_queries: int
    required: tuple[int, ...] = ()
    rules: VerdictRules = field(default_factory=VerdictRules)
    stability: StabilitySelection | None = None
    losses: FeatureLosses | None = None
    swaps: dict[int, tuple[int, float]] | None = None
    shares: ShapleyShares | None = None
    deciding: tuple[DecidedStep, ...] | None = None
    best: BestSubset | None = None
    near_best: tuple[SizedNearBestSets, ...] | None = None
    smaller: dict[int, NearBestSet | None] | None = None
    significance: StepSignificance | None = None
    repeated: RepeatedLeftOut | None = None

    @property
    def k(self) -> int:
        """How many features are selected."""
        return len(self.selected)

    @cached_property
    def rows(self) -> tuple[FeatureEvidence, ...]:
        """The selected features, then those that the halves select most often beside them."""
        others = (
            most_frequent(self.stability, self.k, self.selected, N_OTHERS)
            if self.stability is not None and self.k
            else []
        )
        return tuple(self._row(column) for column in (*self.selected, *others))

    @property
    def stop(self) -> StopAdvice | None:
        """Where to stop; None without the significance of steps."""
        if self.significance is None or not self.significance.permuted.size:
            return None
        p = self.significance.p_values
        n = self.significance.n_steps(self.rules.stop_level)
        return StopAdvice(n, p.size, float(p[n]) if n < p.size else None, self.rules.stop_level)

    def _row(self, column: int) -> FeatureEvidence:
        row = FeatureEvidence(column, column in self.selected)
        near = self._near_of_k()
        if self.stability is not None and self.stability.n_paths and self.k:
            at = min(self.k, self.stability.counts.shape[0]) - 1
            low, median, high = (float(value) for value in self.stability.positions[:, column])
            probability = float(self.stability.probability[at, column])
            row = replace(row, probability=probability, position=(low, median, high))
        if near is not None:
            row = replace(row, near_best_share=float(near.inclusion[column]))
        return self._judged(row) if row.selected else row

    def _judged(self, row: FeatureEvidence) -> FeatureEvidence:
        """Add what only a selected feature has."""
        column, place = row.column, self.selected.index(row.column)
        if self.losses is not None:
            row = replace(row, loss=self.losses.losses[place])
        if self.shares is not None:
            share = self.shares.shares[self.shares.features.index(column)]
            row = replace(row, share=float(share))
        if self.swaps is not None and column in self.swaps:
            row = replace(row, substitute=self.swaps[column][0], price=self.swaps[column][1])
        if self.deciding is not None:
            counts = {step.feature: len(step.queries) for step in self.deciding}
            row = replace(row, n_deciding=counts.get(column) or None)
        if column in self.required:
            return row
        if self.smaller is not None:
            row = replace(row, smaller=self.smaller.get(column))
        if self.stability is not None and self.stability.n_paths:
            known = column, self.stability, self.k, self._near_of_k(), self.rules, self.required
            if (pair := partner_of(*known)) is not None:
                row = replace(row, partner=pair[0], pair_probability=pair[1])
        return replace(row, verdict=verdict_of(row, self.rules, smaller_known=self.smaller is not None))

    def _near_of_k(self) -> SizedNearBestSets | None:
        sized = [one for one in self.near_best or () if one.size == self.k]
        return sized[0] if sized else None


@dataclass(frozen=True)
class EvidenceOptions:
    """What evidence is wanted, and how exactly.

    Attributes
    ----------
    n_features : int or None
        Size of the set, k; as many as the estimator selects where it is not given.
    n_steps : int or None
        Length of the paths for what goes beyond the set: probabilities, p of steps and the left-out curves;
        2k where it is not given.
    selected : tuple of int or None
        The set, where it is not the estimator's first k features.
    judge : GreedyRankRLS, RankRLS or None
        Whose left-out predictions tell losses, swaps and shares; the estimator where it is greedy RankRLS.
        Without one, there are none of these.
    measure, convention : str
        Of the losses; measure "" is the squared error.
    n_halves, n_permutations, seed : int
        As of stability selection and of the significance of steps.
    max_seconds : float
        For the best sets: those that are not proved by then have a gap, and no near-best sets.
    parts : collection of str
        Of :data:`PARTS`.
    rules : VerdictRules
    """

    n_features: int | None = None
    n_steps: int | None = None
    selected: tuple[int, ...] | None = None
    judge: Judge | None = None
    measure: str = ""
    convention: str = DEFAULT
    n_halves: int = 50
    n_permutations: int = 99
    seed: int = 0
    max_seconds: float = 20.0
    parts: tuple[str, ...] = PARTS
    rules: VerdictRules = field(default_factory=VerdictRules)

    def __post_init__(self) -> None:
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown:
            raise ParameterError("parts", unknown[0], ", ".join(PARTS))


def selection_evidence(
    estimator: LinearRanker,
    X: ArrayLike,
    y: ArrayLike,
    *,
    qid: ArrayLike | None,
    **options: Any,
) -> SelectionEvidence:
    """Gather the evidence for a selection, with a verdict on each feature.

    Parameters
    ----------
    estimator : Selector
        Not fitted here. Greedy RankRLS has all evidence; other selectors have what applies to them.
    X : array-like of shape (m, n)
    y : array-like of shape (m,)
    qid : array-like of shape (m,)
    **options
        The fields of :class:`EvidenceOptions`.

    Returns
    -------
    SelectionEvidence

    Examples
    --------
    >>> from rankstudio.engine import GreedyRankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((120, 5)), np.repeat(np.arange(20), 6)
    >>> y = 2 * X[:, 3] + X[:, 1] + 0.5 * rng.random(120)
    >>> found = selection_evidence(GreedyRankRLS(n_features_to_select=2), X, y, qid=qid)
    >>> [(row.column, row.verdict.label) for row in found.rows if row.selected]
    [(3, 'secure'), (1, 'secure')]
    """
    return finish(evidence_steps(estimator, group(X, y, qid), EvidenceOptions(**options)))


def evidence_steps(
    estimator: LinearRanker,
    data: GivenData,
    options: EvidenceOptions | None = None,
    known: SelectionEvidence | None = None,
) -> Generator[WorkProgress, None, SelectionEvidence]:
    """Yield progress with what is known so far, and return the whole of :func:`selection_evidence`.

    Parameters
    ----------
    estimator, data
        As of :func:`selection_evidence`, grouped.
    options : EvidenceOptions, optional
    known : SelectionEvidence, optional
        What an interrupted run with the same arguments had found: parts that are there are not repeated, and
        the halves, permutations and queries of unfinished ones are not either.

    Yields
    ------
    PartialResult
        A :class:`SelectionEvidence` of what is done.
    """
    work = _Evidence(estimator, data, options or EvidenceOptions(), known)
    parts = [part for part in PARTS if part in work.options.parts and work.applies(part)]
    for number, part in enumerate(parts):
        with closing(work.part(part)) as told_of:
            for told in told_of:
                yield PartialResult(told.what, (number + told.share) / len(parts), work.found)
        yield PartialResult("gathering evidence", (number + 1) / len(parts), work.found)
    return work.found


class _Evidence:
    """Evidence as it is gathered."""

    def __init__(
        self,
        estimator: LinearRanker,
        data: GivenData,
        options: EvidenceOptions,
        known: SelectionEvidence | None,
    ) -> None:
        if not isinstance(estimator, Selector):
            raise ParameterError("estimator", type(estimator).__name__, "a method that selects features")
        self.data: QueryData = training_data(data).whole("The evidence for a selection")
        several_queries(self.data.ptr, "The evidence for a selection")
        self.options = options
        self._given = estimator
        self._n = self.data.X.shape[1]
        selected = known.selected if known is not None else self._selected(estimator)
        self.k = len(selected)
        n_steps = min(self._n, max(options.n_steps or 2 * self.k, self.k, 1))
        self.path = _of_size(estimator, n_steps)
        self.judge = options.judge or (estimator if isinstance(estimator, GreedyRankRLS) else None)
        required = tuple(int(column) for column in getattr(estimator, "pinned", ()))
        Q = int(self.data.ptr.size) - 1
        self.found = known or SelectionEvidence(selected, Q, required, options.rules)

    def applies(self, part: str) -> bool:
        """Return whether a part of the evidence is known for the method and the data."""
        Q = self.found.n_queries
        if part == "stability":
            return Q >= 4 and self.k > 0
        if part in ("losses", "swaps", "shares"):
            fits = self.k <= MOST_FEATURES if part == "shares" else True
            return self.judge is not None and self.k > 0 and fits and self.data.preferences is None
        method = self._given
        if not isinstance(method, GreedyRankRLS) or self.data.preferences is not None or Q < 3:
            return False
        if part in ("best", "near_best"):
            return self.k > 0 and len(method.groups) == 0
        return by_sums(self.path, self.data) and (part != "significance" or method.pair_cost().ties)

    def part(self, part: str) -> Work:
        """Compute a part, and put what is known of it into what is found; yield progress."""
        work: dict[str, Callable[[], Work]] = {
            "losses": self._losses,
            "swaps": self._swaps,
            "shares": self._shares,
            "stability": self._stability,
            "deciding": self._deciding,
            "best": self._best,
            "near_best": self._near_best,
            "significance": self._significance,
            "repeated": self._repeated,
        }
        return work[part]()

    def _keep(self, **found: Any) -> None:
        self.found = replace(self.found, **found)

    def _selected(self, estimator: Selector) -> tuple[int, ...]:
        """Return the set: given, or the first features of the estimator's path."""
        if self.options.selected is not None:
            return tuple(self.options.selected)
        k = self.options.n_features
        if k is not None:
            between("n_features", k, 1, self._n)
        shorter = _of_size(estimator, k) if k is not None else estimator
        steps = [step for step in shorter.learn(self.data) if isinstance(step, Step)]
        selected = steps[-1].selected
        if not isinstance(estimator, GrowingSelector):
            coef = np.abs(steps[-1].coef)
            selected = tuple(sorted(selected, key=lambda column: (-coef[column], column)))
        return selected if k is None else selected[:k]

    def _losses(self) -> Work:
        yield WorkProgress("leaving out each feature", 0.0)
        if self.found.losses is None and self.judge is not None:
            wanted = self.options.measure, self.options.convention
            self._keep(losses=feature_losses(self.judge, self.data, self.found.selected, *wanted))

    def _swaps(self) -> Work:
        yield WorkProgress("swapping features", 0.0)
        assert self.judge is not None
        selected = self.found.selected
        banned = set(getattr(self._given, "banned", ())) | set(selected)
        others = np.array(
            [j for j in np.flatnonzero(self.data.informative) if j not in banned], dtype=np.int64
        )
        if self.found.swaps is not None or not others.size:
            return
        rows = PairRows.of(self.data, self.judge.pair_cost())
        criterion, swapped, _ = swap_criteria(rows, self.judge.checked("regularization"), selected, others)
        best = swapped.argmin(axis=1)
        prices = swapped[np.arange(len(selected)), best] / criterion - 1
        pairs = zip(selected, others[best].tolist(), prices.tolist(), strict=True)
        self._keep(swaps={column: (other, price) for column, other, price in pairs})

    def _shares(self) -> Work:
        if self.found.shares is None and self.judge is not None:
            shares = yield from shapley_steps(self.judge, self.data, self.found.selected)
            self._keep(shares=shares)

    def _stability(self) -> Work:
        wanted = self.options.n_halves, self.options.seed, self.found.stability
        for told in stability_steps(self.path, self.data, *wanted):
            if isinstance(told, PartialResult):
                self._keep(stability=told.found)
            yield told

    def _deciding(self) -> Work:
        if self.found.deciding is not None:
            return
        steps = _of_size(self.path, self.k) if self.k else self.path
        found = yield from deciding_steps(steps, self.data)
        path = tuple(step.feature for step in found)
        if path == self.found.selected:
            self._keep(deciding=found)

    def _best(self) -> Work:
        if self.found.best is not None and self.found.best.proved:
            return
        began = inf  # only what branch and bound takes counts
        with closing(find_best_subset(self.data, self._space())) as work:
            for told in work:
                self._keep(best=told.found)
                began = min(began, perf_counter())
                yield told
                if perf_counter() - began > self.options.max_seconds:
                    break

    def _near_best(self) -> Work:
        best = self.found.best
        if self.found.near_best is not None or best is None:
            return
        sizes = [one for one in best.sizes if one.size in (self.k - 1, self.k) and one.features]
        if not sizes or not all(one.proved for one in sizes):
            return
        found = []
        for sized in sizes:
            near = yield from near_sets_of_size(self.data, self._space(), sized)
            found.append(near)
        smaller = found[0] if len(found) == 2 else None
        self._keep(near_best=tuple(found), smaller=self._smaller(smaller, found[-1]))

    def _smaller(
        self, smaller: SizedNearBestSets | None, near: SizedNearBestSets
    ) -> dict[int, NearBestSet | None]:
        """Return the best sets of a feature less that lack one each, if they are as good as the best of k."""
        assert self.judge is not None
        lacking: dict[int, tuple[int, ...]] = {}
        for column in self.found.selected:
            sets = smaller.containing(excluded=[column]) if smaller is not None else ()
            if sets or self.k == 1:
                lacking[column] = sets[0].features if sets else ()
        wanted = [near.best.features, *lacking.values()]
        whole, *errors = left_out_errors(self.judge, self.data, wanted)
        found: dict[int, NearBestSet | None] = dict.fromkeys(self.found.selected)
        for (column, features), error in zip(lacking.items(), errors, strict=True):
            difference = error - whole
            deviation = float(np.sqrt(difference.size * difference.var(ddof=1)))
            total = float(difference.sum())
            if total <= NORMAL * deviation:
                found[column] = NearBestSet(features, float(error.sum()), total, deviation)
        return found

    def _significance(self) -> Work:
        wanted = self.options.n_permutations, self.options.seed, self.found.significance
        for told in significance_steps(self.path, self.data, *wanted):
            if isinstance(told, PartialResult):
                self._keep(significance=told.found)
            yield told

    def _repeated(self) -> Work:
        for told in left_out_steps(self.path, self.data, self.found.repeated):
            if isinstance(told, PartialResult):
                self._keep(repeated=told.found)
            yield told

    def _space(self) -> SubsetSpace:
        method = self._given
        assert isinstance(method, GreedyRankRLS)
        costs = None if method.costs is None else tuple(np.asarray(method.costs, dtype=np.float64).tolist())
        return SubsetSpace(
            self.k,
            method.checked("regularization"),
            tuple(method.pinned),
            tuple(method.banned),
            costs=costs,
            budget=method.budget,
            cost=method.pair_cost(),
        )


def _of_size(estimator: Selector, n_features: int) -> Any:
    """Return a method that selects so many features, where it selects one after the other."""
    parameters = estimator.get_params(deep=False)
    if isinstance(estimator, GrowingSelector):
        parameters["n_features_to_select"] = n_features
    return type(estimator)(**parameters)
