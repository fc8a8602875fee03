"""Base classes of selectors.

There is one for all selectors, one for growing selections, and one for
selectors that order the features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.shared import once
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.errors import between
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.capabilities import ExactExchange
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, sums_need
from rankstudio.engine.methods.scikit_learn import check_is_fitted
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.constraints import Constraints, worth
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Waiting, WorkProgress

TIE = 64 * float(np.finfo(np.float64).eps)
"""Two criteria tie if they differ by at most this share of the empty model's criterion: their rounding."""


class Selector(LinearRanker):
    """Base class of selectors: scikit-learn transformers, like scikit-learn's own selectors.

    Shared functionality comes from scikit-learn, which is imported on first use.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        Weights of the model with all selected features, 0 for the others.
    support_ : ndarray of shape (n,), bool
        Mask of the selected features.
    selection_order_ : ndarray of shape (k,)
        0-based columns in the order of selection.
    coef_path_ : ndarray of shape (k, n)
        Models with the first 1, 2, … k selected features.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import Selector, Step
    >>> class First(Selector):
    ...     def learn(self, data):
    ...         n = data.X.shape[1]
    ...         yield Step(1, (0,), np.eye(n)[0], np.nan, np.full(n, np.nan))
    >>> First().fit(np.eye(3), [0, 1, 2], qid=[1, 1, 1]).get_support()
    array([ True, False, False])
    """

    support_: Bools
    selection_order_: Ints
    coef_path_: Floats

    # Tells scikit-learn that `transform` can return data frames.
    _sklearn_auto_wrap_output_keys = frozenset({"transform"})

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        self.selection_order_ = np.array(steps[-1].selected, dtype=np.int64)
        self.support_ = np.zeros(steps[-1].coef.size, dtype=bool)
        self.support_[self.selection_order_] = True

    def get_support(self, indices: bool = False) -> Bools | Ints:
        """Return the selected features: a mask, or their columns in ascending order."""
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[np.object_]:
        """Return the names of the selected features, shape (k,)."""
        names: NDArray[np.object_] = _selector_mixin().get_feature_names_out(
            self, input_features
        )
        return names

    def transform(self, X: ArrayLike) -> Any:
        """Return the selected features of documents, shape (m, k)."""
        return _selector_mixin().transform(self, X)

    def fit_transform(self, X: ArrayLike, y: ArrayLike, **arguments: Any) -> Any:
        """Select features, and return the selected features of the same documents.

        The parameters are those of ``fit``.
        """
        return self.fit(X, y, **arguments).transform(X)

    def inverse_transform(self, X: ArrayLike) -> Any:
        """Return the documents with unselected features set to 0, shape (m, n)."""
        return _selector_mixin().inverse_transform(self, X)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set the output of ``transform``: arrays, "default", or frames of "pandas" or "polars"."""
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags  # noqa: PLC0415 - where it is asked for

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        return tags

    def _transform(self, X: Any) -> Any:
        """Return the selected columns of checked documents.

        ``X`` (m, n) are the documents. Scikit-learn calls this method.
        """
        return _selector_mixin()._transform(self, X)


def _selector_mixin() -> Any:
    from sklearn.feature_selection import SelectorMixin  # noqa: PLC0415 - where it is needed

    return SelectorMixin


@dataclass(eq=False, repr=False)
class GrowingSelector(Selector):
    """Base class of selectors with one step per size, each with the features selected so far.

    Subclasses implement ``learn`` or ``work``.

    Attributes
    ----------
    criterion_path_ : ndarray of shape (k,)
        Criterion after each step.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import GrowingSelector, Step
    >>> class InOrder(GrowingSelector):
    ...     def learn(self, data):
    ...         n = data.X.shape[1]
    ...         for k in range(1, 1 + (self.n_features_to_select or n)):
    ...             coef = np.where(np.arange(n) < k, 1.0, 0.0)
    ...             yield Step(k, tuple(range(k)), coef, float(-k), np.full(n, np.nan))
    >>> InOrder(2).fit(np.eye(3), [0, 1, 2], qid=[1, 1, 1]).selection_order_
    array([0, 1])
    """

    n_features_to_select: int | None = None

    criterion_path_: Floats = field(init=False)

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return (
            n_features
            if self.n_features_to_select is None
            else min(self.n_features_to_select, n_features)
        )

    def _n_to_select(self, n: int) -> int:
        """Return how many of n features to select at most.

        Raises a ParameterError for a number outside 1 to n.
        """
        size = n if self.n_features_to_select is None else self.n_features_to_select
        return between("n_features_to_select", size, 1, n)

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        super()._finish(data, steps)
        self.criterion_path_ = np.array([step.criterion for step in steps])
        self.coef_path_ = np.array([step.coef for step in steps])


@dataclass(frozen=True, eq=False)
class Ordering:
    """Order of the features that a selector returns for some data, with their scores.

    Attributes
    ----------
    features : ndarray of shape (k,)
        Selected columns in order.
    candidates : ndarray of shape (n,) or (k, n)
        Score of each feature, if it is the same at every step, or its
        score at each step; NaN for features that were not candidates.
    found : Mapping
        Attributes of the fitted selector by name, such as scores.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([0.2, 0.5])
    >>> Ordering(best_first(scores, 2), scores).features
    array([1, 0])
    """

    features: Ints
    candidates: Floats
    found: Mapping[str, Any] = field(default_factory=dict)

    def compared(self, position: int) -> Floats:
        """Return the scores (n,) by which the feature at a position of the order, from 0, was selected.

        NaN for features before it, which were no candidates any more.
        """
        if self.candidates.ndim == 2:
            return np.array(self.candidates[position])
        return without(self.candidates, self.features[:position])

    def joined(self, groups: ColumnGroups, k: int) -> Ordering:
        """Return the order of the features of the first k groups; a group is placed by its best feature.

        ``groups`` are g groups of columns that are selected together.
        In the returned ordering, every feature has the score of its
        group.
        """
        # The best score of each group; `of_column` is the group of each
        # feature. fmax ignores NaN, features without a score. A group
        # without any score stays at -inf, which becomes NaN.
        best = np.full(len(groups.groups), -np.inf)
        np.fmax.at(best, groups.of_column, self.candidates)
        scores = np.where(np.isneginf(best), np.nan, best)[groups.of_column]
        # Positions of the groups in the order of their first features,
        # the first k of them, and then all columns of these groups.
        columns = groups.columns(groups.containing(self.features.tolist())[:k])
        return Ordering(
            features=np.array(columns, dtype=np.int64),
            candidates=scores,
            found=self.found,  # attributes of the selector, which do not change
        )

    def per_cost(self, groups: ColumnGroups, rules: Constraints) -> Ordering:
        """Return an order by score per cost, without features that exceed the remaining budget.

        ``groups`` are groups of columns that are selected together. A
        group has the score of its best feature and the total cost of
        its features. Features without a score come last. ``rules`` has
        a cost per group, the budget, and the maximum number of groups.
        """
        # The best score of each group; `of_column` is the group of each
        # feature. fmax ignores NaN, features without a score; the
        # groups of only such features stay at -inf.
        best = np.full(len(groups.groups), -np.inf)
        np.fmax.at(best, groups.of_column, self.candidates)
        assert rules.costs is not None
        # Each round selects the affordable group with the greatest
        # score per cost, until none is affordable.
        gains = worth(best, rules.costs)  # score per cost
        remaining = rules.allowed.copy()
        selected = list[int]()
        spent = 0.0
        while (
            len(selected) < rules.k
            and (affordable := rules.affordable(remaining, spent)).size
        ):
            first = int(affordable[best_first(gains[affordable], 1)[0]])
            remaining[first] = False
            selected.append(first)
            spent += float(rules.costs[first])
        # Every feature gets the score of its group.
        scores = np.where(np.isneginf(best), np.nan, best)[groups.of_column]
        return Ordering(
            features=np.array(groups.columns(selected), dtype=np.int64),
            candidates=scores,
            found=self.found,  # attributes of the selector, which do not change
        )


@dataclass
class _Orderings:
    """Cache of the orderings of one dataset.

    A key contains the selector's class, its parameters without λ, and
    the number of features.
    """

    found: dict[tuple[type, tuple[tuple[str, Any], ...], int], Ordering] = field(
        default_factory=dict
    )


class PathSelector(GrowingSelector):
    """Base class of selectors that order features; RankRLS ranks with the first 1, 2, … k of them.

    Subclasses implement :meth:`order_features`. The parameters of a
    subclass include ``regularization``. The order is cached with the
    data, and used for every λ.

    The criterion of every step is the leave-query-out error of RankRLS
    with the features selected so far. Selectors can then be compared
    with each other and with greedy RankRLS on one scale, and a size can
    be selected without a validation part.

    Attributes
    ----------
    coef_, support_, selection_order_, coef_path_ : ndarray
        As in
        :class:`rankstudio.engine.methods.selection.base.Selector`; the
        weights are those of RankRLS.
    criterion_path_ : ndarray of shape (k,)
        Leave-query-out error after each step, summed over documents.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import Ordering, PathSelector, QueryData, best_first, finish, training_data
    >>> class ByVariance(PathSelector):
    ...     def order_features(self, data, k):
    ...         yield from ()  # or progress events, where it takes long
    ...         scores = data.whole("variance").X.var(axis=0)
    ...         return Ordering(best_first(scores, k), scores)
    >>> X = np.array([[0.0, 3.0], [1.0, 0.0], [0.5, 9.0]])
    >>> data = training_data(QueryData(X, np.array([0.0, 1.0, 0.0]), np.array([0, 3])))
    >>> finish(ByVariance().order_features(data, 1)).features
    array([1])
    """

    regularization: float
    groups: Sequence[Sequence[int]] = ()
    """0-based columns that are taken or left together.

    See :class:`ScoredSelector`.
    """
    costs: ArrayLike | None = None
    """Cost of each feature, which divides its score.

    See :class:`ScoredSelector`.
    """
    budget: float | None = None
    """Maximum total cost; see :class:`ScoredSelector`."""

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return super().n_steps(len(ColumnGroups.of(n_features, self.groups).groups))

    @property
    def orders_by_lambda(self) -> bool:
        """Whether the order also depends on λ."""
        return False

    def exact_exchange(self) -> ExactExchange | None:
        """Return λ and the default loss of RankRLS, which ranks with the features.

        By these, analyses exchange selected features for others.
        """
        return ExactExchange(float(self.checked("regularization")))

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Order the features of training data, and return the first k.

        A generator, which yields progress events before it returns the Ordering.
        """
        raise NotImplementedError

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Order the features, and yield one step per selected feature or group, after progress events.

        The model of a step is RankRLS with the feature or group of the
        step and all earlier ones. ``data`` are the training documents.
        """
        # scipy is imported where it is needed: reading the catalog must
        # not wait for it.
        from rankstudio.engine.methods.shards.sums import models_in_order  # noqa: PLC0415

        data = training_data(data)
        groups = ColumnGroups.of(data.X.shape[1], self.groups)
        k = self._n_to_select(len(groups.groups))
        regularization = self.checked("regularization")
        has_costs = self.costs is not None or self.budget is not None
        # With costs, rules say which features are affordable. Features
        # are neither pinned nor banned, and there is no random choice
        # of candidates.
        if has_costs:
            rules = Constraints.of(
                groups,
                self.n_features_to_select,
                pinned=(),
                banned=(),
                n_candidates=None,
                seed=0,
                costs=self.costs,
                budget=self.budget,
                size_penalty=0.0,
            )
        # Costs and groups reorder the features, so all of them have to
        # be ordered. Trivial groups have one feature each.
        n_ordered = data.X.shape[1] if has_costs or not groups.trivial else k
        # The order of the features, cut to k groups or to the budget.
        ordering = yield from self._order(data, n_ordered)
        if has_costs:
            ordering = ordering.per_cost(groups, rules)
        elif not groups.trivial:
            ordering = ordering.joined(groups, k)
        order = ordering.features
        # The RankRLS models with the first 1, 2, … features of the
        # order, and their leave-query-out errors. The steps take those
        # with whole groups.
        coefs, errors = yield from models_in_order(data, order, regularization)
        previous_size = 0
        # `size` is the number of features up to the end of each group.
        # Models that end within a group are no steps.
        for number, size in enumerate(groups.ends(order), start=1):
            selected = tuple(order[:size].tolist())
            # The scores of the features that were not selected before this step.
            candidate_scores = ordering.compared(previous_size)
            yield Step(
                number=number,
                selected=selected,
                coef=coefs[size - 1],
                criterion=float(errors[size - 1]),
                candidates=candidate_scores,
            )
            previous_size = size

    def _order(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Return the order of the first k features, computed once for all λ.

        Also sets the attributes of the fitted selector that come with
        the order, such as its scores. ``data`` are the training
        documents. The generator yields progress events, and then
        returns the result.
        """
        # The orders of all selectors are cached with the data. `once`
        # computes an order only if its key is not in the cache.
        orderings = data.shared.of(_Orderings).found
        key = (type(self), self._order_parameters(), k)
        ordering = yield from once(orderings, key, self.order_features(data, k))
        for name, value in ordering.found.items():
            setattr(self, name, value)
        return ordering

    def _order_parameters(self) -> tuple[tuple[str, Any], ...]:
        """Return the names and values of the parameters that the order depends on.

        Names and values are part of the key of a cached order, so each
        value is made hashable. λ is among them only if the selector
        orders by it.
        """
        # These parameters are applied to the finished order.
        applied_afterwards = {"groups", "costs", "budget"}
        ignored = (
            applied_afterwards
            if self.orders_by_lambda
            else {*applied_afterwards, "regularization"}
        )
        return tuple(
            (name, as_key(v))
            for name, v in self.get_params().items()
            if name not in ignored
        )


