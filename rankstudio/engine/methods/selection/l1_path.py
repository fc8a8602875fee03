"""The L1 path: the order in which features enter the lasso as its penalty decreases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.capabilities import Compared, ComparedByQuery
from rankstudio.engine.methods.catalog.selectors import L1_PATH
from rankstudio.engine.methods.selection.base import Ordering, PathSelector
from rankstudio.engine.methods.shards.sums import sums_of_products
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import Waiting, WorkProgress

# Number of other features, the next to enter, for which the parts of
# queries are computed.
_RIVALS = 8
_SAME = 1e-6  # share of α up to which two values of α are equal, because of rounding
# Share of α up to which two correlations are equal, because of rounding.
_AS_HIGH = 1e-9


@dataclass(eq=False, repr=False)
class L1Path(PathSelector):
    """The L1 path orders features by their entry into the lasso path.

    The lasso minimises ||y^ - X^ w||² / 2 + α ||w||_1, pairwise least
    squares with a penalty on the absolute weights (^ is centring within
    each query). Its exact path over all α comes from least angle
    regression (Efron et al.
    2004) on the Gram matrix. A feature's position is determined by the largest
    α at which it entered the model, even if it left again. Features
    that never enter, such as linear combinations of others in the
    model, come last in column order.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    scaling : {"unit", "none"}, default "unit"
        "unit": X^'s columns have length 1 for the lasso, so that scales
        do not matter; "none": they are unscaled, and features with
        small values come late.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the selected features.

    Attributes
    ----------
    alphas_ : ndarray of shape (n,)
        α at which each feature first enters, NaN if it never does.
    lasso_alphas_ : ndarray of shape (t,)
        Knots of the path, decreasing; the last knot is the one after
        the k-th feature entered.
    lasso_coefs_ : ndarray of shape (t, n)
        Weights of the lasso at the knots, for unscaled features.

    Notes
    -----
    O(mn² + t(n² + k³)) for m documents, n features and t knots. The
    attributes of the path are those of
    :class:`rankstudio.engine.methods.selection.base.PathSelector`.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> L1Path(n_features_to_select=3).fit(train.X, train.y, qid=train.qid).selection_order_
    array([0, 1, 3])
    """

    entry = L1_PATH

    alphas_: Floats = field(init=False)
    lasso_alphas_: Floats = field(init=False)
    lasso_coefs_: Floats = field(init=False)

    _: KW_ONLY
    scaling: Literal["unit", "none"] = "unit"
    regularization: float = 1.0

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Follow the lasso as its penalty α decreases, and return the first k features to get a weight.

        A feature enters when it gets a weight; the order is by the α at
        which it first enters. ``data`` are the training documents. The
        generator yields progress events, and then returns the result.
        """
        scaling = self.checked("scaling")
        yield WorkProgress("following the lasso", 0.0)
        # Products of centred features with each other (n, n) and with
        # the labels (n,).
        gram, products_with_y = yield from sums_of_products(data)
        # Constant features never enter, and cannot be scaled.
        column_norms = np.sqrt(np.diag(gram))
        varying = np.flatnonzero(column_norms > 0)
        scale = column_norms[varying] if scaling == "unit" else np.ones(varying.size)
        scaled_gram = gram[np.ix_(varying, varying)] / np.outer(scale, scale)
        # The α of the t knots (t,), at which a feature enters or
        # leaves; the weights there; and the α at which each feature
        # first enters.
        alphas, coefs, varying_entry_alphas = lasso_path(
            scaled_gram, products_with_y[varying] / scale, k
        )
        # Weights of the original, unscaled features, at each knot.
        weights = np.zeros((alphas.size, column_norms.size))
        weights[:, varying] = coefs / scale
        entry_alphas = np.full(column_norms.size, np.nan)
        entry_alphas[varying] = varying_entry_alphas
        # Features that never enter come last, in column order.
        order = np.argsort(-np.nan_to_num(entry_alphas, nan=-1.0), kind="stable")[
            :k
        ].astype(np.int64)
        attributes = {
            "alphas_": entry_alphas,
            "lasso_alphas_": alphas,
            "lasso_coefs_": weights,
        }
        return Ordering(
            features=order,
            candidates=_residual_correlations(
                gram, products_with_y, order, scaling, attributes
            ),
            found=attributes,
        )

    def compared_by_query(self, data: TrainingData, n_features: int) -> Compared:
        """Yield for each step the α at which each candidate would enter the lasso, and the part of each query in it.

        If the features A are in the lasso with the signs s, feature j
        enters at α = N / (σ - M) for σ = 1 or -1, with N = t_j - G_jA
        G_AA⁻¹ t_A and M = G_jA G_AA⁻¹ s_A. α without a query follows
        from the sums G and t of the other queries. ``data`` are the
        training documents.
        """
        from rankstudio.engine.methods.selection import query_parts  # noqa: PLC0415 - numba

        # The compared sets, the path with its knots, and the sums G and
        # t over all queries.
        steps = yield from query_parts.sized_steps(self, data, n_features)
        path = yield from self.order_features(data, n_features)
        gram, products_with_y = yield from sums_of_products(data)
        entry_alphas = path.found["alphas_"]
        knots = path.found["lasso_alphas_"]
        for index, step in enumerate(steps):
            winner = step.selected[index]
            scores = np.full(gram.shape[0], np.nan)
            # The lasso at the knot where the winner enters; the
            # features with weights are inside.
            knot = int(np.argmax(knots == entry_alphas[winner]))
            weights = path.found["lasso_coefs_"][knot]
            inside = np.flatnonzero(weights)
            candidates = np.setdiff1d(
                np.flatnonzero(~np.isnan(step.candidates)), inside
            )
            # Without an entry of the winner, there is nothing to compare.
            if np.isnan(entry_alphas[winner]) or winner not in candidates:
                yield ComparedByQuery(
                    (winner,),
                    scores,
                    *query_parts.nothing_compared(data, gram.shape[0]),
                )
                continue
            # One matrix [G, t; t', 0] of all queries; the product of
            # the labels is not needed.
            sums = np.block([[gram, products_with_y[:, None]], [products_with_y, 0.0]])[
                None
            ]
            lasso = _Entry(np.sign(weights[inside]), scaled=self.scaling == "unit")
            max_alpha = knots[knot - 1] if knot else np.inf
            # The α at which each candidate enters; the parts only count
            # if they explain the winner's.
            alphas, signs = lasso.best(sums, inside, candidates, max_alpha)
            winner_alpha = alphas[candidates == winner][0]
            agrees_with_path = (
                abs(winner_alpha - entry_alphas[winner]) <= _SAME * entry_alphas[winner]
            )
            if not agrees_with_path:
                yield ComparedByQuery(
                    (winner,),
                    scores,
                    *query_parts.nothing_compared(data, gram.shape[0]),
                )
                continue
            # The winner and its rivals: the candidates that enter at the greatest α.
            best = np.argsort(-np.nan_to_num(alphas, nan=-1.0), kind="stable")[
                : _RIVALS + 1
            ]
            best = best[~np.isnan(alphas[best])]
            # The sums without each query, of these columns and the labels.
            columns = [*inside.tolist(), *candidates[best].tolist()]
            query_grams = yield from query_parts.grams_by_query(data, columns)
            submatrix = np.ix_([*columns, gram.shape[0]], [*columns, gram.shape[0]])
            # Last, the α of the same candidates with the same signs and
            # features inside, but without each query.
            positions = np.arange(len(columns))
            alphas_without = lasso.alphas(
                sums[0][submatrix] - query_grams,
                inside=positions[: inside.size],
                candidates=positions[inside.size :],
                sigma=signs[best],
            )
            scores[candidates[best]] = alphas[best]
            parts = np.zeros((gram.shape[0], len(query_grams)))
            parts[candidates[best]] = alphas[best, None] - alphas_without.T
            yield ComparedByQuery(
                winners=(winner,),
                scores=scores,
                parts=parts,
                counted=np.ones(len(query_grams), dtype=np.bool_),
            )


