"""Recursive elimination: repeatedly remove the feature with the smallest weight, and train again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.capabilities import Compared, ComparedByQuery
from rankstudio.engine.methods.catalog.selectors import RECURSIVE_ELIMINATION
from rankstudio.engine.methods.memory_need import (
    PAIRS,
    DataShape,
    MemoryNeed,
    sums_need,
)
from rankstudio.engine.methods.selection.base import Ordering, PathSelector
from rankstudio.engine.methods.selection.elimination import eliminate
from rankstudio.engine.methods.shards.sums import sums_of_products
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import Waiting

Weights = Callable[[Ints], Waiting[Floats]]
"""Function from some columns to the weights of the ranker trained on these columns."""

_TIE_TOLERANCES = {"rankrls": 1e-10, "ranksvm": 1e-6}
"""Importances tie if they differ by at most this share of the greatest one: by rounding, or because
RankSVM is only trained up to a duality gap."""
_TOL = 1e-10
"""Duality gap of RankSVM, relative to its objective. ½||w - w*||² is at most the gap, so the error of a
weight is at most about 1e-5 √objective."""
_MAX_ITER = 1000


@dataclass(eq=False, repr=False)
class RecursiveElimination(PathSelector):
    """Recursive feature elimination repeatedly removes the least important feature of a ranker.

    Guyon et al. 2002, section 4, with RankRLS or RankSVM instead of the
    classification support vector machine. The last remaining feature is
    the first of the path. Features that are constant within every query
    are removed first, later columns before earlier ones, as are
    features of equal importance.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    importance : {"weight", "scaled"}, default "weight"
        "weight": |w_j|, for features on one scale as in LETOR.
        "scaled": |w_j| times the feature's standard deviation within
        queries, for features on different scales.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the selected features, and
        of the RankRLS whose weights decide.
    ranker : {"rankrls", "ranksvm"}, default "rankrls"
        Model whose weights decide: RankRLS, or RankSVM with the squared hinge.
    C : float, default 0.01
        C of RankSVM, greater than 0; not used for RankRLS.

    Attributes
    ----------
    ranking_ : ndarray of shape (n,)
        1 for the last remaining feature, n for the first dropped one.

    Notes
    -----
    RankRLS: O(mn² + n⁴) for m documents and n features, where the
    fourth power has the factor 1/12 and runs in BLAS-3. RankSVM: n fits
    of a few times O(mn
    + m log m). The attributes of the path are those of
    :class:`rankstudio.engine.methods.selection.base.PathSelector`.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> RecursiveElimination(3).fit(train.X, train.y, qid=train.qid).selection_order_
    array([0, 1, 3])
    """

    entry = RECURSIVE_ELIMINATION

    ranking_: Ints = field(init=False)

    _: KW_ONLY
    importance: Literal["weight", "scaled"] = "weight"
    regularization: float = 1.0
    ranker: Literal["rankrls", "ranksvm"] = "rankrls"
    C: float = 0.01

    @property
    def orders_by_lambda(self) -> bool:  # noqa: D102 - inherited
        return self.ranker == "rankrls"

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape, PAIRS)

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Eliminate the least important feature again and again, and return the k that remain longest.

        This is a generator: it yields progress events and then returns
        an Ordering, which a caller gets with ``yield from``, or with
        ``finish`` of
        :mod:`rankstudio.engine.support.work`. The Ordering has the k columns,
        the last remaining one first, the importance of the features at
        each step, and the ranking of all features. A feature's
        importance is its
        |weight| in a model of the remaining features.
        """
        importance = self.checked("importance")
        ranker = self.checked("ranker")
        regularization = self.checked("regularization")
        C = self.checked("C")
        # Products of centred features with each other and with the labels.
        gram, right = yield from sums_of_products(data)
        # Scaled weights are those of features with a standard deviation of 1.
        squares = np.diag(gram)
        deviation = np.sqrt(squares / data.y.size)
        scale = deviation if importance == "scaled" else np.ones(deviation.size)
        # RankRLS's weights follow from the sums; RankSVM is trained
        # again for each set of features.
        least_squares = nullcontext(_rankrls_weights(gram, right, regularization))
        with (
            least_squares
            if ranker == "rankrls"
            else ranksvm_weights(data, C) as weights
        ):
            order, candidate_importances = yield from _order_and_importances(
                weights, squares == 0, scale, _TIE_TOLERANCES[ranker], k
            )
        # The ranking is the reverse of the order: the position of each
        # feature, from 1 on.
        ranking = np.empty(order.size, dtype=np.int64)
        ranking[order] = np.arange(1, order.size + 1)
        return Ordering(
            features=order[:k],
            candidates=candidate_importances,
            found={"ranking_": ranking},
        )

    def compared_by_query(self, data: TrainingData, n_features: int) -> Compared:
        """Yield for each step the comparison of weights that gave the feature its position in the path.

        The path is the opposite order of elimination. With t features
        remaining, the one with the smallest
        |weight| is eliminated, and becomes the t-th of the
        path. So the scores are negative |weights|. The first feature of
        the path is the one that remains of two, so its scores are
        |weights|. A comparison also has each query's part in the
        scores: their change if the query is left out. RankRLS's weights
        without a query are exact; RankSVM's follow from its gradient
        and second derivatives. ``data`` are the training documents.
        """
        from rankstudio.engine.methods.selection.query_parts import (  # noqa: PLC0415 - numba
            grams_by_query,
            sized_steps,
        )

        # The steps, with at least two features, because the first two
        # positions follow from the comparison of two features.
        steps = yield from sized_steps(
            self, data, max(n_features, min(2, data.X.shape[1]))
        )
        importance = self.checked("importance")
        regularization = self.checked("regularization")
        # A feature that is constant within all queries has no weight to compare.
        gram, _ = yield from sums_of_products(data)
        varies = np.diag(gram) > 0  # the squares of the centred features
        n = data.X.shape[1]
        Q = data.ptr.size - 1
        for position in range(min(n_features, len(steps))):
            # The first two positions follow from the same comparison,
            # that of two features.
            step = steps[min(max(position, 1), len(steps) - 1)]
            columns = np.array(step.selected, dtype=np.int64)
            winner = int(columns[position])
            scores = np.full(n, np.nan)
            parts = np.zeros((n, Q))
            if columns.size > 1 and varies[columns].all():
                # The weights of this step's features on all queries,
                # (t,), and without each query, (Q, t).
                query_grams = yield from grams_by_query(data, columns.tolist())
                total = query_grams.sum(axis=0)
                if self.ranker == "rankrls":
                    weights = _ridge_weights(total[None], regularization)[0]
                    without = _ridge_weights(total - query_grams, regularization)
                else:
                    weights, without = yield from _svm_weights(
                        data, columns, self.checked("C")
                    )
                # The scaled importance is a weight times the length of
                # its feature, which is shorter without a query.
                if importance == "scaled":
                    weights = weights * np.sqrt(np.diag(total)[:-1])
                    squares = np.diagonal(total - query_grams, axis1=1, axis2=2)[:, :-1]
                    without = without * np.sqrt(np.maximum(squares, 0.0))
                # The smallest |weight| wins where a feature is
                # eliminated, the greatest one at the first position.
                sign = 1.0 if position == 0 else -1.0
                scores[columns] = sign * np.abs(weights)
                parts[columns] = sign * (np.abs(weights)[:, None] - np.abs(without).T)
            yield ComparedByQuery(
                winners=(winner,),
                scores=scores,
                parts=parts,
                counted=np.ones(Q, dtype=np.bool_),
            )


