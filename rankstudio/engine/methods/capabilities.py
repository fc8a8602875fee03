"""Abilities that a method may offer to analyses beyond its steps.

An analysis never checks the class of an estimator. It calls a method of
:class:`Capabilities`, which any estimator, also a user's, may override. If an estimator
lacks an ability, an analysis trains models again where that is
possible, and otherwise says why it has no result. The method's entry in
the catalog declares the most important abilities
(``Method.capabilities``), so that forms and menus need not import the
estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Waiting, WorkProgress


@dataclass(frozen=True, eq=False)
class QueryErrors:
    """Left-out squared errors of each query at one point of a path.

    Attributes
    ----------
    present : ndarray of shape (Q,)
        Errors with the features so far.
    added : ndarray of shape (Q, n)
        Errors with each other feature added; undefined for features of the path.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import QueryErrors
    >>> errors = QueryErrors(present=np.array([2.0, 1.0]), added=np.array([[1.5], [0.5]]))
    >>> (errors.present - errors.added[:, 0]).sum().item()
    1.0
    """

    present: Floats
    added: Floats


class PathsFromSums(Protocol):
    """Paths of a method on any subset of the queries, computed from per-query sums without the documents.

    The path on some queries is the one that the method finds if it is
    trained with these queries alone. The methods of this class may be
    called from several threads at once.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import PathsFromSums, Step
    >>> class OneFeature:
    ...     n_queries, n_pinned, informative = 2, 0, np.array([True])
    ...     def path(self):
    ...         return [Step(1, (0,), np.ones(1), 0.5, np.ones(1))]
    ...
    ...     def path_of(self, queries):
    ...         return self.path()
    ...
    ...     def path_without(self, queries, first=None):
    ...         return self.path()
    >>> paths: PathsFromSums = OneFeature()
    >>> paths.path_of(np.array([0, 0]))[0].selected
    (0,)
    """

    @property
    def n_queries(self) -> int:
        """Number of queries, Q."""
        ...

    @property
    def n_pinned(self) -> int:
        """Number of first steps that select a pinned feature, regardless of the queries."""
        ...

    @property
    def informative(self) -> Bools:
        """Whether each feature varies within some query, shape (n,)."""
        ...

    def path(self) -> list[Step]:
        """Return the steps on all queries."""
        ...

    def path_of(self, queries: Ints) -> list[Step]:
        """Return the steps on some queries, given by their positions in ascending order."""
        ...

    def path_without(
        self, queries: Ints, first: Sequence[int] | None = None
    ) -> list[Step]:
        """Return the steps on all but a few queries.

        Parameters
        ----------
        queries : ndarray of int
            Positions of the queries that are left out.
        first : sequence of int, optional
            Features to start with; the path then has these features and
            one more.
        """
        ...

    def errors(self, first: Sequence[int]) -> QueryErrors:
        """Return each query's error with the features ``first``, and with each other feature added.

        The error of a query is that of the model trained without the
        query. ``first`` has 0-based columns.
        """
        ...

    def errors_of(self, query: int, coefs: Sequence[Floats]) -> Floats:
        """Return the squared errors of some models, k weight vectors, on a query, shape (k,).

        ``coefs`` are these vectors (n,), and ``query`` is the query's
        position in the data, from 0.
        """
        ...


class StepTest(Protocol):
    """Test of the steps of a path: how much each step reduces the error if residuals are permuted.

    Attributes
    ----------
    selected : tuple of int
        0-based columns in the order of the path, one per step.
    drops : ndarray of shape (k,)
        Reduction of the left-out error by each step.
    empty : float
        Error of the empty model.
    at_once : int
        Number of permutations that are compared at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import Capabilities, StepTest
    >>> class OneStep:
    ...     selected, drops, empty, at_once = (0,), np.array([0.5]), 2.0, 100
    ...     def permuted(self, orders, step):
    ...         return np.zeros(len(orders))
    >>> class Mine(Capabilities):
    ...     def step_test(self, data, selected) -> StepTest:
    ...         return OneStep()
    >>> Mine().step_test(None, (0,)).drops
    array([0.5])
    """

    @property
    def selected(self) -> tuple[int, ...]:
        """Columns, one per step."""
        ...

    @property
    def drops(self) -> Floats:
        """Reductions of the error, one per step."""
        ...

    @property
    def empty(self) -> float:
        """Error of the empty model."""
        ...

    @property
    def at_once(self) -> int:
        """Number of permutations that are compared at a time."""
        ...

    def permuted(self, orders: Sequence[Ints], step: int) -> Floats:
        """Return how much the best feature of a step reduces the error, with permuted residuals.

        Parameters
        ----------
        orders : sequence of ndarray of shape (m,)
            The documents in the order of each permutation, within their queries.
        step : int
            Position of the step, from 0.

        Returns
        -------
        ndarray of shape (len(orders),)
            Reduction of the error with each order.
        """
        ...


@dataclass(frozen=True)
class ExactExchange:
    """The λ and the loss of RankRLS, whose exact left-out error compares any two sets of features.

    Attributes
    ----------
    regularization : float
        λ > 0.
    cost : PairCost
        The loss of a pair.
    is_criterion : bool
        Whether the method selects by this error. The best set of a size
        is then the set that the method searches for.
    pinned, banned : tuple of int
        0-based columns that the method always selects, and columns that
        it never selects.
    groups : tuple of tuple of int
        Columns that the method selects together.
    costs : tuple of float or None
        Cost of each feature.
    budget : float or None
        Maximum total cost of a set.

    Examples
    --------
    >>> from rankstudio.api import ExactExchange
    >>> ExactExchange(regularization=4.0, is_criterion=True).cost.cost
    'magnitude'
    """

    regularization: float
    cost: PairCost = field(default_factory=PairCost)
    is_criterion: bool = False
    pinned: tuple[int, ...] = ()
    banned: tuple[int, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    costs: tuple[float, ...] | None = None
    budget: float | None = None


@dataclass(frozen=True, eq=False)
class ComparedByQuery:
    """Scores of the features that a step compares, and the part of each query in them.

    Attributes
    ----------
    winners : tuple of int
        0-based columns that the step selects.
    scores : ndarray of shape (n,)
        Score of each candidate, larger is better; NaN for features that
        are no candidates.
    parts : ndarray of shape (n, Q)
        Part of each query in each score. If the parts do not add up to
        the score, the rest does not depend on the queries.
    counted : ndarray of shape (Q,), bool
        Queries that contribute to the scores; for the others, a measure
        may be undefined.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import ComparedByQuery
    >>> parts = np.array([[0.5, 0.25], [0.0, 0.125]])  # of two candidates and two queries
    >>> step = ComparedByQuery((0,), parts.sum(axis=1), parts, np.array([True, True]))
    >>> step.scores
    array([0.75 , 0.125])
    """

    winners: tuple[int, ...]
    scores: Floats
    parts: Floats
    counted: Bools


Compared = Iterator[ComparedByQuery | WorkProgress]

Share = Callable[[Callable[[int], None], Iterable[int]], None]
"""Function that calls another function with each of some numbers, on several threads."""

LabelPaths = Callable[[Floats, Share], list[Floats]]
"""Function from label vectors (b, m), in the order of the grouped rows, to the criteria of each path."""


@dataclass(frozen=True, eq=False)
class GradeDensities:
    """Kernel density estimates of one feature, one per grade, as a method compared them.

    Attributes
    ----------
    grades : ndarray of shape (R,)
        Labels, ascending.
    places : ndarray of shape (P,)
        Distinct values at which densities are compared, ascending.
    counts : ndarray of shape (P,)
        Number of documents with each value.
    densities : ndarray of shape (R, P)
        Density of each grade at these values. Normalised densities of a
        grade, each times its count, sum to one.
    known : ndarray of shape (R,), bool
        Whether the grade has a density. With ``density="released"``, a
        grade whose values are all equal has none.
    bandwidths : ndarray of shape (R,)
        Bandwidth h of each grade; 0 if all its values are equal.
    divergence : float
        Expected divergence d of the feature.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import GradeDensities
    >>> one = GradeDensities(
    ...     grades=np.array([0.0, 1.0]),
    ...     places=np.array([2.0]),
    ...     counts=np.array([5.0]),
    ...     densities=np.array([[0.5], [0.25]]),
    ...     known=np.array([True, True]),
    ...     bandwidths=np.array([0.1, 0.1]),
    ...     divergence=0.3,
    ... )
    >>> one.densities.shape
    (2, 1)
    """

    grades: Floats
    places: Floats
    counts: Floats
    densities: Floats
    known: Bools
    bandwidths: Floats
    divergence: float


@dataclass(frozen=True, eq=False)
class FeaturePenalties:
    """Importance of some features, and their similarity to other features.

    Attributes
    ----------
    importance, of_negative : ndarray of shape (c,)
        Importance of each feature, and importance of its negative: s of
        FSMRank, or w of GAS, which has one number for both.
    similarity : ndarray of shape (c, o)
        Similarity of each feature to each other feature: A of FSMRank, or e of GAS.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import FeaturePenalties
    >>> importance = np.array([0.5, 0.75])
    >>> FeaturePenalties(importance, importance, np.eye(2)).similarity.shape
    (2, 2)
    """

    importance: Floats
    of_negative: Floats
    similarity: Floats


class Capabilities:
    """Optional abilities of an estimator that analyses use; by default, an estimator has none of them.

    An estimator overrides the methods for the abilities that it has. A
    subclass that learns differently has to override them, too, or to
    return None.

    Examples
    --------
    >>> from rankstudio.api import Capabilities, ExactExchange
    >>> class Mine(Capabilities):
    ...     def exact_exchange(self):
    ...         return ExactExchange(regularization=4.0)
    >>> Mine().exact_exchange().regularization
    4.0
    """

    def paths_from_sums(self, data: TrainingData) -> Callable[[], PathsFromSums] | None:
        """Return a function that computes per-query sums, from which paths on any queries follow.

        With these paths, deciding queries, stability, the repeated
        selection and selections for some queries are exact and fast.
        Otherwise, the method is trained again for each subset.

        Parameters
        ----------
        data : TrainingData
            The documents.

        Returns
        -------
        callable or None
            Function that computes the sums when it is called; None if
            paths on these data do not follow from sums. Returning the
            function takes no time.
        """
        return None

    def step_test(self, data: TrainingData) -> Callable[[], StepTest] | None:
        """Return a function that prepares the test of the steps of a path against permuted residuals, or None.

        The test belongs to the path that the method learns from the
        data. The result is None if the method has no such test.

        Parameters
        ----------
        data : TrainingData
            The documents.
        """
        return None

    def exact_exchange(self) -> ExactExchange | None:
        """Return λ and loss of RankRLS if its exact left-out error can compare sets of features, or else None.

        Losses without a feature, swaps, Shapley shares, substitutes and
        best sets follow from these errors.
        """
        return None

    def compared_by_query(self, data: TrainingData, n_features: int) -> Compared | None:
        """Return the scores compared by the steps that select the first features, with the queries' parts.

        Deciding queries then follow to first order, without training again.

        Parameters
        ----------
        data : TrainingData
            The documents.
        n_features : int
            Number of features; a step may select several of them.

        Returns
        -------
        iterator of ComparedByQuery and WorkProgress, or None
            None if the parts of queries are not known. The iterator
            computes nothing before it is iterated.
        """
        return None

    def paths_of_labels(self, data: QueryData) -> LabelPaths | None:
        """Return a function that computes paths for other labels of the same documents, faster than training.

        The function takes label vectors (b, m), and a function that
        shares work among threads. For each path, it returns the
        criterion of each step. None if the method has no faster way.

        Parameters
        ----------
        data : QueryData
            Documents in memory, without preferences.
        """
        return None

    def exchanged_preferences(self, data: QueryData) -> Callable[[Ints], QueryData]:
        """Return a function that permutes the documents in the preferences.

        Parameters
        ----------
        data : QueryData
            Documents with preferences.

        Returns
        -------
        callable
            Function from an order (m,) to the data in which each
            document takes the place of another one in the preferences.
            The function may cache results with these data that training
            would compute again.
        """
        preferences = data.preferences
        assert preferences is not None
        return lambda order: replace(data, preferences=preferences.in_order(order))

    def densities_of(self, data: QueryData, column: int) -> GradeDensities | None:
        """Return the densities by which the method scores a feature, None if it does not use densities."""
        return None

    def weighed_features(
        self, data: TrainingData, columns: Ints, other_columns: Ints
    ) -> Waiting[FeaturePenalties] | None:
        """Return the importance of ``columns`` (c,) and their similarities (c, o) to ``other_columns`` (o,).

        None if the method does not weigh features by importance and
        similarity. ``data`` are the training documents. The generator
        yields progress events, and then returns the result.
        """
        return None
