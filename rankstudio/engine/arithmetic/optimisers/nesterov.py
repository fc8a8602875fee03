"""Accelerated gradients for FSMRank's objective, and the subgradient method it was compared with.

Lai et al. 2013: objective (2), Algorithm 1 and section IV.E.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rankstudio.engine.arithmetic.pair_losses import (
    LossName,
    PairLoss,
    SmoothLoss,
    pair_loss,
)
from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.work import Waiting, WorkProgress

_GROWTH = 2.0  # γ of Algorithm 1
# of the Lipschitz constant: rounding never needs a factor of 2^100
_MOST_DOUBLINGS = 100


@dataclass(frozen=True, eq=False)
class Descent:
    """State of the minimisation of ψ, the objective of FSMRank, after an iteration.

    Attributes
    ----------
    w : ndarray of shape (2n,)
        Nonnegative weights of the features and of their negatives.
    objective : float
        ψ(w).
    lipschitz : float
        Estimate of the gradient's Lipschitz constant; NaN for the
        subgradient method, which has none.
    """

    w: Floats
    objective: float
    lipschitz: float


class PairsOfFeatures(Protocol):
    """Pairs with linear scores: the part of a ``PairProblem`` that :class:`FSMObjective` uses."""

    @property
    def n_features(self) -> int:
        """Number of features, n."""

    def scores(self, w: Floats) -> Floats:
        """Return the representation of the scores of weights (n,)."""

    def weigh(self, slopes: Floats) -> Floats:
        """Return the sum X'slopes (n,)."""

    def count(self) -> Waiting[float]:
        """Return the number or total weight of the pairs."""

    def smooth(
        self, loss: PairLoss, scores: Floats, slopes: bool = True
    ) -> Waiting[SmoothLoss]:
        """Return the loss at some scores, with or without slopes."""


class FSMObjective:
    """ψ(w) = λ1/2 w'Aw + λ2 sum w_i/s_i + 1/p sum over pairs of ℓ(w'(x_i - x_j)), w >= 0 (2n,).

    ℓ(d) is max(0, 1 - d)², log(1 + exp(-d)) or (1 - d)².

    The features occur twice in x, the second time negated, so that all
    weights can be nonnegative; A contains the similarity four times.
    Weights with s_i = 0 are excluded: they stay 0.

    Parameters
    ----------
    problem : PairsOfFeatures
        n features, centred within each query.
    similarity : ndarray of shape (n, n)
        A: the similarity of each two features.
    importance : ndarray of shape (2n,)
        s: the importance of each feature and of its negative.
    lambda1, lambda2 : float
        Factors of the terms of similarity and importance, from 0 up.
    loss : {"squared_hinge", "logistic", "least_squares"}, default "squared_hinge"
        Name of the loss ℓ of a pair.
    """

    def __init__(
        self,
        problem: PairsOfFeatures,
        similarity: Floats,
        importance: Floats,
        lambda1: float,
        lambda2: float,
        loss: LossName = "squared_hinge",
    ) -> None:
        """Prepare the objective; the weights of features without importance stay 0.

        ``problem`` has the pairs (i, j). ``similarity`` is A (n, n),
        ``importance`` s (2n,): the importance of each feature and of
        its negative. ``lambda1`` and ``lambda2`` weigh the first two
        terms of ψ, and ``loss`` is the name of ℓ.
        """
        self._problem = problem
        self._loss = pair_loss(loss)
        self.n = self._problem.n_features
        self.similarity = similarity
        self._lambda1 = lambda1
        self.allowed = importance > 0.0
        # 1 only avoids a division by 0: such weights stay 0.
        self.costs = lambda2 / np.where(self.allowed, importance, 1.0)
        # An upper bound of the gradient's Lipschitz constant, for
        # features from 0 to 1: the squared length of the 2n differences
        # of a pair is at most 2n, and ``bend`` is the greatest second
        # derivative of ℓ.
        self.bound = (2.0 * self._loss.bend + 2.0 * lambda1) * self.n

    def scores(self, w: Floats) -> Floats:
        """Return the problem's representation of the scores."""
        return self._problem.scores(w[: self.n] - w[self.n :])

    def at(
        self, w: Floats, scores: Floats, slopes: bool = True
    ) -> Waiting[tuple[float, SmoothLoss]]:
        """Compute φ(w), and the loss at the scores of w, where φ is ψ without the costs.

        The costs are the term that is linear in w. ``slopes`` is
        whether the loss needs its gradient. The number of pairs is
        stored for the gradient of φ. A generator of progress; its
        result is (φ(w), loss).
        """
        loss = yield from self._problem.smooth(self._loss, scores, slopes)
        self._p = max(1, (yield from self._problem.count()))
        # The similarity concerns a feature and its negative alike.
        w_sum = w[: self.n] + w[self.n :]
        value = (
            0.5 * self._lambda1 * float(w_sum @ self.similarity @ w_sum)
            + loss.loss / self._p
        )
        return value, loss

    def value(self, w: Floats) -> Waiting[float]:
        """Return ψ(w)."""
        smooth, _ = yield from self.at(w, self.scores(w), slopes=False)
        return smooth + float(self.costs @ w)

    def gradient(self, w: Floats, slopes: Floats) -> Floats:
        """Return the gradient of φ in w, shape (2n,).

        ``slopes`` has the gradient in the scores of the loss that
        :meth:`at` returned for w.
        """
        similar = self._lambda1 * (self.similarity @ (w[: self.n] + w[self.n :]))
        inward = self._problem.weigh(slopes) / self._p
        return np.concatenate((similar + inward, similar - inward))


