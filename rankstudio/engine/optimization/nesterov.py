"""Accelerated gradients for FSMRank's objective, and the subgradient method it was compared with.

Lai et al. 2013: objective (2), Algorithm 1 and section IV.E.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.querywise.linear_pairs import LinearPairs
from rankstudio.engine.querywise.pair_losses import squared_hinge

_GROWTH = 2.0  # γ of Algorithm 1
_MOST_DOUBLINGS = 100


@dataclass(frozen=True, eq=False)
class Descent:
    """Where the optimiser stands.

    Attributes
    ----------
    w : ndarray of shape (2n,)
        Weights of the features and of their negatives, none negative.
    objective : float
    lipschitz : float
        Estimate of the gradient's Lipschitz constant; NaN for the subgradient method, which has none.
    """

    w: Floats
    objective: float
    lipschitz: float


class FSMObjective:
    """ψ(w) = λ1/2 w'Aw + λ2 sum w_i/s_i + 1/p sum over pairs of max(0, 1 - w'(x_i - x_j))², w >= 0 (2n,).

    The features stand in x twice, the second time negated, so that all weights can be non-negative; A holds
    the similarity four times. Weights with s_i = 0 are out: they stay 0.

    Parameters
    ----------
    problem : LinearPairs
        n features, centred inside each query.
    similarity : ndarray of shape (n, n)
    importance : ndarray of shape (2n,)
        s.
    lambda1, lambda2 : float
        From 0 up.
    """

    def __init__(
        self, problem: LinearPairs, similarity: Floats, importance: Floats, lambda1: float, lambda2: float
    ) -> None:
        self.n = problem.X.shape[1]
        self._problem = problem
        self.similarity = similarity
        self._lambda1 = lambda1
        self.allowed = importance > 0.0
        self.costs = lambda2 / np.where(self.allowed, importance, 1.0)
        self._p = max(1, problem.pairs.n_pairs)
        self.bound = (4.0 + 2.0 * lambda1) * self.n

    def scores(self, w: Floats) -> Floats:
        """Return the scores of the documents, shape (m,)."""
        return self._problem.scores(w[: self.n] - w[self.n :])

    def smooth(self, w: Floats, scores: Floats) -> tuple[float, Floats]:
        """Return φ(w), which is ψ without the costs, and the slopes of its loss in the scores."""
        loss = squared_hinge(self._problem.pairs, scores)
        both = w[: self.n] + w[self.n :]
        value = 0.5 * self._lambda1 * float(both @ self.similarity @ both) + loss.loss / self._p
        return value, loss.slopes

    def value(self, w: Floats) -> float:
        """Return ψ(w)."""
        return self.smooth(w, self.scores(w))[0] + float(self.costs @ w)

    def gradient(self, w: Floats, slopes: Floats) -> Floats:
        """Return φ's gradient, shape (2n,)."""
        similar = self._lambda1 * (self.similarity @ (w[: self.n] + w[self.n :]))
        inward = self._problem.weigh(slopes) / self._p
        return np.concatenate((similar + inward, similar - inward))


def accelerated(objective: FSMObjective, tol: float, max_iter: int) -> Iterator[Descent]:
    """Minimise ψ by Nesterov's method with Nemirovski's line search: Algorithm 1.

    Parameters
    ----------
    objective : FSMObjective
    tol : float
        Stop where an iteration changes the objective by at most this share of it.
    max_iter : int
        T.

    Yields
    ------
    Descent
        After each iteration.

    Notes
    -----
    ψ(w_t) - ψ(w*) <= 2 L0 ||w*||² / (t + 1)² (Theorem 2). An iteration takes one sweep over the sorted pairs
    and the features at z, whose scores are combined from known ones, and one at w for each value of L tried.
    """
    w = z = np.zeros(2 * objective.n)
    scores = scores_z = objective.scores(w)
    alpha, lipschitz = 1.0, objective.bound / _GROWTH**10
    before = objective.smooth(w, scores)[0]
    for _ in range(max_iter):
        value_z, slopes = objective.smooth(z, scores_z)
        g = objective.gradient(z, slopes)
        for _ in range(_MOST_DOUBLINGS):
            new = np.where(objective.allowed, np.maximum(z - (g + objective.costs) / lipschitz, 0.0), 0.0)
            new_scores = objective.scores(new)
            value = objective.smooth(new, new_scores)[0]
            step = new - z
            allowance = _rounding(scores_z) + _rounding(new_scores)
            if value <= value_z + float(g @ step) + 0.5 * lipschitz * float(step @ step) + allowance:
                break
            lipschitz *= _GROWTH
        now = value + float(objective.costs @ new)
        yield Descent(new, now, lipschitz)
        if abs(now - before) <= tol * abs(before):
            return
        before = now
        alpha, last = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * alpha * alpha)), alpha
        push = (last - 1.0) / alpha
        z, scores_z = new + push * (new - w), new_scores + push * (new_scores - scores)
        w, scores = new, new_scores


def _rounding(scores: Floats) -> float:
    """Return a bound on the rounding of φ, a mean over pairs of squares as large as the scores' squares.

    Rounding is no reason to shorten the steps: without this the line search never ends near the minimum.
    """
    largest = max(float(scores.max()), -float(scores.min()))
    return 16.0 * float(np.finfo(np.float64).eps) * (1.0 + largest) ** 2


def subgradient(objective: FSMObjective, max_iter: int) -> Iterator[Descent]:
    """Minimise ψ by projected subgradients, w <- max(0, w - g/sqrt(t)): the baseline of section IV.E.

    The paper tells of its baseline only that the objective converges as O(1/sqrt(T)); these are the plainest
    steps with that rate.

    Yields
    ------
    Descent
        After each iteration: the best weights so far, for a step may lead upwards.
    """
    w = np.zeros(2 * objective.n)
    value, slopes = objective.smooth(w, objective.scores(w))
    best = Descent(w, value, float("nan"))
    for t in range(1, max_iter + 1):
        g = np.where(objective.allowed, objective.gradient(w, slopes) + objective.costs, 0.0)
        before, w = w, np.maximum(w - g / np.sqrt(t), 0.0)
        if (w == before).all():  # which only a minimum is
            yield best
            return
        smooth, slopes = objective.smooth(w, objective.scores(w))
        value = smooth + float(objective.costs @ w)
        if value < best.objective:
            best = Descent(w, value, float("nan"))
        yield best
