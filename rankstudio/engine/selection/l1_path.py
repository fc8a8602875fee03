"""The L1 path: the order in which the lasso takes features in as its penalty falls."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.querywise import Grouped
from rankstudio.engine.selection.path import PathSelector

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class L1Path(PathSelector):
    """Order features by when the lasso gives them a weight.

    The lasso minimises ||y^ - X^ w||² / 2 + α ||w||_1, pairwise least squares with a penalty on the absolute
    weights (^ is centring inside each query). Its exact path over all α comes from least angle regression
    (Efron et al. 2004) on the Gram matrix. A feature's place is that of the greatest α from which on it was
    first in the model, even if it left it again. Features the path never takes in come last, in the order
    of their columns.

    Parameters
    ----------
    n_features_to_select : int, optional
        How many features to select, k; all without it.
    scaling : {"unit", "none"}, default "unit"
        "unit": X^'s columns have length 1 for the lasso, so that a feature's scale does not matter; "none":
        they are as they are, and features with small values come late.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the selected features.

    Attributes
    ----------
    alphas_ : ndarray of shape (n,)
        The α at which each feature first comes in, NaN where it never does.
    lasso_alphas_ : ndarray of shape (t,)
        The knots of the path, falling.
    lasso_coefs_ : ndarray of shape (t, n)
        The lasso's weights at the knots, for the features as they are.

    Notes
    -----
    O(mn² + tn²) for m documents, n features and t knots. The attributes of the path are those of
    :class:`rankstudio.engine.selection.path.PathSelector`.
    """

    alphas_: Floats
    lasso_alphas_: Floats
    lasso_coefs_: Floats

    def __init__(
        self,
        n_features_to_select: int | None = None,
        scaling: str = "unit",
        regularization: float = 1.0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.scaling = scaling
        self.regularization = regularization

    def order_features(self, data: Grouped, k: int) -> Ints:  # noqa: D102 - inherited
        if self.scaling not in ("unit", "none"):
            raise ParameterError("scaling", self.scaling, "unit or none")
        X, y = data.centred
        gram, right = X.T @ X, X.T @ y
        length = np.sqrt(np.diag(gram))
        used = np.flatnonzero(length > 0)
        scale = length[used] if self.scaling == "unit" else np.ones(used.size)
        alphas, coefs = _lasso_path(gram[np.ix_(used, used)] / np.outer(scale, scale), right[used] / scale)
        self.lasso_alphas_ = alphas
        self.lasso_coefs_ = np.zeros((alphas.size, length.size))
        self.lasso_coefs_[:, used] = coefs / scale
        self.alphas_ = np.full(length.size, np.nan)
        entered = self.lasso_coefs_ != 0
        for j in np.flatnonzero(entered.any(axis=0)):
            # At a knot a feature that comes in still has weight 0; it has one at the next.
            self.alphas_[j] = alphas[max(int(np.argmax(entered[:, j])) - 1, 0)]
        return np.argsort(-np.nan_to_num(self.alphas_, nan=-1.0), kind="stable")[:k].astype(np.int64)


def _lasso_path(gram: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return the knots (t,) and the weights there (t, n); where nothing correlates one knot without any."""
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415
    from sklearn.linear_model import lars_path_gram  # noqa: PLC0415 - slow to import

    largest, greatest = float(np.diag(gram).max(initial=0.0)), float(np.abs(right).max(initial=0.0))
    if greatest == 0.0:
        return np.zeros(1), np.zeros((1, right.size))
    with warnings.catch_warnings():
        # Of features that are combinations of others: they are dropped, as they should be.
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Its tolerances are absolute: they mean the same for all data once these two are 1.
        alphas, _, coefs = lars_path_gram(
            Xy=right / greatest, Gram=gram / largest, n_samples=1, method="lasso", alpha_min=0.0
        )
    return alphas * greatest, coefs.T * (greatest / largest)
