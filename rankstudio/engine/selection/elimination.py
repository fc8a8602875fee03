"""Recursive elimination: drop the feature with the smallest RankRLS weight, learn again, and so on."""

from __future__ import annotations

from collections.abc import Generator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.estimator import positive
from rankstudio.engine.querywise import Grouped
from rankstudio.engine.selection.path import Ordering, PathSelector
from rankstudio.engine.steps import Working

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


_TIE = 1e-10  # of the greatest importance: two that differ by no more are equal but for rounding


class RecursiveElimination(PathSelector):
    """Learn RankRLS with all features and drop the least important one; repeat with those left.

    Guyon et al. 2002, section 4, with RankRLS in place of the support vector machine. The last feature left
    is the first of the path. Features that are constant inside every query go first, later columns before
    earlier ones; so do features of equal importance.

    Parameters
    ----------
    n_features_to_select : int, optional
        How many features to select, k; all without it.
    importance : {"weight", "scaled"}, default "weight"
        "weight": |w_j|, for features on one scale as in LETOR. "scaled": |w_j| times the feature's
        standard deviation inside queries, for features on scales of their own.
    regularization : float, default 1.0
        λ > 0 of RankRLS, of the elimination and of the ranking with the selected features.

    Attributes
    ----------
    ranking_ : ndarray of shape (n,)
        1 for the feature that was left last, n for the one that was dropped first.

    Notes
    -----
    O(mn² + n⁴) for m documents and n features, the fourth power being a twelfth of it in BLAS-3. The
    attributes of the path are those of :class:`rankstudio.engine.selection.path.PathSelector`.
    """

    orders_by_lambda: ClassVar[bool] = True

    ranking_: Ints

    def __init__(
        self,
        n_features_to_select: int | None = None,
        importance: str = "weight",
        regularization: float = 1.0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.importance = importance
        self.regularization = regularization

    def order_features(  # noqa: D102 - inherited
        self, data: Grouped, k: int
    ) -> Generator[Working, None, Ordering]:
        if self.importance not in ("weight", "scaled"):
            raise ParameterError("importance", self.importance, "weight or scaled")
        gram, right = data.gram
        deviation = np.sqrt(np.diag(gram) / data.y.size)
        scale = deviation if self.importance == "scaled" else np.ones(deviation.size)
        regularization = positive("regularization", self.regularization)
        order = yield from _eliminating(gram, right, regularization, scale)
        ranking = np.empty(order.size, dtype=np.int64)
        ranking[order] = np.arange(1, order.size + 1)
        return Ordering(order[:k], {"ranking_": ranking})


def _eliminating(
    gram: Floats, right: Floats, regularization: float, scale: Floats
) -> Generator[Working, None, Ints]:
    """Return the columns in the opposite order of their elimination."""
    constant = np.diag(gram) == 0
    # In the order in which they would come back; what is dropped is at the end.
    dropped = np.flatnonzero(constant).tolist()
    left = np.flatnonzero(~constant)
    while left.size > 1:
        yield Working("eliminating features", 1.0 - left.size / scale.size)
        matrix = gram[np.ix_(left, left)]
        matrix[np.diag_indices_from(matrix)] += regularization
        importance = np.abs(np.linalg.solve(matrix, right[left])) * scale[left]
        place = int(np.flatnonzero(importance <= importance.min() + _TIE * importance.max())[-1])
        dropped.insert(0, int(left[place]))
        left = np.delete(left, place)
    return np.array([*left.tolist(), *dropped], dtype=np.int64)