@dataclass(frozen=True, eq=False)
class _Entry:
    """The α at which candidates enter the lasso if features with the signs ``signs`` (a,) are in it.

    ``scaled`` says whether the lasso sees all features with length 1.
    """

    signs: Floats
    scaled: bool

    def best(
        self, gram: Floats, inside: Ints, candidates: Ints, max_alpha: float
    ) -> tuple[Floats, Floats]:
        """Return the greatest α up to ``max_alpha`` at which each candidate enters, and its sign σ there, 1 or -1.

        α is the penalty of the lasso, which decreases; a feature enters
        when it gets a weight. ``gram`` (1, n + 1, n + 1) are the
        products of features and labels, ``inside`` (a,) the columns of
        the features in the lasso, and ``candidates`` (c,) those of the
        others. Results have shape (c,). α is NaN for a candidate that
        does not enter.
        """
        valid_alphas = []
        for sigma in (1.0, -1.0):
            (alphas,) = self.alphas(
                gram, inside, candidates, np.full(candidates.size, sigma)
            )
            is_valid = (alphas > 0) & (alphas <= max_alpha * (1 + _SAME))
            valid_alphas.append(np.where(is_valid, alphas, np.nan))
        positive, negative = valid_alphas
        # The negated comparison also holds if the positive sign has no α, NaN.
        is_negative = ~np.isnan(negative) & ~(positive >= negative)
        return np.where(is_negative, negative, positive), np.where(
            is_negative, -1.0, 1.0
        )

    def alphas(
        self, gram: Floats, inside: Ints, candidates: Ints, sigma: Floats
    ) -> Floats:
        """Return the α of each candidate with sign ``sigma`` (c,), from B sums [X y]'[X y], shape (B, c).

        α is the penalty of the lasso at which a candidate gets a
        weight. The sums ``gram`` have shape (B, n + 1, n + 1), labels
        last: for example, each without another query. ``inside`` (a,)
        and ``candidates`` (c,) are columns. A candidate j enters when
        its correlation with the residual, which is linear in α, equals
        σα: at α = (x_j'y - N) / (σ - M). N and M are its products with
        two models of the features inside, fitted to the labels and to
        their own signs.
        """
        # The sums of the scaled features; labels are not scaled.
        squares = np.diagonal(gram, axis1=1, axis2=2)
        length = (
            np.sqrt(np.maximum(squares, 0.0)) if self.scaled else np.ones_like(squares)
        )
        length[:, -1] = 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            gram = gram / length[:, :, None] / length[:, None, :]
            # The products of candidates with the features in the lasso.
            # `ends` are the right-hand sides of the two systems, which
            # have the same matrix.
            cross = gram[:, candidates][:, :, inside]
            matrix = gram[:, inside][:, :, inside]
            right = gram[:, inside, -1]
            ends = np.stack([right, np.broadcast_to(self.signs, right.shape)], axis=-1)
            # A feature that never enters has no finite α.
            N, M = np.moveaxis(cross @ np.linalg.solve(matrix, ends), -1, 0)
            alphas: Floats = (gram[:, candidates, -1] - N) / (sigma - M)
        return alphas