def _ridge_weights(grams: Floats, regularization: float) -> Floats:
    """Return RankRLS's weights (B, c) from each of B sums of Gram matrices of queries, (B, c + 1, c + 1).

    The labels are the last row and column. ``regularization`` is λ.
    """
    regularized = grams[:, :-1, :-1] + regularization * np.eye(grams.shape[1] - 1)
    return np.asarray(np.linalg.solve(regularized, grams[:, :-1, -1:])[:, :, 0])


def _svm_weights(
    data: TrainingData, columns: Ints, C: float
) -> Waiting[tuple[Floats, Floats]]:
    """Return RankSVM's weights with some columns (c,), and the weights without each query (Q, c).

    The weights without a query are estimated: by one Newton step from
    the weights of all queries, on the loss of the other queries, with
    the second derivatives of all queries. ``C`` weighs the loss against
    half of the squared weights. ``data`` are the training documents.
    The generator yields progress events, and then returns the result.
    """
    from rankstudio.engine.methods.selection.query_parts import pair_slopes  # noqa: PLC0415 - numba

    with ranksvm_weights(data, C) as learned:
        weights = yield from learned(columns)
    # The gradient of each query's loss (c, Q), and the second
    # derivatives of the whole loss (c, c). At the minimum, w + C times
    # the sum of the gradients is 0, so that without a query, C times
    # its gradient is missing.
    slopes, curvature, _ = yield from pair_slopes(data, columns, weights)
    change = np.linalg.solve(np.eye(columns.size) + C * curvature, C * slopes)
    return weights, weights + change.T


