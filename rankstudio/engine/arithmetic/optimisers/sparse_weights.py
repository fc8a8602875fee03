"""Squared hinges of pairs with a sparse penalty on the weights.

Laporte et al. 2014: an accelerated proximal method for the weighted L1
penalty, and a sequence of such problems for concave penalties.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arithmetic.optimisers.concave_penalties import ConcavePenalty
from rankstudio.engine.arithmetic.optimisers.nesterov import (
    FSMObjective,
    momentum_after,
    projected_step,
)
from rankstudio.engine.arithmetic.optimisers.pair_problem import PairProblem
from rankstudio.engine.arithmetic.pair_losses import PairLoss, SmoothLoss
from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.work import Waiting

# Reweighting ends when a round lowers the objective by at most this share.
_SAME = 1e-7
_MOST_ROUNDS = 50  # of reweighting


class ScaledPairs:
    """Pairs of documents whose features are divided by numbers.

    Parameters
    ----------
    pairs : PairProblem
        Pairs of documents with n features.
    scale : ndarray of shape (n,)
        Divisor of each feature, greater than 0.
    """

    def __init__(self, pairs: PairProblem, scale: Floats) -> None:
        self._pairs = pairs
        self._scale = scale
        self.n_features = scale.size

    def scores(self, w: Floats) -> Floats:
        """Return the scores of weights (n,)."""
        return self._pairs.scores(w / self._scale)

    def weigh(self, slopes: Floats) -> Floats:
        """Return the gradient in the weights (n,) of slopes."""
        return self._pairs.weigh(slopes) / self._scale

    def count(self) -> Waiting[float]:
        """Return the number or total weight of the pairs."""
        return (yield from self._pairs.count())

    def smooth(
        self, loss: PairLoss, scores: Floats, slopes: bool = True
    ) -> Waiting[SmoothLoss]:
        """Return the loss at some scores, with slopes if ``slopes`` is true."""
        return (yield from self._pairs.smooth(loss, scores, slopes))


@dataclass(frozen=True, eq=False)
class SparseWeights:
    """Solution of a pairwise problem with a penalty of the weights.

    Attributes
    ----------
    w : ndarray of shape (n,)
        Weights.
    objective : float
        Loss plus penalty at w.
    violation : float
        Greatest violation of the conditions of the optimum of the last
        weighted L1 problem; see
        :meth:`SparseProblem.minimise_weighted_l1`.
    l1_minimum : ndarray of shape (n,)
        Minimum for the L1 penalty, from which the reweighting started.
    rounds : tuple of float
        Objective before and after each round of reweighting; it never
        increases.
    """

    w: Floats
    objective: float
    violation: float
    l1_minimum: Floats
    rounds: tuple[float, ...] = ()


class SparseProblem:
    """Minimises F(w) = 1/p sum over pairs of max(0, 1 - w'(x_i - x_j))² + sum_k c_k |w_k|.

    The costs c are arguments of its methods.

    Parameters
    ----------
    pairs : ScaledPairs
        p pairs with n features.
    tol : float
        Maximum violation of the conditions of the optimum, as a share
        of the greatest c_k.
    max_iter : int
        Maximum number of steps for given c.

    Attributes
    ----------
    n_steps : int
        Number of steps so far, for all c.
    """

    def __init__(self, pairs: ScaledPairs, tol: float, max_iter: int) -> None:
        self._pairs = pairs
        self._tol = tol
        self._max_iter = max_iter
        self.n = pairs.n_features
        self.n_steps = 0

    def gradient_at_zero(self) -> Waiting[Floats]:
        """Return the gradient of the loss at w = 0, shape (n,)."""
        objective = self._objective(np.zeros(self.n))
        zeros = np.zeros(2 * self.n)
        _, loss = yield from objective.at(zeros, objective.scores(zeros))
        return objective.gradient(zeros, loss.slopes)[: self.n]

    def minimise(
        self, penalty: ConcavePenalty, lam: float, start: Floats
    ) -> Waiting[SparseWeights]:
        """Minimise the loss plus a penalty with λ = ``lam``, from the minimum for the L1 penalty.

        Each round replaces the concave penalty by its tangent at the
        last weights, a weighted L1 penalty that lies above it and
        touches it there. A round therefore never increases the
        objective.

        A generator of progress; its result are the weights with their
        objective.

        Parameters
        ----------
        penalty : ConcavePenalty
            Penalty of the weights.
        lam : float
            λ, its factor.
        start : ndarray of shape (n,)
            Weights from which the search for the L1 minimum starts.
        """
        state = yield from self.minimise_weighted_l1(np.full(self.n, lam), start)
        if penalty.name == "l1":
            return state
        # The objective with the concave penalty, at the minimum for the L1 penalty.
        l1_minimum = state.w
        value = yield from self._penalised(state.w, penalty, lam)
        rounds = [value]
        for _ in range(_MOST_ROUNDS):
            costs = penalty.slopes(state.w, lam)
            state = yield from self.minimise_weighted_l1(costs, state.w)
            value = yield from self._penalised(state.w, penalty, lam)
            rounds.append(value)
            # This round has hardly lowered the objective.
            if rounds[-2] - value <= _SAME * abs(value):
                break
        return SparseWeights(state.w, value, state.violation, l1_minimum, tuple(rounds))

    def minimise_weighted_l1(
        self, costs: Floats, start: Floats
    ) -> Waiting[SparseWeights]:
        """Minimise the loss plus Σ c_k |w_k| for costs c (n,).

        ``costs`` are c, and ``start`` (n,) are the first weights. A
        generator of progress; its result has the weights, their
        objective F and the violation of the conditions.

        The conditions of the optimum are g_k = -c_k sign(w_k) for w_k
        other than 0, and |g_k| <= c_k otherwise, where g is the
        gradient of the loss. F exceeds its minimum by at most the
        violation times ||w - w*||_1, as F is convex. The result is
        never worse than the start.
        """
        objective = self._objective(costs)
        limit = self._tol * float(costs.max(initial=0.0))
        # Positive and negative parts of the weights, so that all
        # variables are from 0 up.
        w = z = _signed_parts(start)
        scores = scores_z = objective.scores(w)
        first_value = yield from objective.value(w)
        violation = yield from _violation(objective, w, scores)
        # L, the estimate of the gradient's Lipschitz constant, starts
        # far below its bound, so that the first steps are long.
        # ``alpha`` grows with the momentum.
        alpha = 1.0
        lipschitz = objective.bound / 2.0**10
        for _ in range(self._max_iter):
            if violation <= limit:
                break
            step = yield from projected_step(objective, z, scores_z, lipschitz)
            self.n_steps += 1
            lipschitz = step.lipschitz
            # The conditions are only computed where the step was short
            # enough to meet them.
            if lipschitz * float(np.abs(step.w - z).max()) <= limit:
                violation = yield from _violation(objective, step.w, step.scores)
            # Momentum against the direction of the step starts again from nothing.
            if float((z - step.w) @ (step.w - w)) > 0.0:
                alpha = 1.0
            alpha, momentum = momentum_after(alpha)
            z = step.w + momentum * (step.w - w)
            scores_z = step.scores + momentum * (step.scores - scores)
            w = step.w
            scores = step.scores
        value = yield from objective.value(w)
        # The last field of the result is the minimum for the L1
        # penalty: the weights themselves.
        if value > first_value:
            return SparseWeights(start, first_value, violation, start)
        weights = w[: self.n] - w[self.n :]
        return SparseWeights(weights, value, violation, weights)

    def _objective(self, costs: Floats) -> FSMObjective:
        """Return F, the loss plus Σ c_k |w_k|, as an objective of FSMRank.

        The objective has no similarities, and the importances 1 / c.
        ``costs`` (n,) are c.
        """
        with np.errstate(divide="ignore"):
            importance = np.tile(1.0 / costs, 2)
        similarity = np.zeros((self.n, self.n))
        return FSMObjective(self._pairs, similarity, importance, 0.0, 1.0)

    def _penalised(
        self, w: Floats, penalty: ConcavePenalty, lam: float
    ) -> Waiting[float]:
        """Return the loss at weights (n,) plus their penalty, with λ = ``lam``."""
        free = self._objective(np.zeros(self.n))
        loss = yield from free.value(_signed_parts(w))
        return loss + penalty.value(w, lam)


def _signed_parts(w: Floats) -> Floats:
    """Return the positive parts of w and of -w, shape (2n,)."""
    return np.concatenate((np.maximum(w, 0.0), np.maximum(-w, 0.0)))


def _violation(objective: FSMObjective, w: Floats, scores: Floats) -> Waiting[float]:
    """Compute the greatest violation of the conditions of the optimum of an objective.

    The weights (2n,) are not negative. ``scores`` are the scores of the
    documents with these weights. A generator of progress; its result is
    the violation.
    """
    _, loss = yield from objective.at(w, scores)
    slopes = objective.gradient(w, loss.slopes) + objective.costs
    violations = np.where(w > 0.0, np.abs(slopes), np.maximum(-slopes, 0.0))
    return float(violations.max(initial=0.0))