def _residual_correlations(
    gram: Floats,
    right: Floats,
    order: Ints,
    scaling: str,
    attributes: Mapping[str, Floats],
) -> Floats:
    """Return the residual correlations of the candidates when each feature of the order enters, shape (k, n).

    A residual correlation is |x_j' (y - X w)| with the weights w at
    this α, the penalty of the lasso. The correlations are divided by
    the length of x_j if ``scaling`` is "unit": the lasso then scales
    features. NaN for features that have entered before, for linear
    combinations of features with a weight, and for features of the
    order that never enter. ``gram`` (n, n) and ``right`` (n,) are X'X
    and X'y. ``attributes`` have the α of each feature's entry (n,),
    those of the t knots of the lasso path (t,), and the weights at the
    knots (t, n).
    """
    column_norms = np.sqrt(np.diag(gram))
    scale = column_norms if scaling == "unit" else np.ones(column_norms.size)
    candidate_correlations = np.full((order.size, column_norms.size), np.nan)
    for index, feature in enumerate(order.tolist()):
        # The model when the feature enters; features that never enter are last.
        alpha = attributes["alphas_"][feature]
        if np.isnan(alpha):
            break
        weights = attributes["lasso_coefs_"][
            int(np.argmax(attributes["lasso_alphas_"] == alpha))
        ]
        # All features that vary and are later in the order.
        candidates = column_norms > 0
        candidates[order[:index]] = False
        correlations = np.abs(right - gram @ weights)[candidates] / scale[candidates]
        candidate_correlations[index, candidates] = correlations
        # A combination of the features in the model may have the same
        # correlation, but cannot enter.
        inside = np.flatnonzero(weights).tolist()
        # The feature that enters has the correlation α.
        is_tied = candidates & (
            candidate_correlations[index] >= alpha * (1.0 - _AS_HIGH)
        )
        is_tied[feature] = False
        for other in np.flatnonzero(is_tied).tolist():
            if not independent(gram, inside, other):
                candidate_correlations[index, other] = np.nan
    return candidate_correlations


