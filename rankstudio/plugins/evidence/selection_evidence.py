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

from rankstudio.engine.analysis.features.set_checks import halved_count
from rankstudio.engine.arithmetic.query_data import group, several_queries
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.splitting.query_halves import LEAST_QUERIES
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.capabilities import ExactExchange
from rankstudio.engine.methods.foreign.instances import as_method
from rankstudio.engine.methods.selection.base import TIE, GrowingSelector, Selector
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls.search_choice import (
    each_left_out,
    sums_fit,
)
from rankstudio.engine.methods.selection.greedy_rankrls.summed_rows import summing_rows
from rankstudio.engine.methods.selection.greedy_rankrls.swaps import swap_seconds
from rankstudio.engine.methods.shards.sums import informative_columns, sums_of_products
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.metrics.conventions import DEFAULT
from rankstudio.engine.steps import steps_of
from rankstudio.engine.support.compilation import announced
from rankstudio.engine.support.work import (
    Waiting,
    WorkProgress,
    finish,
    part_of,
    without_notes,
)
from rankstudio.plugins.evidence.best_subset import (
    BestSubset,
    SubsetSpace,
    find_best_subset,
)
from rankstudio.plugins.evidence.deciding_queries import deciding_steps
from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
from rankstudio.plugins.evidence.feature_losses import feature_losses, left_out_errors
from rankstudio.plugins.evidence.near_best_sets import near_sets_of_size
from rankstudio.plugins.evidence.partial_result import PartialResult
from rankstudio.plugins.evidence.path_length import path_length
from rankstudio.plugins.evidence.repeated_left_out import left_out_steps
from rankstudio.plugins.evidence.set_changes import exchanged_changes
from rankstudio.plugins.evidence.shapley_shares import MOST_FEATURES, exchanged_shares
from rankstudio.plugins.evidence.stability_selection import (
    StabilitySelection,
    stability_steps,
)
from rankstudio.plugins.evidence.step_significance import significance_steps
from rankstudio.plugins.evidence.verdicts import Exchange, SetDifference, VerdictRules

Work = Waiting[None]
Gathering = Generator[PartialResult[SelectionEvidence], None, SelectionEvidence]
Refit = Callable[[Selector], Generator[WorkProgress, None, StabilitySelection]]
"""Trains a selector on halves of the queries elsewhere, such as by units of work on an executor."""

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

_PURPOSE = "The evidence for a selection"
_MOST_JUDGED = 50  # features of a set: leaving out more features one by one takes long
# most likely substitutes that are tried in place of each feature,
# besides the most similar one
_RIVALS = 8


@dataclass(frozen=True)
class EvidenceOptions:
    """The options of the evidence for a selection: which parts to compute, and how exactly.

    Attributes
    ----------
    n_features : int or None
        Size of the set, k; by default the number of features the
        estimator selects.
    selected : tuple of int or None
        0-based columns of the set in the order of selection; by default
        the first k features of the estimator.
    n_steps : int or None
        Length of the paths for probabilities, p values and left-out
        curves; by default 12, or more for large sets, see
        :func:`rankstudio.plugins.evidence.path_length.path_length`.
    judge : LinearRanker or None
        Estimator with exact left-out errors, such as RankRLS; by
        default the estimator itself if it selects by these errors, as
        greedy RankRLS does. Without a judge there are no losses,
        changes or shares, and alternatives are not compared by their
        errors.
    measure : str
        Measure of the losses; "" for the squared error.
    convention : str
        Convention of the measure.
    n_halves, seed : int
        As in
        :func:`rankstudio.plugins.evidence.stability_selection.stability_selection`.
    n_permutations : int
        As in
        :func:`rankstudio.plugins.evidence.step_significance.step_significance`.
    max_seconds : float
        Time limit of the search for the best sets in seconds; sets not
        proved by then have a gap.
    most_sets : int
        Maximum number of sets of a size that are enumerated for
        near-best sets or searched again without a feature.
    n_refits : int
        Maximum number of times that a method is trained again for
        deciding queries, if there is no faster way. By default such
        methods have no deciding queries.
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
        """Raise ParameterError for an unknown part of the evidence."""
        for part in self.parts:
            if part not in PARTS:
                raise ParameterError("parts", part, " or ".join(PARTS))


def selection_evidence(
    estimator: LinearRanker,
    X: ArrayLike,
    y: ArrayLike,
    *,
    qid: ArrayLike | None,
    **options: Any,
) -> SelectionEvidence:
    """Compute the evidence for a selection of features, with a verdict on each feature.

    Parameters
    ----------
    estimator : Selector
        The estimator is not fitted here. Greedy RankRLS supports all
        evidence; other selectors support part of it.
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
    Sets are compared by the exact left-out squared error of RankRLS. A
    set is near-best if a paired test over queries at 5 % finds no
    significant difference from the best set of k features, or from the
    selection if the best set is not proved.

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
    return finish(
        evidence_steps(
            as_method(estimator), group(X, y, qid), EvidenceOptions(**options)
        )
    )