@dataclass(eq=False, repr=False)
class ScoredSelector(PathSelector):
    """Base class of selectors with one score per feature; groups and costs are compared by these scores.

    Examples
    --------
    >>> from rankstudio.api import ScoredSelector
    >>> class Mine(ScoredSelector):
    ...     pass  # scores features; groups and costs are compared by the scores
    >>> sorted(Mine(3, regularization=4.0).get_params())
    ['budget', 'costs', 'groups', 'n_features_to_select', 'regularization']
    """

    _: KW_ONLY
    regularization: float = 1.0
    groups: Sequence[Sequence[int]] = ()
    costs: ArrayLike | None = None
    budget: float | None = None

    scores_: Floats = field(init=False)


def as_key(value: Any) -> Any:
    """Return a parameter's value as part of a key: an array as its shape and its numbers."""
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        return value
    numbers = np.asarray(value)
    return numbers.shape, numbers.tobytes()


def best_first(scores: Floats, k: int) -> Ints:
    """Return the columns of the k largest scores; ties go to the lowest column.

    Scores that differ only by rounding count as ties, because sums over
    queries in another order differ in their last bits. NaN, no score,
    comes last.

    Examples
    --------
    >>> import numpy as np
    >>> best_first(np.array([0.2, 0.5, 0.5]), 2)
    array([1, 2])
    """
    order = np.argsort(-scores, kind="stable").astype(np.int64)
    magnitudes = np.abs(scores[np.isfinite(scores)])
    max_tie_gap = TIE * float(magnitudes.max(initial=0.0))
    descending = scores[order].tolist()
    # Tied scores are a level. A level starts at the first score that is
    # lower, by more than rounding, than the score at the start of the
    # level before.
    starts = [0]
    for index, score in enumerate(descending):
        # The negated condition also holds for NaN: each is a level of
        # its own, at the end.
        if not score >= descending[starts[-1]] - max_tie_gap:
            starts.append(index)
    # Number of each score's level: the level increases by 1 at each
    # start but the first.
    level_begins = np.zeros(order.size, dtype=np.int64)
    level_begins[starts[1:]] = 1
    level = np.cumsum(level_begins)
    # The last key of lexsort is the primary one: by level, and by
    # column within a level.
    return order[np.lexsort((order, level))][:k]


def without(scores: Floats, features: Ints | list[int]) -> Floats:
    """Return a copy of scores (n,) with NaN for ``features``, columns that are no longer candidates."""
    remaining = np.array(scores, dtype=np.float64)
    remaining[features] = np.nan
    return remaining
