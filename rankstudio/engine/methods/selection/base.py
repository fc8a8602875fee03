"""What all selectors share: the features they chose, and the path they leave behind once they are fitted."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.base import LinearRanker, between
from rankstudio.engine.methods.scikit_learn import check_is_fitted
from rankstudio.engine.steps import Step


class Selector(LinearRanker):
    """Base of the methods that choose features: transformers of scikit-learn, as its own selectors are.

    What they have in common with those is scikit-learn's: it is imported when it is called.

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

    # By which scikit-learn sees that frames can be had.
    _sklearn_auto_wrap_output_keys = frozenset({"transform"})

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        self.selection_order_ = np.array(taken[-1].selected, dtype=np.int64)
        self.support_ = np.zeros(taken[-1].coef.size, dtype=bool)
        self.support_[self.selection_order_] = True

    def get_support(self, indices: bool = False) -> Bools | Ints:
        """Return which features are selected: a mask, or their columns in ascending order."""
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the selected features, shape (k,)."""
        names: NDArray[np.object_] = _as_selector().get_feature_names_out(self, input_features)
        return names

    def transform(self, X: ArrayLike) -> Any:
        """Return the selected features of documents, shape (m, k)."""
        return _as_selector().transform(self, X)

    def fit_transform(self, X: ArrayLike, y: ArrayLike, **arguments: Any) -> Any:
        """Select features, and return those of the same documents; parameters as for ``fit``."""
        return self.fit(X, y, **arguments).transform(X)

    def inverse_transform(self, X: ArrayLike) -> Any:
        """Return the selected features among all, shape (m, n), 0 for the others."""
        return _as_selector().inverse_transform(self, X)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Have ``transform`` return arrays, "default", or frames of "pandas" or "polars"."""
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags  # noqa: PLC0415 - where it is asked for

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        return tags

    def _transform(self, X: Any) -> Any:
        """Return what is made of documents that were checked; scikit-learn calls it."""
        return _as_selector()._transform(self, X)


def _as_selector() -> Any:
    from sklearn.feature_selection import SelectorMixin  # noqa: PLC0415 - where it is needed

    return SelectorMixin


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
