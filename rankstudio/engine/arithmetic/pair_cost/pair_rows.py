"""Training data whose rows are those of a pairwise loss.

Least squares on queries uses them as centred data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.class_rows import Rows, class_rows
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.shared import SharedResults
from rankstudio.engine.arrays import Floats, unwritable


@dataclass(frozen=True, eq=False)
class PairRows(QueryData):
    """Rows S_q X_q and targets t_q for which ||t_q - S_q X_q w||² is the loss of the pairs of query q.

    Algorithms for centred rows or their Gram matrices minimise that
    loss when applied to these rows, and their leave-query-out error is
    the loss of the pairs of left-out queries. ``X`` has the rows S_q
    X_q, ``y`` the targets, and ``ptr`` the first row of each query,
    followed by the number of rows.
    """

    def __post_init__(self, sharing: SharedResults | None) -> None:
        """Keep rows and targets writable, as centred data are."""
        object.__setattr__(
            self, "shared", SharedResults() if sharing is None else sharing
        )
        object.__setattr__(self, "ptr", unwritable(self.ptr))

    @classmethod
    def of(cls, data: QueryData, cost: PairCost) -> QueryData:
        """Return rows whose squared errors equal the loss ``cost`` of the pairs of the data.

        The rows are cached for each cost. With the default cost of
        pairs of labels, the squared errors of the centred documents
        equal this loss already: then return the data themselves.
        """
        if cost.default and data.preferences is None:
            return data
        # A dict of rows by cost, which the data share with others of
        # the same documents; keep() adds to it.
        cached = data.shared.of(_KnownRows).by_cost
        if cost not in cached:
            cls.keep(data, cost, _rows(data, cost))
        return cached[cost]

    @classmethod
    def keep(cls, data: QueryData, cost: PairCost, rows: Rows) -> None:
        """Store existing rows of the data for a cost, which :meth:`of` then returns."""
        data.shared.of(_KnownRows).by_cost[cost] = cls(*rows)

    @cached_property
    def centred(self) -> tuple[Floats, Floats]:
        """The rows and their targets."""
        return self.X, self.y

    def narrowed(self, columns: Sequence[int]) -> QueryData:
        """Return the same rows with some of the features."""
        chosen = np.ascontiguousarray(self.X[:, list(columns)])
        return PairRows(chosen, self.y, self.ptr)

    @property
    def mirrored(self) -> QueryData:
        """The rows and their negatives, divided by √2, for methods that centre data.

        The result has the same sums of products as the rows, and is
        centred in each query. A query has its rows first, then their
        negatives.
        """
        # The new positions of the rows, and of their negatives: all
        # rows of earlier queries come before them twice.
        sizes = np.diff(self.ptr)
        rows = np.arange(self.y.size) + np.repeat(self.ptr[:-1], sizes)
        ptr = 2 * self.ptr
        mirrored_rows = rows + np.repeat(sizes, sizes)
        X = np.empty((2 * self.y.size, self.X.shape[1]))
        y = np.empty(2 * self.y.size)
        for values, doubled in ((self.X, X), (self.y, y)):
            doubled[rows] = values * np.sqrt(0.5)
            doubled[mirrored_rows] = -doubled[rows]
        return QueryData(X, y, ptr)


@dataclass
class _KnownRows:
    """The rows of some data, by the cost."""

    by_cost: dict[PairCost, PairRows] = field(default_factory=dict)


def _rows(data: QueryData, cost: PairCost) -> Rows:
    """Return rows for the pairs of labels, or for preferences."""
    if data.preferences is None:
        return class_rows(data.X, data.y, data.ptr, cost)
    from rankstudio.engine.arithmetic.pair_cost.preference_rows import preference_rows  # noqa: PLC0415 - scipy

    return preference_rows(data.X, data.ptr, data.preferences, cost)


def query_factors(data: QueryData, cost: PairCost) -> Iterator[tuple[Floats, Floats]]:
    """Yield a factor of the Laplacian of each query's pairs, for any scores of its documents.

    Parameters
    ----------
    data : QueryData
        Training data; its features are not used.
    cost : PairCost
        Loss of a pair.

    Yields
    ------
    factor : ndarray of shape (r, |q|)
        S with S'S = M_q M_q', the Laplacian of the pairs of query q
        (Pahikkala et al. 2009, eq. (12)), and at most
        |q| + 1 rows more than labels.
    targets : ndarray of shape (r,)
        t with S't = M_q N_q and t't = N_q'N_q, where N_q has the
        weighted differences of labels: the loss of scores s of the
        documents is ||t - S s||².
    """
    if data.preferences is not None:
        from rankstudio.engine.arithmetic.pair_cost.preference_rows import (  # noqa: PLC0415 - scipy
            preference_factors,
        )

        yield from preference_factors(data.preferences, data.ptr, cost)
        return
    for first, last in pairwise(data.ptr.tolist()):
        ptr = np.array([0, last - first])
        # The rows are S X for features X; with the identity as X, they are S itself.
        factor, targets, _ = class_rows(
            np.eye(last - first), data.y[first:last], ptr, cost
        )
        yield factor, targets


def losses_inside(data: QueryData, cost: PairCost, models: Floats) -> Floats:
    """Return the loss of each query's model on the pairs in this query, shape (Q,).

    Row q of ``models`` (Q, n) has the weights of the model for query q. O(Qn²).
    """
    # Sums of products of each query, of shape (Q, n + 1, n + 1).
    gram = PairRows.of(data, cost).statistics.gram
    # The loss of weights w is (w, -1)' gram (w, -1), as the last row
    # and column of a Gram matrix are those of the targets. Rounding may
    # make it negative.
    models = np.column_stack((models, np.full(len(models), -1.0)))
    products = np.matmul(gram, models[:, :, None])[:, :, 0]
    losses: Floats = np.maximum(np.einsum("qi,qi->q", models, products), 0.0)
    return losses