def accelerated(
    objective: FSMObjective, tol: float, max_iter: int
) -> Iterator[Descent | WorkProgress]:
    """Minimise ψ by Nesterov's method with Nemirovski's line search: Algorithm 1.

    Parameters
    ----------
    objective : FSMObjective
        The objective ψ.
    tol : float
        Stops when an iteration changes the objective by at most this share.
    max_iter : int
        Maximum number of iterations, T.

    Yields
    ------
    Descent
        After each iteration; progress events in between, if the problem
        yields them.

    Notes
    -----
    ψ(w_t) - ψ(w*) <= 2 L0 ||w*||² / (t + 1)² (Theorem 2). An iteration
    takes one sweep over the sorted pairs and the features at z, whose
    scores are combined from known ones, and one at w for each value of
    L tried.
    """
    # Each step goes from z, which is ahead of the last weights w.
    w = z = np.zeros(2 * objective.n)
    scores = scores_z = objective.scores(w)
    alpha = 1.0
    # L starts far below its bound, so that the first steps are long;
    # the line search increases it.
    lipschitz = objective.bound / _GROWTH**10
    psi, _ = yield from objective.at(w, scores, slopes=False)
    for _ in range(max_iter):
        step = yield from projected_step(objective, z, scores_z, lipschitz)
        lipschitz = step.lipschitz
        psi_new = step.value + float(objective.costs @ step.w)
        yield Descent(step.w, psi_new, lipschitz)
        if abs(psi_new - psi) <= tol * abs(psi):
            return
        # The next z is beyond the new point, in the direction of the last step.
        psi = psi_new
        alpha, momentum = momentum_after(alpha)
        z = step.w + momentum * (step.w - w)
        scores_z = step.scores + momentum * (step.scores - scores)
        w = step.w
        scores = step.scores


@dataclass(frozen=True, eq=False)
class ProjectedStep:
    """A projected gradient step of Nesterov's method, after which the weights are nonnegative.

    Attributes
    ----------
    w : ndarray of shape (2n,)
        Nonnegative weights after the step.
    scores : ndarray
        Scores of the documents with these weights, in the problem's
        representation.
    value : float
        φ(w), the objective without its linear term.
    lipschitz : float
        Estimate of the gradient's Lipschitz constant with which the
        step was taken.
    """

    w: Floats
    scores: Floats
    value: float
    lipschitz: float


