"""Sparse RankSVM: the order in which features get weights in RankSVM with a sparse penalty that decreases."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankstudio.engine.arithmetic.optimisers.concave_penalties import (
    ConcavePenalty,
    PenaltyName,
)
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.selectors import SPARSE_RANKSVM
from rankstudio.engine.methods.memory_need import (
    PAIRS,
    DataShape,
    MemoryNeed,
    sums_need,
)
from rankstudio.engine.methods.selection.base import Ordering, PathSelector
from rankstudio.engine.methods.shards.sums import sums_of_products
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import Note, Waiting, WorkProgress, part_of

if TYPE_CHECKING:
    from rankstudio.engine.arithmetic.optimisers.sparse_weights import SparseProblem


class UnconvergedPenaltyWarning(UserWarning):
    """For some penalty, the weights are not yet at the minimum."""


@dataclass(eq=False, repr=False)
class SparseRankSVM(PathSelector):
    """Sparse RankSVM orders features by the penalty at which they get a weight in RankSVM.

    For decreasing λ, it minimises the mean over the pairs of documents
    of one query with y_i > y_j of

        max(0, 1 - w'(x_i - x_j))²   plus   λ sum_k g(|w_k|)

    (Laporte et al. 2014), where g is |w_k| or a concave penalty that
    hardly penalises large weights. A feature's position is determined
    by the largest λ for which it has a weight, even if it has none for
    smaller λ; features that get their weights for the same λ are
    ordered by |w_k|. Features that never get a weight come last in
    column order.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    penalty : {"l1", "mcp", "log", "lp"}, default "l1"
        g: see
        :class:`rankstudio.engine.arithmetic.optimisers.concave_penalties.ConcavePenalty`.
    gamma : float, default 3.0
        γ > 0 of "mcp": weights above γλ are not penalised further.
    epsilon : float, default 0.1
        ε > 0 of "log" and "lp": the smaller, the less are larger weights penalised.
    exponent : float, default 0.5
        p of "lp", greater than 0, less than 1.
    n_penalties : int, default 30
        Number of values of λ, at equal ratios below the least λ for
        which all weights are 0.
    smallest_penalty : float, default 0.001
        Smallest λ, as a share of that λ; greater than 0, less than 1.
    tol : float, default 1e-3
        Maximum violation of the conditions of the minimum, as a share of λ.
    max_iter : int, default 2000
        Maximum number of steps for each λ and round of reweighting.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the selected features.

    Attributes
    ----------
    entry_penalties_ : ndarray of shape (n,)
        Largest λ for which each feature has a weight, NaN if it has none for any λ.
    penalties_ : ndarray of shape (t,)
        The values of λ, decreasing; the last one is that for which k
        features had weights.
    penalised_coefs_ : ndarray of shape (t, n)
        Weights of RankSVM for each λ, for unscaled features.
    n_iter_ : int
        Number of steps for all λ together.

    Notes
    -----
    Features have a standard deviation of 1 within queries, so that
    scales do not matter. Concave penalties are minimised by
    reweighting: from the minimum for the L1 penalty, each round
    minimises the sum of the loss and the tangent of the penalty at the
    last weights. Reweighting never increases the objective, but may end
    at a local minimum. The paper chooses λ (1/C) by validation; here λ
    orders the features, and validation chooses their number. Its ℓp
    penalty is not differentiable at 0, so ε is added; all penalties are
    scaled to the slope λ at 0, and the default γ, ε and p are not those
    of the paper.

    O(mn + m log m) for a step of the accelerated gradients with m
    documents and n features. The attributes of the path are those of
    :class:`rankstudio.engine.methods.selection.base.PathSelector`.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> method = SparseRankSVM(n_features_to_select=3).fit(train.X, train.y, qid=train.qid)
    >>> sorted(method.selection_order_.tolist())
    [0, 1, 3]
    """

    entry = SPARSE_RANKSVM

    entry_penalties_: Floats = field(init=False)
    penalties_: Floats = field(init=False)
    penalised_coefs_: Floats = field(init=False)
    n_iter_: int = field(init=False)

    _: KW_ONLY
    penalty: PenaltyName = "l1"
    gamma: float = 3.0
    epsilon: float = 0.1
    exponent: float = 0.5
    n_penalties: int = 30
    smallest_penalty: float = 1e-3
    tol: float = 1e-3
    max_iter: int = 2000
    regularization: float = 1.0

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape, PAIRS)

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Train RankSVM with a decreasing penalty, and return the first k features to get a weight.

        λ is the factor of the penalty, which decreases in steps.
        Features are in the order of the largest λ for which they have a
        weight. ``data`` are the training documents. The generator
        yields progress events, and then returns the result.
        """
        from rankstudio.engine.arithmetic.optimisers.sparse_weights import (  # noqa: PLC0415 - numba
            ScaledPairs,
            SparseProblem,
        )
        from rankstudio.engine.methods.shards.pair_losses import pairs_of  # noqa: PLC0415 - numba

        penalty = self._penalty()
        tol = self.checked("tol")
        max_iter = self.checked("max_iter")
        # Constant features never get a weight, and cannot be scaled.
        # The diagonal has the squares of the centred features.
        gram, _ = yield from sums_of_products(data)
        deviation = np.sqrt(np.diag(gram) / data.y.size)
        varying = np.flatnonzero(deviation > 0)
        scale = deviation[varying]
        with pairs_of(data) as pairs:
            scaled = ScaledPairs(pairs.narrowed(varying.tolist()), scale)
            problem = SparseProblem(scaled, tol, max_iter)
            penalties, scaled_coefs = yield from self._path(problem, penalty, k)
        # The weights of all features, as they would be with a standard
        # deviation of 1. By these, features are ordered; then weights
        # are scaled back.
        coefs = np.zeros((penalties.size, deviation.size))
        coefs[:, varying] = scaled_coefs
        order, entry_penalties = _by_entry(penalties, coefs)
        coefs[:, varying] /= scale
        attributes = {
            "entry_penalties_": entry_penalties,
            "penalties_": penalties,
            "penalised_coefs_": coefs,
            "n_iter_": problem.n_steps,
        }
        # A feature without a weight for any λ comes after all features with one.
        candidates = entry_penalties.copy()
        candidates[(deviation > 0) & np.isnan(candidates)] = 0.0
        return Ordering(features=order[:k], candidates=candidates, found=attributes)

    def _penalty(self) -> ConcavePenalty:
        """Return the penalty on the weights, of the kind and shape that the parameters name.

        Raises a ParameterError for parameters out of range.
        """
        return ConcavePenalty(
            self.checked("penalty"),
            self.checked("gamma"),
            self.checked("epsilon"),
            self.checked("exponent"),
        )

    def _path(
        self, problem: SparseProblem, penalty: ConcavePenalty, k: int
    ) -> Waiting[tuple[Floats, Floats]]:
        """Minimise the loss for decreasing λ, and return the t values of λ, and the weights for each (t, n).

        λ is the factor of ``penalty``, and ``problem`` has the loss of
        the n features. The path ends when k features have had a weight.
        Both results are empty if no feature can have a weight. Yields
        progress, and a note to the user for each λ for which the
        minimum was not reached.
        """
        number = self.checked("n_penalties")
        smallest = self.checked("smallest_penalty")
        # With this λ and above, all weights are 0.
        slopes = yield from problem.gradient_at_zero()
        largest = float(np.abs(slopes).max(initial=0.0))
        if largest == 0.0:
            return np.empty(0), np.empty((0, problem.n))
        penalties = largest * smallest ** (np.arange(1, number + 1) / number)
        coefs: list[Floats] = []
        start = np.zeros(problem.n)
        has_entered = np.zeros(problem.n, dtype=np.bool_)
        for index, lam in enumerate(penalties.tolist()):
            yield WorkProgress(tr("decreasing the penalty"), index / number)
            # The share of progress stays the same while one λ is solved.
            state = yield from part_of(
                problem.minimise(penalty, lam, start), index / number, index / number
            )
            # How far the weights are from the conditions of a minimum.
            if state.violation > self.tol * lam:
                yield Note(
                    _unconverged(lam, self.max_iter), kind=UnconvergedPenaltyWarning
                )
            coefs.append(state.w)
            # A concave penalty has several local minima. So the minimum
            # for the next λ is searched from that with the convex L1
            # penalty.
            start = state.l1_minimum
            has_entered |= state.w != 0.0
            if has_entered.sum() >= k:
                break
        return penalties[: len(coefs)], np.array(coefs)


def _unconverged(lam: float, max_iter: int) -> str:
    """Return the note for a λ at which the steps ended before the minimum.

    ``lam`` is this λ, and ``max_iter`` the number of steps.
    """
    sentence = tr(
        "With the penalty {penalty:.3g}, the weights are not at the minimum after {n} steps. Allow more "
        "iterations, or a greater tolerance."
    )
    return sentence.format(penalty=lam, n=max_iter)


def _by_entry(penalties: Floats, coefs: Floats) -> tuple[Ints, Floats]:
    """Return all columns in the order in which they get weights, and the largest λ with a weight of each.

    Parameters
    ----------
    penalties : ndarray of shape (t,)
        λ, decreasing.
    coefs : ndarray of shape (t, n)
        Weights for each λ.

    Notes
    -----
    Of features that enter at the same λ, the greatest |weight| comes first.
    """
    n = coefs.shape[1]
    entry_penalties = np.full(n, np.nan)
    entry_weights = np.zeros(n)
    for lam, coef in zip(penalties.tolist(), coefs, strict=True):
        enters = np.isnan(entry_penalties) & (coef != 0.0)
        entry_penalties[enters] = lam
        entry_weights[enters] = np.abs(coef[enters])
    # The last key of lexsort is the primary one; NaN counts as less than every λ.
    penalties_or_least = np.nan_to_num(entry_penalties, nan=-1.0)
    order = np.lexsort((np.arange(n), -entry_weights, -penalties_or_least))
    return order.astype(np.int64), entry_penalties
