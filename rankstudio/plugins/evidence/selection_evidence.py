"""The evidence for a selection of features, gathered part by part."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field, replace
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.query_data import group, several_queries
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.capabilities import ExactExchange
from rankstudio.engine.methods.foreign.instances import as_method
from rankstudio.engine.methods.selection.base import TIE, GrowingSelector, Selector
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls.search_choice import each_left_out, sums_fit
from rankstudio.engine.methods.selection.greedy_rankrls.summed_rows import summing_rows
from rankstudio.engine.methods.selection.greedy_rankrls.swaps import swap_seconds
from rankstudio.engine.methods.shards.sums import informative_columns, sums_of_products
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.metrics.conventions import DEFAULT
from rankstudio.engine.steps import steps_of
from rankstudio.engine.support.compilation import announced
from rankstudio.engine.support.work import Waiting, WorkProgress, finish, part_of, without_notes
from rankstudio.plugins.evidence.best_subset import BestSubset, SubsetSpace, find_best_subset
from rankstudio.plugins.evidence.deciding_queries import deciding_steps
from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
from rankstudio.plugins.evidence.feature_losses import feature_losses, left_out_errors
from rankstudio.plugins.evidence.near_best_sets import near_sets_of_size
from rankstudio.plugins.evidence.partial_result import PartialResult
from rankstudio.plugins.evidence.path_length import path_length
from rankstudio.plugins.evidence.repeated_left_out import left_out_steps
from rankstudio.plugins.evidence.set_changes import exchanged_changes
from rankstudio.plugins.evidence.shapley_shares import MOST_FEATURES, exchanged_shares
from rankstudio.plugins.evidence.stability_selection import StabilitySelection, stability_steps
from rankstudio.plugins.evidence.step_significance import significance_steps
from rankstudio.plugins.evidence.verdicts import Exchange, SetDifference, VerdictRules

Work = Waiting[None]
Gathering = Generator[PartialResult[SelectionEvidence], None, SelectionEvidence]
Refit = Callable[[Selector], Generator[WorkProgress, None, StabilitySelection]]
"""Selects by a method on halves of the queries, as units of work elsewhere."""

PARTS = (
    "losses",
    "changes",
    "shares",
    "stability",
    "deciding",
    "best",
    "alternatives",
    "near_best",
    "significance",
    "repeated",
)
"""Parts of the evidence, in the order in which they are gathered."""

_MOST_JUDGED = 50  # features of a set: more take long, one by one
_RIVALS = 8  # other features that are tried in the place of each: the likeliest


@dataclass(frozen=True)
class EvidenceOptions:
    """Evidence to compute, and its accuracy.

    Attributes
    ----------
    n_features : int or None
        Size of the set, k; by default the number of features the estimator selects.
    selected : tuple of int or None
        Set in the order of selection; by default the first k features of the estimator.
    n_steps : int or None
        Length of the paths for probabilities, p values and left-out curves; by default 12, or more for large
        sets, see :func:`rankstudio.plugins.evidence.path_length.path_length`.
    judge : LinearRanker or None
        Estimator with exact left-out errors, as RankRLS; by default the estimator if it selects by these
        errors, as greedy RankRLS. Without one there are no losses, changes, shares or alternatives.
    measure : str
        Measure of the losses; "" for the squared error.
    convention : str
        Convention of the measure.
    n_halves, seed : int
        As in :func:`rankstudio.plugins.evidence.stability_selection.stability_selection`.
    n_permutations : int
        As in :func:`rankstudio.plugins.evidence.step_significance.step_significance`.
    max_seconds : float
        Time limit of the search for the best sets in seconds; sets not proved by then have a gap.
    most_sets : int
        Maximum number of sets of a size that are enumerated for near-best sets or searched again without a
        feature.
    n_refits : int
        For deciding queries of methods about which nothing faster is known: how often they are trained again
        at most. By default such methods have none.
    parts : tuple of str
        Some of :data:`PARTS`.
    rules : VerdictRules
    """

    n_features: int | None = None
    selected: tuple[int, ...] | None = None
    n_steps: int | None = None
    judge: LinearRanker | None = None
    measure: str = ""
    convention: str = DEFAULT
    n_halves: int = 50
    seed: int = 0
    n_permutations: int = 99
    max_seconds: float = 20.0
    most_sets: int = 1_000_000
    n_refits: int = 0
    parts: tuple[str, ...] = PARTS
    rules: VerdictRules = field(default_factory=VerdictRules)

    def __post_init__(self) -> None:
        for part in self.parts:
            if part not in PARTS:
                raise ParameterError("parts", part, " or ".join(PARTS))


def selection_evidence(
    estimator: LinearRanker, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None, **options: Any
) -> SelectionEvidence:
    """Compute the evidence for a selection of features, with a verdict on each feature.

    Parameters
    ----------
    estimator : Selector
        The estimator is not fitted here. Greedy RankRLS supports all evidence; other selectors support part
        of it.
    X : array-like of shape (m, n)
        Features; a row is a document.
    y : array-like of shape (m,)
        Labels of the documents.
    qid : array-like of shape (m,)
        Query of each document.
    **options
        Attributes of :class:`EvidenceOptions`.

    Returns
    -------
    SelectionEvidence
        Evidence on each feature.

    Notes
    -----
    Sets are compared by the exact left-out squared error of RankRLS. A set is near-best if a paired test over
    queries at 5 % finds no significant difference from the best set of k features, or from the selection if
    the best set is not proved.

    Examples
    --------
    >>> from rankstudio.engine import GreedyRankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((120, 5)), np.repeat(np.arange(20), 6)
    >>> y = 2 * X[:, 3] + X[:, 1] + 0.5 * rng.random(120)
    >>> found = selection_evidence(GreedyRankRLS(n_features_to_select=2), X, y, qid=qid)
    >>> [(row.column, row.verdict.value) for row in found.rows if row.selected]
    [(3, 'secure'), (1, 'secure')]
    >>> found.stop.n_features, found.best_sentences(str)[0]
    (2, 'The selection has the lowest possible left-out error of 2 features.')
    """
    return finish(evidence_steps(as_method(estimator), group(X, y, qid), EvidenceOptions(**options)))


def evidence_steps(
    estimator: LinearRanker,
    data: GivenData,
    options: EvidenceOptions | None = None,
    earlier: SelectionEvidence | None = None,
    refit: Refit | None = None,
) -> Gathering:
    """Yield progress with the results so far, and return the whole of :func:`selection_evidence`.

    Parameters
    ----------
    estimator, data
        As in :func:`selection_evidence`, grouped.
    options : EvidenceOptions, optional
    earlier : SelectionEvidence, optional
        Result of an interrupted run with the same arguments; finished parts, halves, permutations and queries
        are not repeated.
    refit : callable, optional
        Selects on the halves by methods that are trained again on each: on other processors, or storing each
        half. Without it, they are trained here, one half after the other.

    Yields
    ------
    PartialResult
        :class:`SelectionEvidence` so far.
    """
    work = _Evidence(estimator, data, options or EvidenceOptions(), earlier, refit)
    yield PartialResult("gathering evidence", 0.0 if work.parts else 1.0, work.found)
    for number, part in enumerate(work.parts):
        with closing(work.part(part)) as steps:
            for progress in steps:
                yield PartialResult(progress.what, (number + progress.share) / len(work.parts), work.found)
        yield PartialResult("gathering evidence", (number + 1) / len(work.parts), work.found)
    return work.found


class _Evidence:
    """The evidence gathered so far."""

    def __init__(
        self,
        estimator: LinearRanker,
        data: GivenData,
        options: EvidenceOptions,
        earlier: SelectionEvidence | None,
        refit: Refit | None,
    ) -> None:
        if not isinstance(estimator, Selector):
            raise ParameterError("estimator", type(estimator).__name__, "a method that selects features")
        self._data = training_data(data).for_method(accepts_sparse=False)
        several_queries(self._data.ptr, "The evidence for a selection")
        self._estimator = estimator
        self._options = options
        self._refit = refit
        if earlier is None:
            required = tuple(int(column) for column in getattr(estimator, "pinned", ()))
            selected = self._selected()
            n_queries = int(self._data.ptr.size) - 1
            groups = tuple(tuple(map(int, group)) for group in getattr(estimator, "groups", ()))
            earlier = SelectionEvidence(selected, n_queries, required, options.rules, groups=groups)
        self.found = earlier
        units = ColumnGroups.of(self._data.X.shape[1], earlier.groups)
        free = len(units.groups) - len(units.containing(getattr(estimator, "banned", ())))
        n_steps = options.n_steps or path_length(earlier.size, free)
        self._path = _sized(estimator, min(free, max(n_steps, earlier.size, 1)))
        self._exchange = exchange = estimator.exact_exchange()
        criterion_exchange = exchange if exchange is not None and exchange.is_criterion else None
        self._judge: ExactExchange | None = (
            options.judge.exact_exchange() if options.judge is not None else criterion_exchange
        )
        missing_parts = [part for part in PARTS if part in options.parts and part not in earlier.done]
        self.parts = tuple(part for part in missing_parts if self._applies(part))

    def part(self, part: str) -> Work:
        """Gather a part; yield progress."""
        work: dict[str, Callable[[], Work]] = {
            "losses": self._losses,
            "changes": self._changes,
            "shares": self._shares,
            "stability": self._stability,
            "deciding": self._deciding,
            "best": self._best,
            "alternatives": self._alternatives,
            "near_best": self._near_best,
            "significance": self._significance,
            "repeated": self._repeated,
        }
        yield from work[part]()
        self._keep(done=(*self.found.done, part))

    def _keep(self, **parts: Any) -> None:
        self.found = replace(self.found, **parts)

    def _selected(self) -> tuple[int, ...]:
        """Return the set: the one given, or the first features of the estimator's path."""
        n = self._data.X.shape[1]
        options = self._options
        if options.selected is not None:
            columns = tuple(int(column) for column in options.selected)
            if len(set(columns)) < len(columns) or not all(0 <= column < n for column in columns):
                raise ParameterError("selected", list(columns), f"different columns from 0 to {n - 1}")
            return columns
        if options.n_features is None:
            *_, last = self._estimator.learn(self._data)
        else:
            k = between("n_features", options.n_features, 1, n)
            *_, last = _sized(self._estimator, k).learn(self._data)
        if isinstance(self._estimator, GrowingSelector):
            return last.selected
        order = sorted(last.selected, key=lambda column: (-abs(last.coef[column]), column))
        return tuple(order[: options.n_features])

    def _applies(self, part: str) -> bool:
        """Return whether a part is defined for the method and the data."""
        k = self.found.k
        n_queries = self.found.n_queries
        labelled = not self._data.preferring
        if part == "alternatives":
            return k > 0
        if part == "stability":
            return k > 0 and n_queries >= 4
        if part in ("losses", "changes", "shares"):
            judged = self._judged(MOST_FEATURES if part == "shares" else _MOST_JUDGED)
            return judged and (part != "changes" or self._sums_fit)
        return labelled and n_queries >= 3 and self._learns(part)

    def _learns(self, part: str) -> bool:
        """Return whether the method can be asked for a part about its steps, or for its best sets."""
        k = self.found.k
        path = self._path
        data = self._data
        if part in ("best", "near_best"):
            exact = self._exchange is not None and self._exchange.is_criterion
            return exact and k > 0 and self._sums_fit
        if part == "significance":
            ties = self._exchange is None or self._exchange.cost.ties
            return ties and path.step_test(data) is not None
        has_sums = path.paths_from_sums(data) is not None
        if part == "repeated":
            return has_sums and each_left_out(data)
        can_repeat = has_sums or self._options.n_refits > 0
        return k > 0 and (can_repeat or self._estimator.compared_by_query(data, k) is not None)

    def _judged(self, max_features: int) -> bool:
        """Return whether RankRLS judges the set, and it has at most this many features."""
        return self._judge is not None and not self._data.preferring and 0 < self.found.k <= max_features

    @property
    def _by(self) -> ExactExchange:
        assert self._judge is not None  # parts without one do not apply
        return self._judge

    def _others(self) -> Waiting[Ints]:
        """Return the columns that may come into the set."""
        may: Ints = np.flatnonzero((yield from informative_columns(self._data)))
        return np.setdiff1d(may, [*getattr(self._estimator, "banned", ()), *self.found.selected])

    def _summed(self) -> Work:
        """Add up the products of features in each query of large data, once for all parts."""
        if self._data.several and self._sums_fit:
            yield from summing_rows(self._data, self._by.cost)

    @property
    def _sums_fit(self) -> bool:
        """Whether the products of all features in each query of large data are few enough."""
        return not self._data.several or sums_fit(self._data)

    def _losses(self) -> Work:
        yield WorkProgress("leaving out each feature", 0.0)
        yield from self._summed()
        self._keep(
            losses=feature_losses(
                self._by, self._data, self.found.selected, self._options.measure, self._options.convention
            )
        )

    def _changes(self) -> Work:
        yield WorkProgress("changing the set", 0.0)
        selected = self.found.selected
        candidates = tuple((yield from self._others()).tolist())
        if swap_seconds(self.found.n_queries, len(selected), len(candidates)) <= self._options.max_seconds:
            self._keep(changes=exchanged_changes(self._by, self._data, selected), candidates=candidates)

    def _shares(self) -> Work:
        shares = yield from exchanged_shares(self._by, self._data, self.found.selected)
        self._keep(shares=shares)

    def _stability(self) -> Work:
        if self._refit is None or self._path.paths_from_sums(self._data) is not None:
            work = stability_steps(
                self._path, self._data, self._options.n_halves, self._options.seed, self.found.stability
            )
        else:
            work = self._refit(self._path)
        for progress in work:
            if isinstance(progress, PartialResult):
                self._keep(stability=progress.found)
            yield progress

    def _deciding(self) -> Work:
        k = self.found.k
        steps = (yield from deciding_steps(_sized(self._path, k), self._data, k, self._options.n_refits))[:k]
        if tuple(step.feature for step in steps) == self.found.selected:
            self._keep(deciding=steps, deciding_by_margins=not all(step.exact for step in steps))

    def _best(self) -> Work:
        """Search for the best set, up to a limit of seconds without compilation."""
        began = inf
        share = 0.0
        compiled = list[str]()
        with announced(compiled.append), closing(find_best_subset(self._data, self._space())) as work:
            for progress in work:
                self._keep(best=progress.found)
                yield progress
                if compiled and progress.share == share:
                    began = inf  # compilation does not count
                else:
                    compiled.clear()
                began = min(began, perf_counter())
                share = progress.share
                if perf_counter() - began > self._options.max_seconds:
                    break

    def _alternatives(self) -> Work:
        """Compare the set with one feature exchanged, and without one, with the best set of its size."""
        selected = self.found.selected
        reference = self._best_of(self.found.size) or selected
        exchanges: dict[int, tuple[Exchange, ...]] = {}
        smaller: dict[int, SetDifference] = {}
        for position, column in enumerate(selected):
            if column in self.found.required:
                continue
            yield WorkProgress("comparing alternatives", position / len(selected))
            rest = selected[:position] + selected[position + 1 :]
            rivals, alike = yield from self._rivals(column)
            results: list[tuple[SetDifference | None, ...]] = [(None,)] * rivals.size
            if self._judged(_MOST_JUDGED):
                without = yield from self._best_without(column, rest)
                sets = [without, *((*rest, rival) for rival in rivals.tolist())]
                reference_errors, own_errors, *errors = left_out_errors(
                    self._by, self._data, [reference, selected, *sets]
                )
                smaller[column] = _difference(without, errors[0], reference_errors)
                results = [
                    (_difference(columns, error, reference_errors), _difference(columns, error, own_errors))
                    for columns, error in zip(sets[1:], errors[1:], strict=True)
                ]
            compared_rivals = zip(rivals.tolist(), alike.tolist(), results, strict=True)
            exchanges[column] = tuple(Exchange(rival, r, *compared) for rival, r, compared in compared_rivals)
        tied = yield from part_of(self._ties(), 1.0, 1.0)
        self._keep(exchanges=exchanges, smaller=smaller, tied=tied)

    def _ties(self) -> Waiting[dict[int, int]]:
        """Return the selected columns with the same score as one outside the set, and that one.

        Scores per cost and of random candidates are not compared, and sets that are not nested.
        """
        method = self._estimator
        evidence = self.found
        other = any(getattr(method, name, None) is not None for name in ("costs", "n_candidates"))
        if other or not isinstance(method, GrowingSelector):
            return {}
        tied = dict[int, int]()
        before = 0
        for step in (yield from without_notes(steps_of(_sized(self._path, evidence.size).work(self._data)))):
            if step.selected != evidence.selected[: len(step.selected)] or not step.candidates.size:
                return {}
            outside = np.isfinite(step.candidates)
            outside[list(evidence.selected)] = False
            rounding = TIE * np.nanmax(np.abs(step.candidates), initial=0.0)
            for column in step.selected[before:]:
                equal = outside & (np.abs(step.candidates - step.candidates[column]) <= rounding)
                if equal.any():
                    tied[column] = int(np.argmax(equal))
            before = len(step.selected)
        return tied

    def _rivals(self, column: int) -> Waiting[tuple[Ints, Floats]]:
        """Return the columns that may be interchangeable with one, and their correlations with it."""
        candidates = yield from self._others()
        products, _ = yield from sums_of_products(self._data)
        squares = products[candidates, candidates] * products[column, column]
        with np.errstate(divide="ignore", invalid="ignore"):
            alike = products[column, candidates] / np.sqrt(squares)
        order = np.argsort(-np.nan_to_num(np.abs(alike)), kind="stable")[:1]
        if self.found.stability is not None:
            inside = (self.found.stability.places > 0) & (self.found.stability.places <= self.found.size)
            apart = (inside[:, candidates] != inside[:, [column]]).mean(axis=0)
            likely = np.argsort(-apart, kind="stable")[:_RIVALS]
            order = np.union1d(order, likely[inside[:, candidates[likely]].any(axis=0)])
        return candidates[order], alike[order]

    def _best_of(self, size: int) -> tuple[int, ...]:
        """Return the proved best set of a size; () where none is known."""
        sizes = self.found.best.sizes if self.found.best is not None else ()
        return next((subset.features for subset in sizes if subset.size == size and subset.proved), ())

    def _best_without(self, column: int, rest: tuple[int, ...]) -> Waiting[tuple[int, ...]]:
        """Return the best set of k - 1 features that lacks one; the rest of the set where that is unknown.

        The rest is also returned where features are selected jointly: no set of groups lacks just one.
        """
        if self.found.groups:
            return rest
        best = self._best_of(len(rest))
        if not best or column not in best:
            return best or rest
        best_sets: BestSubset = self.found.best  # type: ignore[assignment] # it has the best set
        if best_sets.of_size(len(rest)).n_sets > self._options.most_sets:
            return rest
        space = self._space(len(rest))
        space = replace(space, excluded=(*space.excluded, column))
        for progress in find_best_subset(self._data, space):
            yield progress
        last = progress.found.sizes[-1]
        return last.features if last.size == len(rest) and last.features else rest

    def _near_best(self) -> Work:
        """Find the sets as good as the proved best sets of the selection's size and one below."""
        sizes = self.found.best.sizes if self.found.best is not None else ()
        limit = self._options.most_sets
        pair = (self.found.size - 1, self.found.size)
        subsets = [
            sized
            for sized in sizes
            if sized.proved and sized.features and sized.n_sets <= limit and sized.size in pair
        ]
        near: list[Any] = []
        n_done = 0
        n_total = sum(subset.n_sets for subset in subsets)
        for best in subsets:
            work = near_sets_of_size(self._data, self._space(), best)
            near.append((yield from part_of(work, n_done / n_total, (n_done + best.n_sets) / n_total)))
            n_done += best.n_sets
        if near:
            self._keep(near_best=tuple(near))

    def _significance(self) -> Work:
        tested = significance_steps(
            self._path,
            self._data,
            self._options.n_permutations,
            self._options.seed,
            self.found.significance,
        )
        for progress in tested:
            if isinstance(progress, PartialResult):
                self._keep(significance=progress.found)
            yield progress

    def _repeated(self) -> Work:
        for progress in left_out_steps(self._path, self._data, self.found.repeated):
            if isinstance(progress, PartialResult):
                self._keep(repeated=progress.found)
            yield progress

    def _space(self, size: int | None = None) -> SubsetSpace:
        """Return which sets the method selects from."""
        assert self._exchange is not None  # for others there is no best set
        return SubsetSpace.of(self._exchange, self.found.size if size is None else size)


def _difference(features: tuple[int, ...], errors: Floats, other_errors: Floats) -> SetDifference:
    """Return the excess of a set, from the errors of each query by it and by another set.

    A set and its copy have the same error but for rounding, of which a test would make a finding.
    """
    by_query = errors - other_errors
    total = float(errors.sum() - other_errors.sum())
    deviation = float(np.sqrt(by_query.size * by_query.var(ddof=1)))
    return SetDifference(features, 0.0 if abs(total) <= TIE * other_errors.sum() else total, deviation)


def _sized(estimator: Selector, n_features: int) -> Any:
    """Return the method with a number of features to select, if it selects one after the other."""
    parameters = estimator.get_params(deep=False)
    if isinstance(estimator, GrowingSelector):
        parameters["n_features_to_select"] = n_features
    return type(estimator)(**parameters)