def evidence_steps(
    estimator: LinearRanker,
    data: GivenData,
    options: EvidenceOptions | None = None,
    earlier: SelectionEvidence | None = None,
    refit: Refit | None = None,
) -> Gathering:
    """Compute the evidence for a selection of features, part by part.

    Parameters
    ----------
    estimator : LinearRanker
        A method that selects features; it is not fitted here.
    data : QueryData or TrainingData
        Documents grouped by query, or one ranking.
    options : EvidenceOptions, optional
        Parts to compute, and their accuracy.
    earlier : SelectionEvidence, optional
        Result of an interrupted run with the same arguments; finished
        parts, halves, permutations and queries are not repeated.
    refit : callable, optional
        Trains methods that must be trained again on each half, for
        example on other processors or storing each half. By default
        such methods are trained here, one half after the other.

    Yields
    ------
    PartialResult
        :class:`SelectionEvidence` so far.

    Returns
    -------
    SelectionEvidence
        The whole evidence.
    """
    work = _Evidence(estimator, data, options or EvidenceOptions(), earlier, refit)
    yield PartialResult("gathering evidence", 0.0 if work.parts else 1.0, work.found)

    for number, part in enumerate(work.parts):
        with closing(work.part(part)) as steps:
            for progress in steps:
                yield PartialResult(
                    progress.what,
                    (number + progress.share) / len(work.parts),
                    work.found,
                )
        yield PartialResult(
            "gathering evidence", (number + 1) / len(work.parts), work.found
        )

    return work.found


