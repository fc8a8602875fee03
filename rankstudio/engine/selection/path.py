"""What the selectors share that put features in an order by something else than RankRLS's own error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstudio.engine.estimator import LinearRanker, between, positive
from rankstudio.engine.querywise import Grouped
from rankstudio.engine.steps import Step

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class PathSelector(LinearRanker):
    """Base of selectors that order features; RankRLS ranks with the first 1, 2, … k of them.

    A subclass writes :meth:`order_features`. Its parameters include ``n_features_to_select`` and
    ``regularization``. The criterion of every step is the leave-query-out error of RankRLS with the features
    selected so far: selectors can then be compared with each other and with greedy RankRLS on one scale, and
    a size can be chosen without a validation part.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        RankRLS weights with all selected features, 0 for the others.
    support_ : ndarray of shape (n,), bool
        Which features are selected.
    selection_order_ : ndarray of shape (k,)
        Their 0-based columns, the first selected first.
    criterion_path_ : ndarray of shape (k,)
        The leave-query-out error, summed over documents, after each step.
    coef_path_ : ndarray of shape (k, n)
        The model after each step.
    """

    n_features_to_select: int | None
    regularization: float

    support_: NDArray[np.bool_]
    selection_order_: Ints
    criterion_path_: Floats
    coef_path_: Floats

    def order_features(self, data: Grouped, k: int) -> Ints:
        """Return the columns of the first k features, shape (k,), and keep what was found out about them."""
        raise NotImplementedError

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return n_features if self.n_features_to_select is None else min(self.n_features_to_select, n_features)

    def learn(self, data: Grouped) -> Iterator[Step]:
        """Yield one step a selected feature: RankRLS with it and all before it."""
        yield from self._path(data, partial(self.order_features, data))

    def _path(self, data: Grouped, first: Callable[[int], Ints]) -> Iterator[Step]:
        """Yield the steps along an order, given as a function from k to the first k features."""
        # scipy is imported where it is needed: reading the catalog must not wait for it.
        from rankstudio.engine.selection.nested import nested_models  # noqa: PLC0415

        n = data.X.shape[1]
        wanted = n if self.n_features_to_select is None else self.n_features_to_select
        k = between("n_features_to_select", wanted, 1, n)
        regularization = positive("regularization", self.regularization)
        order = first(k)
        coefs, errors = nested_models(data, order, regularization)
        for t in range(k):
            yield Step(t + 1, tuple(order[: t + 1].tolist()), coefs[t], float(errors[t]), np.empty(0))

    def _finish(self, data: Grouped, taken: list[Step]) -> None:
        self.selection_order_ = np.array(taken[-1].selected, dtype=np.int64)
        self.support_ = np.zeros(data.X.shape[1], dtype=bool)
        self.support_[self.selection_order_] = True
        self.criterion_path_ = np.array([step.criterion for step in taken])
        self.coef_path_ = np.array([step.coef for step in taken])

    def get_support(self, indices: bool = False) -> NDArray[np.bool_] | Ints:
        """Return the mask of the selected features, or their columns in ascending order."""
        return np.flatnonzero(self.support_) if indices else self.support_

    def transform(self, X: ArrayLike) -> Floats:
        """Return the selected columns of X, in ascending order, shape (m, k)."""
        selected: Floats = np.asarray(X, dtype=np.float64)[:, self.support_]
        return selected


def informative(data: Grouped) -> NDArray[np.bool_]:
    """Return which features vary inside some query, shape (n,); the others cannot change any ranking.

    Alone they rank documents as they stand in the file, and that may be no bad order.
    """
    varies: NDArray[np.bool_] = (data.centred[0] != 0).any(axis=0)
    return varies


def best_first(scores: Floats, k: int) -> Ints:
    """Return the columns of the k greatest scores, of equal ones the lowest column first."""
    return np.argsort(-scores, kind="stable")[:k].astype(np.int64)