# Unexplained share of a feature's squared length up to which it is linearly dependent.
_DEPENDENT = 1e-10
# Share of the greatest α at which the path ends, as the rest is rounding.
_ROUNDING = 1e-13
_PARALLEL = 1e-12  # two correlations whose rates differ by less never meet
# Maximum number of knots per feature; usually there are at most two.
_MOST_KNOTS = 50


def lasso_path(
    gram: Floats, right: Floats, max_features: int
) -> tuple[Floats, Floats, Floats]:
    """Follow the minimum of w'Gw/2 - r'w + α ||w||_1 from the largest relevant α downwards.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        G, positive semidefinite.
    right : ndarray of shape (n,)
        r.
    max_features : int
        Number of distinct features after which the path ends.

    Returns
    -------
    alphas : ndarray of shape (t,)
        Knots, decreasing.
    weights : ndarray of shape (t, n)
        Minimum at each knot.
    entry_alphas : ndarray of shape (n,)
        α at which each feature first entered, NaN if it never did.

    Notes
    -----
    The homotopy of Osborne et al. (2000), least angle regression with
    the lasso modification (Efron et al. 2004, section 3.1). A linear
    combination of the features in the model does not enter, because the
    minimum is reached without it. O(n² + |A|³) per knot with |A|
    features in the model.

    scikit-learn's ``lars_path_gram`` gives the same path for
    independent features without ties. It deviates from the minimum for
    equal correlations (G = I, r = (1, 1)) and for dependent features:
    by a quarter of the largest α on MSLR-WEB10K, whose 136 features
    include sums of others, and by 4 % of it on MQ2008 (scikit-learn
    1.9).
    """
    n = right.size
    max_knots = _MOST_KNOTS * n
    w = np.zeros(n)
    entry_alphas = np.full(n, np.nan)
    # The greatest relevant α: with it, all weights are 0.
    alpha = float(np.abs(right).max(initial=0.0))
    alphas = [alpha]
    weights = [w]
    end = _ROUNDING * alpha
    active: list[int] = []
    # Signs of the active features' weights; ±2 for a feature that has just left.
    signs = np.zeros(n)
    # Combinations of active features, until one of these leaves.
    is_dependent = np.zeros(n, dtype=bool)
    joining = int(np.argmax(np.abs(right))) if alpha > 0 else -1  # -1 for none
    while (
        alpha > end
        and np.isfinite(entry_alphas).sum() < max_features
        and len(alphas) < max_knots
    ):
        correlation = right - gram @ w
        if joining >= 0:
            if independent(gram, active, joining):
                active.append(joining)
                signs[joining] = np.sign(correlation[joining])
                if np.isnan(entry_alphas[joining]):
                    entry_alphas[joining] = alpha
            else:
                is_dependent[joining] = True
        # Along the path, the weights of the active features and all
        # correlations change linearly with α.
        direction = np.asarray(
            np.linalg.solve(gram[np.ix_(active, active)], signs[active]),
            dtype=np.float64,
        )
        rates = gram[:, active] @ direction
        cannot_join = is_dependent.copy()
        cannot_join[active] = True
        to_join = np.where(
            cannot_join, np.inf, _lengths_to_join(correlation, rates, alpha, signs)
        )
        to_leave = _lengths_to_leave(w[active], direction, signs[active])
        joining = int(np.argmin(to_join))
        leaving_position = int(np.argmin(to_leave))
        # The step ends where a feature joins or leaves, or at α = 0.
        length = min(alpha, to_join[joining], to_leave[leaving_position])
        w = w.copy()
        w[active] += length * direction
        signs[np.abs(signs) > 1.0] = 0.0
        # The feature reaches weight 0 first: it leaves, so that
        # combinations with it are independent again.
        if to_leave[leaving_position] == length < alpha:
            leaving = active.pop(leaving_position)
            joining = -1
            w[leaving] = 0.0
            signs[leaving] = 2.0 * signs[leaving]
            is_dependent[:] = False
        alpha -= length
        alphas.append(alpha)
        weights.append(w)
    return np.array(alphas), np.array(weights), entry_alphas