def _rankrls_weights(gram: Floats, right: Floats, regularization: float) -> Weights:
    """Return the function from columns (c,) to the weights (c,) of RankRLS with these columns.

    ``gram`` (n, n) and ``right`` (n,) are the products of the features
    with each other and with the labels, and ``regularization`` is λ.
    """

    def weights(columns: Ints) -> Waiting[Floats]:
        """Return RankRLS's weights (c,) with some columns (c,), from the products."""
        # A generator without events: other rankers show progress here.
        yield from ()
        matrix = gram[np.ix_(columns, columns)]
        matrix[np.diag_indices_from(matrix)] += regularization
        return np.asarray(np.linalg.solve(matrix, right[columns]))

    return weights


@contextmanager
def ranksvm_weights(data: TrainingData, C: float) -> Iterator[Weights]:
    """Provide the function from columns (c,) to the weights (c,) of RankSVM with these columns.

    ``C`` weighs the loss of the pairs. The function yields progress
    before it returns the weights. ``data`` are the training documents.
    """
    from rankstudio.engine.arithmetic.optimisers.pair_problem import solution  # noqa: PLC0415 - numba
    from rankstudio.engine.arithmetic.optimisers.truncated_newton import (  # noqa: PLC0415 - numba
        minimise_squared_hinge,
    )
    from rankstudio.engine.methods.shards.pair_losses import pairs_of  # noqa: PLC0415 - numba

    with pairs_of(data) as pairs:

        def weights(columns: Ints) -> Waiting[Floats]:
            """Return the weights (c,) of RankSVM with some columns (c,); uses ``pairs`` and ``C``."""
            descent = minimise_squared_hinge(
                pairs.narrowed(columns.tolist()), C, _TOL, _MAX_ITER
            )
            return (yield from solution(descent)).w

        yield weights


def _order_and_importances(
    weights: Weights, constant: Bools, scale: Floats, tie: float, k: int
) -> Waiting[tuple[Ints, Floats]]:
    """Eliminate the least important column again and again, and return the columns, the last remaining one first.

    The second result has for each of the first k positions the
    importances (k, n) that were compared when the column at this
    position was eliminated.

    The importance of a column is its |weight| times ``scale`` (n,),
    where ``weights`` trains on some columns. Importances that differ by
    less than the share ``tie`` of the greatest one are equal. Columns
    of the mask ``constant`` (n,) are eliminated first, so they are at
    the end. The generator yields progress events, and then returns the
    result.
    """

    def importances(columns: Ints) -> Waiting[Floats]:
        """Return the importances (c,) of ``columns`` (c,); uses ``weights`` and ``scale``."""
        return np.abs((yield from weights(columns))) * scale[columns]

    order, candidate_importances = yield from eliminate(
        importances, np.flatnonzero(~constant), scale.size, k, tie=tie
    )
    return np.concatenate((order, np.flatnonzero(constant))), candidate_importances