class _Evidence:
    """Gathers the evidence for a selection part by part; ``found`` is the evidence so far.

    Each part has a method of this class, which computes the part and
    stores it in ``found``, also while the part is incomplete.
    """

    def __init__(
        self,
        estimator: LinearRanker,
        data: GivenData,
        options: EvidenceOptions,
        earlier: SelectionEvidence | None,
        refit: Refit | None,
    ) -> None:
        """Check the arguments, and find the parts of the evidence that apply and are not done.

        ``earlier`` is evidence to continue, or None. ``refit`` trains
        the method on halves of the queries, for instance on other
        processors, if paths of the halves cannot be computed from sums
        over the queries. If it is None, such methods are trained here.
        """
        if not isinstance(estimator, Selector):
            raise ParameterError(
                "estimator", type(estimator).__name__, "a method that selects features"
            )
        self._data = training_data(data).for_method(accepts_sparse=False)

        # These checks raise an error for data that are too small.
        if self._data.one_ranking:
            halved_count(1, self._data.y.size, _PURPOSE, one_ranking=True)
        else:
            several_queries(self._data.ptr, _PURPOSE)
        self._estimator = estimator
        self._options = options
        self._refit = refit
        if earlier is None:
            required = tuple(int(column) for column in getattr(estimator, "pinned", ()))
            selected = self._selected()
            n_queries = int(self._data.ptr.size) - 1
            groups = tuple(
                tuple(map(int, group)) for group in getattr(estimator, "groups", ())
            )
            n_documents = self._data.y.size if self._data.one_ranking else None
            earlier = SelectionEvidence(
                selected,
                n_queries,
                required,
                options.rules,
                groups=groups,
                n_documents=n_documents,
            )
        self.found = earlier

        # A group of columns is selected in one step, as a single feature is.
        units = ColumnGroups.of(self._data.X.shape[1], earlier.groups)
        n_selectable = len(units.groups) - len(
            units.containing(getattr(estimator, "banned", ()))
        )
        n_steps = options.n_steps or path_length(earlier.size, n_selectable)

        # The estimator with paths that go beyond the selection.
        self._path_estimator = _sized(
            estimator, min(n_selectable, max(n_steps, earlier.size, 1))
        )

        # The judge compares sets of features by an exact left-out
        # error, of which `exact_exchange` gives λ and loss (None without
        # such an error). The method judges its own sets only if it
        # selects by this error (`is_criterion`); else the judge of the
        # options does, if there is one.
        self._exchange = exchange = estimator.exact_exchange()
        criterion_exchange = (
            exchange if exchange is not None and exchange.is_criterion else None
        )
        self._judge: ExactExchange | None = (
            options.judge.exact_exchange()
            if options.judge is not None
            else criterion_exchange
        )
        missing_parts = [
            part for part in PARTS if part in options.parts and part not in earlier.done
        ]
        self.parts = tuple(part for part in missing_parts if self._applies(part))

    def part(self, part: str) -> Work:
        """Compute a part, by its name in `PARTS`, and add it to ``found``; yield progress."""
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
        """Set fields of the evidence so far, by their names."""
        self.found = replace(self.found, **parts)

    def _selected(self) -> tuple[int, ...]:
        """Return the columns of the judged set: the set of the options, or what the estimator selects.

        The columns are 0-based, in the order of selection. If a method
        has no such order, columns with large weights come first.
        """
        n = self._data.X.shape[1]
        options = self._options
        if options.selected is not None:
            columns = tuple(int(column) for column in options.selected)
            if len(set(columns)) < len(columns) or not all(
                0 <= column < n for column in columns
            ):
                raise ParameterError(
                    "selected", list(columns), f"different columns from 0 to {n - 1}"
                )
            return columns

        # Only the last step of the path is needed.
        if options.n_features is None:
            *_, last = self._estimator.learn(self._data)
        else:
            k = between("n_features", options.n_features, 1, n)
            *_, last = _sized(self._estimator, k).learn(self._data)
        if isinstance(self._estimator, GrowingSelector):
            return last.selected
        order = sorted(
            last.selected, key=lambda column: (-abs(last.coef[column]), column)
        )
        return tuple(order[: options.n_features])

    def _applies(self, part: str) -> bool:
        """Return whether a part of `PARTS` is defined for the method and the data."""
        k = self.found.k
        n_queries = self.found.n_queries

        # Other data have preferences between documents instead of labels.
        has_labels = not self._data.preferring
        if part == "alternatives":
            return k > 0
        if part == "stability":
            return k > 0 and (self._data.one_ranking or n_queries >= LEAST_QUERIES)
        if self._data.one_ranking:
            return False  # the other parts compare queries

        # Shares need the errors of all subsets of the selection, so
        # that it has to be smaller.
        if part in ("losses", "changes", "shares"):
            is_judged = self._is_judged(
                MOST_FEATURES if part == "shares" else _MOST_JUDGED
            )

            # Changes need the products of all features, which must fit.
            return is_judged and (part != "changes" or self._sums_fit)
        return has_labels and n_queries >= 3 and self._method_supports(part)

    def _method_supports(self, part: str) -> bool:
        """Return whether the method supports a part about its best sets or the steps of its path.

        Best sets need a method that selects by exact left-out errors;
        the other parts need certain fast ways to learn its paths again.
        """
        k = self.found.k
        path_estimator = self._path_estimator
        data = self._data
        if part in ("best", "near_best"):
            selects_by_exact_errors = (
                self._exchange is not None and self._exchange.is_criterion
            )
            return selects_by_exact_errors and k > 0 and self._sums_fit
        if part == "significance":
            # The test permutes residuals, which supports losses that
            # count ties only.
            counts_ties = self._exchange is None or self._exchange.cost.ties
            return counts_ties and path_estimator.step_test(data) is not None
        has_sums = path_estimator.paths_from_sums(data) is not None
        if part == "repeated":
            # whether the copies of the sums, one without each query, fit
            return has_sums and each_left_out(data)

        # what is left are the deciding queries
        can_repeat = has_sums or self._options.n_refits > 0
        return k > 0 and (
            can_repeat or self._estimator.compared_by_query(data, k) is not None
        )

    def _is_judged(self, max_features: int) -> bool:
        """Return whether there is a judge for the set, and the set has at most this many features.

        The judge is a RankRLS whose exact left-out error compares sets;
        it needs several queries with labels. Data with preferences
        between documents (`preferring`) have no labels.
        """
        return (
            self._judge is not None
            and not self._data.preferring
            and not self._data.one_ranking
            and 0 < self.found.k <= max_features
        )

    @property
    def _required_judge(self) -> ExactExchange:
        """The judge, in parts that apply only with a judge."""
        assert self._judge is not None
        return self._judge

    def _candidate_columns(self) -> Waiting[Ints]:
        """Return the columns that may join the set: neither banned nor constant in every query."""
        informative: Ints = np.flatnonzero((yield from informative_columns(self._data)))
        return np.setdiff1d(
            informative, [*getattr(self._estimator, "banned", ()), *self.found.selected]
        )

    def _sum_products(self) -> Work:
        """Add up the products of features in each query of large data, once for all parts."""
        if self._data.several and self._sums_fit:
            yield from summing_rows(self._data, self._required_judge.cost)

    @property
    def _sums_fit(self) -> bool:
        """Whether the products of all features in each query are small enough to be stored."""
        return not self._data.several or sums_fit(self._data)

    def _losses(self) -> Work:
        """Measure left-out queries with the set, and with the set without each feature."""
        yield WorkProgress("leaving out each feature", 0.0)
        yield from self._sum_products()
        losses = feature_losses(
            self._required_judge,
            self._data,
            self.found.selected,
            self._options.measure,
            self._options.convention,
        )
        self._keep(losses=losses)

    def _changes(self) -> Work:
        """Compute the left-out error of the set after each change by one feature.

        The work yields progress and stores the errors in ``found``.
        Nothing is computed if that would take longer than the time
        limit.
        """
        yield WorkProgress("changing the set", 0.0)
        selected = self.found.selected
        candidates = tuple((yield from self._candidate_columns()).tolist())
        if (
            swap_seconds(self.found.n_queries, len(selected), len(candidates))
            <= self._options.max_seconds
        ):
            changes = exchanged_changes(self._required_judge, self._data, selected)
            self._keep(changes=changes, candidates=candidates)

    def _shares(self) -> Work:
        """Divide the gain of the selection among its features."""
        shares = yield from exchanged_shares(
            self._required_judge, self._data, self.found.selected
        )
        self._keep(shares=shares)

    def _stability(self) -> Work:
        """Select features on halves of the queries or documents; keep the finished halves.

        Methods whose paths do not follow from sums over queries are
        trained by ``refit`` if there is one, for instance on other
        processors.
        """
        if (
            self._refit is None
            or self._path_estimator.paths_from_sums(self._data) is not None
        ):
            work = stability_steps(
                self._path_estimator,
                self._data,
                self._options.n_halves,
                self._options.seed,
                self.found.stability,
            )
        else:
            work = self._refit(self._path_estimator)
        for progress in work:
            if isinstance(progress, PartialResult):
                self._keep(stability=progress.found)
            yield progress

    def _deciding(self) -> Work:
        """Find the queries that decide the step of each feature of the set."""
        k = self.found.k
        estimator_of_k = _sized(self._path_estimator, k)
        steps = (
            yield from deciding_steps(
                estimator_of_k, self._data, k, self._options.n_refits
            )
        )[:k]

        # A set that was given may differ from the path of the method.
        if tuple(step.feature for step in steps) == self.found.selected:
            self._keep(
                deciding=steps,
                deciding_by_margins=not all(step.exact for step in steps),
            )

    def _best(self) -> Work:
        """Search for the best sets up to the time limit, which does not count compilation."""
        began = inf  # the time has not started
        share = 0.0

        # Names of the functions that were compiled since the last
        # progress; `announced` passes them on.
        compiled = list[str]()

        with (
            announced(compiled.append),
            closing(find_best_subset(self._data, self._space())) as work,
        ):
            for progress in work:
                self._keep(best=progress.found)
                yield progress
                if compiled and progress.share == share:
                    # the time starts again, as only compilation has happened
                    began = inf
                else:
                    compiled.clear()
                began = min(began, perf_counter())
                share = progress.share
                if perf_counter() - began > self._options.max_seconds:
                    break

    def _alternatives(self) -> Work:
        """Compare changes of the selection with the best set of its size.

        A change exchanges one feature of the selection, or leaves it
        out. Exchanges are also compared with the selection itself.
        Without a judge, which compares sets by their errors, exchanges
        have only correlations. The results are stored in ``found``.
        """
        selected = self.found.selected
        reference = self._best_of(self.found.size) or selected
        exchanges: dict[int, tuple[Exchange, ...]] = {}
        smaller: dict[int, SetDifference] = {}

        for position, column in enumerate(selected):
            if column in self.found.required:
                continue
            yield WorkProgress("comparing alternatives", position / len(selected))
            rest = selected[:position] + selected[position + 1 :]

            # Features that may be as good as this one. Without a judge,
            # each has None instead of its comparisons.
            rivals, correlations = yield from self._rivals(column)
            results: list[tuple[SetDifference | None, ...]] = [(None,)] * rivals.size
            if self._is_judged(_MOST_JUDGED):
                without = yield from self._best_without(column, rest)

                # Errors of the reference, of the selection, without the
                # feature, and with each rival in its place.
                sets = [without, *((*rest, rival) for rival in rivals.tolist())]
                reference_errors, own_errors, *errors = left_out_errors(
                    self._required_judge, self._data, [reference, selected, *sets]
                )
                smaller[column] = _difference(without, errors[0], reference_errors)

                # each exchange against the reference and against the selection
                results = [
                    (
                        _difference(columns, error, reference_errors),
                        _difference(columns, error, own_errors),
                    )
                    for columns, error in zip(sets[1:], errors[1:], strict=True)
                ]
            compared_rivals = zip(
                rivals.tolist(), correlations.tolist(), results, strict=True
            )
            exchanges[column] = tuple(
                Exchange(rival, r, *compared) for rival, r, compared in compared_rivals
            )

        # the progress stays at its end
        tied = yield from part_of(self._ties(), 1.0, 1.0)
        self._keep(exchanges=exchanges, smaller=smaller, tied=tied)

    def _ties(self) -> Waiting[dict[int, int]]:
        """Return the column outside the set that has the same score as a selected column at its step.

        The result of the generator is a dict from the selected column
        to the other column, without selected columns that have no such
        tie. The dict is empty for scores per cost, for random
        candidates, for sets that are not nested, and for a selection
        that differs from the method's path.
        """
        method = self._estimator
        evidence = self.found
        has_other_scores = any(
            getattr(method, name, None) is not None
            for name in ("costs", "n_candidates")
        )
        if has_other_scores or not isinstance(method, GrowingSelector):
            return {}
        tied = dict[int, int]()
        n_before = 0  # features selected by the earlier steps
        sized_estimator = _sized(self._path_estimator, evidence.size)

        # The method is trained again, for the scores of all candidates
        # at each step. Its progress is passed on, and its notes are
        # not.
        for step in (
            yield from without_notes(steps_of(sized_estimator.work(self._data)))
        ):
            differs = step.selected != evidence.selected[: len(step.selected)]
            if differs or not step.candidates.size:
                return {}
            outside = np.isfinite(step.candidates)
            outside[list(evidence.selected)] = False
            rounding = TIE * np.nanmax(np.abs(step.candidates), initial=0.0)
            for column in step.selected[n_before:]:
                is_equal = outside & (
                    np.abs(step.candidates - step.candidates[column]) <= rounding
                )
                if is_equal.any():
                    tied[column] = int(np.argmax(is_equal))
            n_before = len(step.selected)

        return tied

    def _rivals(self, column: int) -> Waiting[tuple[Ints, Floats]]:
        """Return columns that may be interchangeable with a selected one.

        The rivals are the most similar candidate, and the candidates
        that are mostly selected on the halves of the queries that do
        not select ``column``, and not on the other halves. The result
        of the generator is the columns of the rivals, and their
        correlations with ``column``.
        """
        candidates = yield from self._candidate_columns()

        # Features are centred within each query, so that these (n, n)
        # sums of products give correlations; a constant feature has
        # none (NaN).
        products, _ = yield from sums_of_products(self._data)
        squares = products[candidates, candidates] * products[column, column]

        with np.errstate(divide="ignore", invalid="ignore"):
            correlations = products[column, candidates] / np.sqrt(squares)

        # position of the most similar candidate
        order = np.argsort(-np.nan_to_num(np.abs(correlations)), kind="stable")[:1]
        if self.found.stability is not None:
            # (halves, columns); a place of 0 stands for "not selected"
            is_selected = (self.found.stability.places > 0) & (
                self.found.stability.places <= self.found.size
            )
            share_apart = (is_selected[:, candidates] != is_selected[:, [column]]).mean(
                axis=0
            )

            # Those that no half selects are left out again.
            likely = np.argsort(-share_apart, kind="stable")[:_RIVALS]
            order = np.union1d(
                order, likely[is_selected[:, candidates[likely]].any(axis=0)]
            )
        return candidates[order], correlations[order]

    def _best_of(self, size: int) -> tuple[int, ...]:
        """Return the proved best set of a size.

        It is () if no set of the size is proved to be the best.
        """
        sizes = self.found.best.sizes if self.found.best is not None else ()
        return next(
            (
                subset.features
                for subset in sizes
                if subset.size == size and subset.proved
            ),
            (),
        )

    def _best_without(
        self, column: int, rest: tuple[int, ...]
    ) -> Waiting[tuple[int, ...]]:
        """Return the columns of the best set of k - 1 features without a column, or ``rest``.

        ``rest``, the selection without the column, is returned if the
        best set is unknown or would take long to find, and with groups,
        where no set lacks a single feature.
        """
        if self.found.groups:
            return rest
        best = self._best_of(len(rest))
        if not best or column not in best:
            return best or rest
        best_sets: BestSubset = self.found.best  # type: ignore[assignment] # not None: `best` is from it
        if best_sets.of_size(len(rest)).n_sets > self._options.most_sets:
            return rest
        space = self._space(len(rest))
        space = replace(space, excluded=(*space.excluded, column))

        for progress in find_best_subset(self._data, space):
            yield progress

        # The last progress has the complete result.
        last = progress.found.sizes[-1]
        return last.features if last.size == len(rest) and last.features else rest

    def _near_best(self) -> Work:
        """Find the sets as good as the proved best sets of the selection's size and one below."""
        sizes = self.found.best.sizes if self.found.best is not None else ()
        limit = self._options.most_sets

        # A feature is dispensable if a set of one feature less is as good.
        two_sizes = (self.found.size - 1, self.found.size)
        subsets = [
            sized
            for sized in sizes
            if sized.proved
            and sized.features
            and sized.n_sets <= limit
            and sized.size in two_sizes
        ]
        near: list[Any] = []
        n_done = 0  # sets of the sizes that are done
        n_total = sum(subset.n_sets for subset in subsets)

        # `part_of` makes the progress of a size a part of the whole progress.
        for best in subsets:
            work = near_sets_of_size(self._data, self._space(), best)
            near.append(
                (
                    yield from part_of(
                        work, n_done / n_total, (n_done + best.n_sets) / n_total
                    )
                )
            )
            n_done += best.n_sets

        if near:
            self._keep(near_best=tuple(near))

    def _significance(self) -> Work:
        """Compare the steps of the path with chance, by permutations; keep those that are done."""
        work = significance_steps(
            self._path_estimator,
            self._data,
            self._options.n_permutations,
            self._options.seed,
            self.found.significance,
        )
        for progress in work:
            if isinstance(progress, PartialResult):
                self._keep(significance=progress.found)
            yield progress

    def _repeated(self) -> Work:
        """Repeat the selection without each query; keep the queries that are done."""
        for progress in left_out_steps(
            self._path_estimator, self._data, self.found.repeated
        ):
            if isinstance(progress, PartialResult):
                self._keep(repeated=progress.found)
            yield progress

    def _space(self, size: int | None = None) -> SubsetSpace:
        """Return the sets that the method may select, up to a size.

        By default, the size is that of the selection.
        """
        # best sets are searched only for methods with exact errors
        assert self._exchange is not None
        return SubsetSpace.of(self._exchange, self.found.size if size is None else size)


def _difference(
    features: tuple[int, ...], errors: Floats, other_errors: Floats
) -> SetDifference:
    """Return the excess error of a set over another set, with its standard error.

    ``errors`` and ``other_errors``, shape (Q,), are those of the set of
    ``features`` and of the other set in each query. A total within
    rounding is set to 0: a test could find the difference between a set
    and its copy significant.
    """
    by_query = errors - other_errors
    total = float(errors.sum() - other_errors.sum())

    # the standard error of a sum over queries
    standard_error = float(np.sqrt(by_query.size * by_query.var(ddof=1)))
    is_tie = abs(total) <= TIE * other_errors.sum()
    return SetDifference(features, 0.0 if is_tie else total, standard_error)


def _sized(estimator: Selector, n_features: int) -> Any:
    """Return a copy of the method that selects ``n_features`` features.

    A method that does not select step by step is copied with its own
    number of features.
    """
    parameters = estimator.get_params(deep=False)
    if isinstance(estimator, GrowingSelector):
        parameters["n_features_to_select"] = n_features
    return type(estimator)(**parameters)