def independent(gram: Floats, active: list[int], feature: int) -> bool:
    """Return whether a feature is linearly independent of the ``active`` ones, up to rounding.

    The active features, columns with a weight, then do not explain all
    of its square. ``gram`` (n, n) are the products of features.
    """
    cross = gram[active, feature]
    unexplained = float(gram[feature, feature])
    if active:
        unexplained -= float(
            cross @ np.linalg.solve(gram[np.ix_(active, active)], cross)
        )
    return unexplained > _DEPENDENT * float(gram[feature, feature])


def _lengths_to_join(
    correlation: Floats, rates: Floats, alpha: float, signs: Floats
) -> Floats:
    """Return the step length after which each feature's |correlation| reaches α, which decreases meanwhile.

    All arrays have shape (n,). In a step of length s, α decreases by s
    and a correlation by ``rates`` times s. The result is infinite for
    features that do not reach α. ``signs`` are 1 or -1 in the model, 0
    outside of it, and ±2 for a feature that has just left: its
    correlation still equals α in size, so it may only join with the
    opposite sign.
    """
    lengths = np.full(correlation.size, np.inf)
    # A correlation meets α with the sign 1, or -α with the sign -1.
    # What it lacks decreases by the closing rate times the length.
    for sign in (1.0, -1.0):
        closing_rate = 1.0 - sign * rates
        meets = (closing_rate > _PARALLEL) & (signs != 2.0 * sign)
        distance = (
            np.maximum(alpha - sign * correlation[meets], 0.0) / closing_rate[meets]
        )
        lengths[meets] = np.minimum(lengths[meets], distance)
    return lengths


def _lengths_to_leave(w: Floats, direction: Floats, signs: Floats) -> Floats:
    """Return the step length after which the weight of each active feature is 0, (a,).

    In a step of length s, the weights ``w`` (a,) change by s times
    ``direction`` (a,). The length is infinite for a weight that grows.
    ``signs`` (a,) are those of the weights.
    """
    shrinks = direction * signs < 0
    lengths = np.full(w.size, np.inf)
    lengths[shrinks] = np.maximum(-w[shrinks] / direction[shrinks], 0.0)
    return lengths