def projected_step(
    objective: FSMObjective, z: Floats, scores_z: Floats, lipschitz: float
) -> Waiting[ProjectedStep]:
    """Take a projected gradient step for ``objective`` from z (2n,), whose scores are ``scores_z``.

    Projected weights are not negative. The step is as long as the
    estimate ``lipschitz`` of the gradient's Lipschitz constant allows;
    a line search increases this if needed. A generator of progress; its
    result has the new weights, their scores and value, and the
    constant.
    """
    # The gradient at z, from which the step goes.
    value_z, at_z = yield from objective.at(z, scores_z)
    g = objective.gradient(z, at_z.slopes)
    # The line search doubles L until the step's value is within the
    # quadratic bound, up to rounding.
    for _ in range(_MOST_DOUBLINGS):
        # A projected gradient step: weights are not negative, and those
        # that are not allowed are 0.
        w = np.where(
            objective.allowed,
            np.maximum(z - (g + objective.costs) / lipschitz, 0.0),
            0.0,
        )
        scores = objective.scores(w)
        value, at_w = yield from objective.at(w, scores, slopes=False)
        step = w - z
        # ``largest`` is the largest absolute score.
        allowance = _rounding(at_z.largest) + _rounding(at_w.largest)
        bound = value_z + float(g @ step) + 0.5 * lipschitz * float(step @ step)
        if value <= bound + allowance:
            break
        lipschitz *= _GROWTH
    return ProjectedStep(w, scores, value, lipschitz)


def momentum_after(last_alpha: float) -> tuple[float, float]:
    """Return (next α, momentum) of Nesterov's sequence after α = ``last_alpha``.

    The method evaluates the gradient at the newest point plus the last
    step times the momentum.
    """
    alpha = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * last_alpha * last_alpha))
    momentum = (last_alpha - 1.0) / alpha
    return alpha, momentum


def _rounding(largest: float) -> float:
    """Return a bound on the rounding error of φ, the smooth part of FSMRank's objective.

    φ is a mean over pairs of losses up to the squares of scores.
    Rounding is no reason to shorten the steps: without this bound the
    line search would not end near the minimum. ``largest`` is the
    largest absolute score.
    """
    return 16.0 * float(np.finfo(np.float64).eps) * (1.0 + largest) ** 2


def subgradient(
    objective: FSMObjective, max_iter: int
) -> Iterator[Descent | WorkProgress]:
    """Minimise ψ by projected subgradients: w <- max(0, w - g/sqrt(t)) in step t.

    ψ is ``objective``, and T = ``max_iter`` steps are made. This is the
    baseline in section IV.E of the paper by Lai et al. (2013).

    The paper states only that the objective of its baseline converges
    as O(1/sqrt(T)); these are the simplest steps with that rate.

    Yields
    ------
    Descent
        After each iteration: the best weights so far, because a step
        may increase the objective.
    """
    w = np.zeros(2 * objective.n)
    # At 0, the value of ψ is that of φ, because the costs are linear in w.
    value, loss = yield from objective.at(w, objective.scores(w))
    best = Descent(w, value, lipschitz=float("nan"))  # no estimate is needed
    for t in range(1, max_iter + 1):
        # The excluded weights have a subgradient of 0, so they stay 0.
        g = np.where(
            objective.allowed, objective.gradient(w, loss.slopes) + objective.costs, 0.0
        )
        last_w = w
        w = np.maximum(w - g / np.sqrt(t), 0.0)
        if (w == last_w).all():  # only at a minimum
            yield best
            return
        # The next weights, and the best ones so far.
        smooth, loss = yield from objective.at(w, objective.scores(w))
        value = smooth + float(objective.costs @ w)
        if value < best.objective:
            best = Descent(w, value, float("nan"))
        yield best
