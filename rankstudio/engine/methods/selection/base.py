"""What all selectors share: the path they leave behind once they are fitted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import Step


class Selector(OneToOneFeatureMixin, TransformerMixin, LinearRanker):  # type: ignore[misc]
    """Base of the methods that take one step a size, each with the features selected so far.

    A subclass writes ``learn`` or ``work``, and has a parameter ``n_features_to_select``.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        Weights of the model with all selected features, 0 for the others.
    support_ : ndarray of shape (n,), bool
        Which features are selected.
    selection_order_ : ndarray of shape (k,)
        Their 0-based columns, the first selected first.
    criterion_path_ : ndarray of shape (k,)
        The criterion after each step.
    coef_path_ : ndarray of shape (k, n)
        The model after each step.
    """

    n_features_to_select: int | None

    support_: Bools
    selection_order_: Ints
    criterion_path_: Floats
    coef_path_: Floats

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return n_features if self.n_features_to_select is None else min(self.n_features_to_select, n_features)

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        self.selection_order_ = np.array(taken[-1].selected, dtype=np.int64)
        self.support_ = np.zeros(taken[-1].coef.size, dtype=bool)
        self.support_[self.selection_order_] = True
        self.criterion_path_ = np.array([step.criterion for step in taken])
        self.coef_path_ = np.array([step.coef for step in taken])

    def get_support(self, indices: bool = False) -> Bools | Ints:
        """Return the mask of the selected features, or their columns in ascending order."""
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_

    def transform(self, X: ArrayLike) -> Floats:
        """Return the selected columns of X, in ascending order, shape (m, k); sparse where X is."""
        check_is_fitted(self)
        sparse = "csc" if self.accepts_sparse else False
        features = validate_data(self, X, reset=False, dtype=np.float64, accept_sparse=sparse)
        selected: Floats = features[:, self.support_]
        return selected

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the columns that :meth:`transform` gives, shape (k,)."""
        names: NDArray[np.object_] = super().get_feature_names_out(input_features)[self.support_]
        return names
