"""The L1 path: the order in which the lasso takes features in as its penalty falls."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.catalog.selectors import L1_PATH
from rankstudio.engine.methods.selection.filter_base import Ordering, PathSelector
from rankstudio.engine.methods.selection.lasso_path import independent, lasso_path
from rankstudio.engine.methods.shards.query_sums import sums_of_products
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import WorkProgress

_AS_HIGH = 1e-9  # share of α: correlations that differ by no more are equal but for rounding


class L1Path(PathSelector):
    """The L1 path orders features by their entry into the lasso path.

    The lasso minimises ||y^ - X^ w||² / 2 + α ||w||_1, pairwise least squares with a penalty on the absolute
    weights (^ is centring inside each query). Its exact path over all α comes from least angle regression
    (Efron et al. 2004) on the Gram matrix. A feature's place is that of the greatest α at which it came
    into the model, even if it left it again. Features the path never takes in, among them combinations of
    those that are in the model already, come last in the order of their columns.

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
        The knots of the path, falling; it ends with the one after the k-th feature came in.
    lasso_coefs_ : ndarray of shape (t, n)
        The lasso's weights at the knots, for the features as they are.

    Notes
    -----
    O(mn² + t(n² + k³)) for m documents, n features and t knots. The attributes of the path are those of
    :class:`rankstudio.engine.methods.selection.filter_base.PathSelector`.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> L1Path(n_features_to_select=3).fit(train.X, train.y, qid=train.qid).selection_order_
    array([0, 1, 3])
    """

    entry = L1_PATH

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

    def order_features(  # noqa: D102 - inherited
        self, data: TrainingData, k: int
    ) -> Generator[WorkProgress, None, Ordering]:
        scaling = self.checked("scaling")
        yield WorkProgress("following the lasso", 0.0)
        gram, right = yield from sums_of_products(data)
        length = np.sqrt(np.diag(gram))
        used = np.flatnonzero(length > 0)
        scale = length[used] if scaling == "unit" else np.ones(used.size)
        alphas, coefs, entered = lasso_path(
            gram[np.ix_(used, used)] / np.outer(scale, scale), right[used] / scale, k
        )
        weights = np.zeros((alphas.size, length.size))
        weights[:, used] = coefs / scale
        first = np.full(length.size, np.nan)
        first[used] = entered
        order = np.argsort(-np.nan_to_num(first, nan=-1.0), kind="stable")[:k].astype(np.int64)
        found = {"alphas_": first, "lasso_alphas_": alphas, "lasso_coefs_": weights}
        return Ordering(order, _residual_correlations(gram, right, order, scaling, found), found)


def _residual_correlations(
    gram: Floats, right: Floats, order: Ints, scaling: str, found: Mapping[str, Floats]
) -> Floats:
    """Return what each feature could still explain when the next one comes in, shape (k, n).

    |x_j' (y - X w)| at the knot, for features of length 1 where the lasso sees them so. The features that are
    in the model or have been are no candidates, nor are combinations of those with weight; NaN where the path
    takes no more features in.
    """
    length = np.sqrt(np.diag(gram))
    scale = length if scaling == "unit" else np.ones(length.size)
    compared = np.full((order.size, length.size), np.nan)
    for place, feature in enumerate(order.tolist()):
        alpha = found["alphas_"][feature]
        if np.isnan(alpha):
            break
        weights = found["lasso_coefs_"][int(np.argmax(found["lasso_alphas_"] == alpha))]
        candidates = length > 0
        candidates[order[:place]] = False
        correlations = np.abs(right - gram @ weights)[candidates] / scale[candidates]
        compared[place, candidates] = correlations
        # A combination of the features in the model correlates as they do, and cannot come in beside them.
        inside = np.flatnonzero(weights).tolist()
        near = candidates & (compared[place] >= alpha * (1.0 - _AS_HIGH))
        near[feature] = False
        for other in np.flatnonzero(near).tolist():
            if not independent(gram, inside, other):
                compared[place, other] = np.nan
    return compared
