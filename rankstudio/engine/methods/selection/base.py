"""What all selectors share: the features they chose, and the path they leave behind once they are fitted."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.base import LinearRanker, between
from rankstudio.engine.methods.scikit_learn import SelectorMixin, check_is_fitted
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import Step


class Selector(SelectorMixin, LinearRanker):  # type: ignore[misc]
    """Base of the methods that choose features: transformers of scikit-learn, as its own selectors are.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        Weights of the model with all selected features, 0 for the others.
    support_ : ndarray of shape (n,), bool
        Which features are selected.
    selection_order_ : ndarray of shape (k,)
        Their 0-based columns, the first selected first.
    coef_path_ : ndarray of shape (k, n)
        The model with the first 1, 2, … k of them.
    """

    support_: Bools
    selection_order_: Ints
    coef_path_: Floats

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        self.selection_order_ = np.array(taken[-1].selected, dtype=np.int64)
        self.support_ = np.zeros(taken[-1].coef.size, dtype=bool)
        self.support_[self.selection_order_] = True

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        return self.support_


class GrowingSelector(Selector):
    """Base of the selectors that take one step a size, each with the features selected so far.

    A subclass writes ``learn`` or ``work``, and has a parameter ``n_features_to_select``.

    Attributes
    ----------
    criterion_path_ : ndarray of shape (k,)
        The criterion after each step.
    """

    n_features_to_select: int | None

    criterion_path_: Floats

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return n_features if self.n_features_to_select is None else min(self.n_features_to_select, n_features)

    def _most(self, n: int) -> int:
        """Return how many of n features to select at most; ParameterError for a wrong number."""
        wanted = n if self.n_features_to_select is None else self.n_features_to_select
        return between("n_features_to_select", wanted, 1, n)

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        super()._finish(data, taken)
        self.criterion_path_ = np.array([step.criterion for step in taken])
        self.coef_path_ = np.array([step.coef for step in taken])
